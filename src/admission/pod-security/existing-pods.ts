import type { Pod } from '../../api/types/core/v1.ts';
import { parseStored } from '../../codec/stored-object.ts';
import { ObjectReader } from '../../storage/object-reader.ts';
import type { Entry, Store } from '../../storage/store.ts';
import { endTurn } from '../../util/end-turn.ts';
import { PODS } from '../resources.ts';
import { toCheckedPod } from './check.ts';
import { type Evaluator, reasonsOf } from './evaluator.ts';
import { type LevelVersion, toText } from './policy.ts';

/** How much of a namespace is looked at before its new policy is answered. */
export interface Bounds {
  readonly mostPods: number;
  readonly mostMs: number;
}

/** Kubernetes' own. */
export const BOUNDS: Bounds = { mostPods: 3000, mostMs: 1000 };

/** Reading pods keeps others waiting no longer than this. */
const TURN_MS = 5;

export interface ExistingPods {
  readonly store: Store;
  readonly evaluator: Evaluator;
  readonly exemptRuntimeClasses: ReadonlySet<string>;
  readonly relaxesOwnUsers: boolean;
  readonly bounds: Bounds;
  /** Milliseconds that only grow. */
  readonly clock: () => number;
}

/** What to warn of when the pods of a namespace come under a stricter policy, which does not touch those that are there. */
export async function warningsOf(
  context: ExistingPods,
  namespace: string,
  enforce: LevelVersion,
): Promise<string[]> {
  const deadline = context.clock() + context.bounds.mostMs;
  const entries = await listPods(context.store, namespace);
  if (entries === undefined || context.clock() > deadline)
    return ['failed to list pods while checking new PodSecurity enforce level'];
  const { pods, total } = await prioritize(context, entries, deadline);
  const { byReason, checked } = await check(context, pods, enforce, deadline);
  return [
    ...(checked < total
      ? [`new PodSecurity enforce level only checked against the first ${checked} of ${total} existing pods`]
      : []),
    ...(byReason.size > 0
      ? [
          `existing pods in namespace "${namespace}" violate the new PodSecurity enforce level "${toText(enforce)}"`,
        ]
      : []),
    ...[...byReason].map(([reason, { first, count }]) => `${first}${others(count)}: ${reason}`).sort(),
  ];
}

/** Undefined: they cannot be read. */
async function listPods(store: Store, namespace: string): Promise<readonly Entry[] | undefined> {
  try {
    return await new ObjectReader(store).entries(PODS, { namespace }, 'cached');
  } catch {
    return undefined;
  }
}

function others(count: number): string {
  if (count === 1) return '';
  return count === 2 ? ' (and 1 other pod)' : ` (and ${count - 1} other pods)`;
}

interface Prioritized {
  /** Those to look at, in this order. */
  readonly pods: readonly Pod[];
  /** How many there are that the policy is for; of some, nobody had the time to see whether it is. */
  readonly total: number;
}

/** Of the pods that one controller made, the first tells most; the others come after everybody else. */
async function prioritize(
  { exemptRuntimeClasses, bounds, clock }: ExistingPods,
  entries: readonly Entry[],
  deadline: number,
): Promise<Prioritized> {
  const first: Pod[] = [];
  const again: Pod[] = [];
  const controllers = new Set<string>();
  // The time that is left is to be enough to look at what was read.
  const readUntil = (clock() + deadline) / 2;
  const turn = new Turn(clock);
  let total = 0;
  for (const [at, { json }] of entries.entries()) {
    if (at > 0 && clock() > readUntil) {
      total += entries.length - at;
      break;
    }
    const pod = parseStored<Pod>(json);
    if (!exemptRuntimeClasses.has(pod.spec?.runtimeClassName ?? '')) {
      total += 1;
      const controller = controllerOf(pod);
      const list = controller !== undefined && controllers.has(controller) ? again : first;
      if (controller !== undefined) controllers.add(controller);
      // More of them will not be looked at, and need not be kept.
      if (list.length < bounds.mostPods) list.push(pod);
    }
    await turn.mayEnd();
  }
  return { pods: [...first, ...again].slice(0, bounds.mostPods), total };
}

const controllerOf = ({ metadata }: Pod): string | undefined =>
  metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;

interface Violators {
  /** By name. */
  first: string;
  count: number;
}

async function check(
  { evaluator, relaxesOwnUsers, clock }: ExistingPods,
  pods: readonly Pod[],
  enforce: LevelVersion,
  deadline: number,
): Promise<{ readonly byReason: ReadonlyMap<string, Violators>; readonly checked: number }> {
  const byReason = new Map<string, Violators>();
  const turn = new Turn(clock);
  let checked = 0;
  for (const { metadata, spec = {} } of pods) {
    const { annotations, name = '' } = metadata;
    const violations = evaluator.violationsOf(enforce, toCheckedPod(annotations, spec, relaxesOwnUsers));
    if (violations.length > 0) note(byReason, reasonsOf(violations), name);
    checked += 1;
    if (clock() > deadline) break;
    await turn.mayEnd();
  }
  return { byReason, checked };
}

function note(byReason: Map<string, Violators>, reason: string, name: string): void {
  const violators = byReason.get(reason);
  if (violators === undefined) {
    byReason.set(reason, { first: name, count: 1 });
    return;
  }
  violators.count += 1;
  if (name < violators.first) violators.first = name;
}

/** Lets others have their turn now and then. */
class Turn {
  readonly #clock: () => number;
  #began: number;

  constructor(clock: () => number) {
    this.#clock = clock;
    this.#began = clock();
  }

  /** Not waited for, most of the time. */
  mayEnd(): Promise<void> | undefined {
    if (this.#clock() - this.#began < TURN_MS) return undefined;
    return endTurn().then(() => {
      this.#began = this.#clock();
    });
  }
}
