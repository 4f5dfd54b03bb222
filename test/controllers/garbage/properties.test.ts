import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { OwnerReference } from '../../../src/api/object-meta.ts';
import { cases } from '../../kit/cases.ts';
import { clusterRole, configMap, MAPS, MemoryCluster, ROLES, turn } from './memory-cluster.ts';

/** Objects `o0`, `o1` … by number; what they refer to, and where they are, are numbers too. */
interface Plan {
  readonly objects: readonly PlannedObject[];
  readonly phases: readonly Phase[];
  /** As a second server, or a controller manager. */
  readonly collectors: number;
}

interface PlannedObject {
  /** '' for a cluster role; otherwise a config map. */
  readonly namespace: string;
  readonly owners: readonly PlannedOwner[];
  /** The phase in which it is created, while others are deleted; -1: it was there before. */
  readonly born: number;
}

interface PlannedOwner {
  readonly at: number;
  readonly blocks: boolean;
  /** What is wrong with the reference: nothing, most of the time. */
  readonly flaw: 'none' | 'uid' | 'name' | 'unserved';
}

interface Removal {
  readonly at: number;
  readonly policy: 'Background' | 'Foreground' | 'Orphan';
}

/** Deletions at the same time, and then time for everything that follows. */
type Phase = { readonly removals: readonly Removal[]; readonly isReset: boolean };

const COUNT = 9;
const PHASES = 3;
/** Of those that are created later. */
const LATE = 3;
const nameOf = (at: number): string => `o${at}`;

const owner: fc.Arbitrary<PlannedOwner> = fc.record({
  at: fc.nat(COUNT - 1),
  blocks: fc.boolean(),
  flaw: fc.constantFrom('none', 'none', 'none', 'none', 'none', 'uid', 'name', 'unserved'),
});

const object: fc.Arbitrary<PlannedObject> = fc.record({
  namespace: fc.constantFrom('a', 'a', 'a', 'b', ''),
  owners: fc.uniqueArray(owner, { maxLength: 3, selector: ({ at }) => at }),
  born: fc.constant(-1),
});

const late: fc.Arbitrary<PlannedObject> = fc
  .tuple(object, fc.nat(PHASES - 1))
  .map(([planned, born]) => ({ ...planned, born }));

const removal = (...policies: Removal['policy'][]): fc.Arbitrary<Removal> =>
  fc.record({ at: fc.nat(COUNT - 1), policy: fc.constantFrom(...policies) });

const phase: fc.Arbitrary<Phase> = fc.record({
  // What is orphaned depends on the order, so that it has a phase for itself.
  removals: fc.oneof(
    fc.array(removal('Background', 'Foreground'), { minLength: 1, maxLength: 4 }),
    fc.array(removal('Orphan'), { minLength: 1, maxLength: 1 }),
  ),
  isReset: fc.boolean(),
});

const plan: fc.Arbitrary<Plan> = fc.record({
  objects: fc
    .tuple(
      fc.array(object, { minLength: COUNT, maxLength: COUNT }),
      fc.array(late, { minLength: LATE, maxLength: LATE }),
    )
    .map((lists) => lists.flat()),
  phases: fc.array(phase, { minLength: 1, maxLength: PHASES }),
  collectors: fc.constantFrom(1, 1, 2),
});

function toReference({ objects }: Plan, { at, blocks, flaw }: PlannedOwner): OwnerReference {
  const isMap = objects[at]?.namespace !== '';
  const name = nameOf(at);
  const type = isMap
    ? { apiVersion: 'v1', kind: 'ConfigMap' }
    : { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' };
  return {
    ...(flaw === 'unserved' ? { apiVersion: 'example.com/v1', kind: 'Unknown' } : type),
    name: flaw === 'name' ? `not-${name}` : name,
    uid: flaw === 'uid' ? `uid-never-${name}` : `uid-${name}`,
    blockOwnerDeletion: blocks,
  };
}

/** The rules of Kubernetes' collector, on an object graph that stands still. */
class Model {
  readonly #plan: Plan;
  /** The owners that each object refers to. */
  readonly #present = new Map<number, readonly PlannedOwner[]>();

  constructor(from: Plan) {
    this.#plan = from;
    this.#create(-1);
    this.#settle();
  }

  run({ removals }: Phase, number: number): void {
    this.#create(number);
    for (const { at, policy } of removals) {
      if (!this.#present.has(at)) continue;
      if (policy === 'Orphan') this.#orphan(at);
      this.#present.delete(at);
    }
    this.#settle();
  }

  #create(phase: number): void {
    for (const [at, { owners, born }] of this.#plan.objects.entries())
      if (born === phase) this.#present.set(at, owners);
  }

  contents(): Record<string, string[]> {
    return Object.fromEntries(
      [...this.#present].map(([at, owners]) => [
        nameOf(at),
        owners.map((one) => toReference(this.#plan, one).name ?? '').sort(),
      ]),
    );
  }

  #orphan(owner: number): void {
    for (const [at, owners] of this.#present)
      this.#present.set(
        at,
        owners.filter((one) => one.at !== owner || one.flaw === 'uid'),
      );
  }

  #settle(): void {
    for (let isNew = true; isNew; ) isNew = this.#collect();
    for (const [at, owners] of this.#present) {
      const standings = owners.map((one) => this.#standingOf(at, one));
      if (standings.includes('undecided') || !standings.includes('solid')) continue;
      this.#present.set(
        at,
        owners.filter((_, index) => standings[index] === 'solid'),
      );
    }
  }

  #collect(): boolean {
    let isNew = false;
    for (const [at, owners] of this.#present) {
      if (owners.length === 0 || owners.some((one) => this.#standingOf(at, one) !== 'dangling')) continue;
      this.#present.delete(at);
      isNew = true;
    }
    return isNew;
  }

  #standingOf(at: number, { at: owner, flaw }: PlannedOwner): 'solid' | 'dangling' | 'undecided' {
    const own = this.#plan.objects[at]?.namespace ?? '';
    const namespace = this.#plan.objects[owner]?.namespace ?? '';
    if (flaw === 'unserved') return 'undecided';
    if (own === '' && namespace !== '') return 'undecided';
    if (flaw !== 'none' || !this.#present.has(owner)) return 'dangling';
    return namespace === '' || namespace === own ? 'solid' : 'dangling';
  }
}

/**
 * Plans with one outcome. An object with an owner that cannot be looked up is never deleted, and would block its owners for ever; a
 * dependent that arrives while its owner's dependents are orphaned may be orphaned too, or come too late.
 */
function withOneOutcome(from: Plan): Plan {
  const isMap = (at: number): boolean => from.objects[at]?.namespace !== '';
  const objects = from.objects.map(({ namespace, owners, born }) => {
    const orphans = from.phases[born]?.removals.some(({ policy }) => policy === 'Orphan');
    const isUndecided = owners.some(({ at, flaw }) => flaw === 'unserved' || (namespace === '' && isMap(at)));
    const kept = orphans === true ? [] : owners;
    return { namespace, owners: kept.map((one) => ({ ...one, blocks: one.blocks && !isUndecided })), born };
  });
  return { ...from, objects };
}

function create(cluster: MemoryCluster, from: Plan, phase: number): void {
  for (const [at, { namespace, owners, born }] of from.objects.entries()) {
    if (born !== phase) continue;
    const references = owners.map((one) => toReference(from, one));
    cluster.put(
      namespace === '' ? clusterRole(nameOf(at), references) : configMap(nameOf(at), namespace, references),
    );
  }
}

async function carryOut(from: Plan): Promise<void> {
  await using cluster = new MemoryCluster({ collectors: from.collectors });
  create(cluster, from, -1);
  await cluster.start();
  await cluster.settled();
  const model = new Model(from);
  expect(cluster.contents()).toEqual(model.contents());
  for (const [number, one] of from.phases.entries()) {
    const removals = one.removals.map(({ at, policy }) => {
      const namespace = from.objects[at]?.namespace ?? '';
      const resource = namespace === '' ? ROLES : MAPS;
      return cluster.client.remove(resource, { namespace, name: nameOf(at) }, { propagationPolicy: policy });
    });
    await turn();
    create(cluster, from, number);
    if (one.isReset) await cluster.log.reset();
    await Promise.all(removals);
    await cluster.settled();
    model.run(one, number);
    expect(cluster.contents()).toEqual(model.contents());
  }
  expect(cluster.errors).toEqual([]);
}

test('in every graph of owners and for every deletion, each object without owners goes, and no other object does', async () => {
  await fc.assert(fc.asyncProperty(plan.map(withOneOutcome), carryOut), { numRuns: cases(60), seed: 31 });
});
