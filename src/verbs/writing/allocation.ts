import { randomInt } from 'node:crypto';
import type { ApiObject } from '../../api/object-meta.ts';
import { tooManyRequests } from '../../api/status.ts';
import { copyJson } from '../../object/equality.ts';
import {
  type AssignedValue,
  type AssignedValues,
  PoolFull,
  type ValueSource,
} from '../../registry/assigned-values.ts';
import type { ResourceDefinition } from '../../registry/resource-definition.ts';
import type { ValuePool } from '../../registry/value-pool.ts';
import type { Allocations } from '../../storage/allocations.ts';
import { failureOf } from '../../storage/errors.ts';
import type { Hold, WriteVerb } from '../../storage/revision-log.ts';

/** Each attempt but the first two knows all values that are held: so many collisions mean that others write much faster. */
const ATTEMPTS = 50;
/** A single collision is chance; what another server or thread allocated is read after as many. */
const BLIND_ATTEMPTS = 2;

type ReadAllocations = Pick<Allocations, 'held' | 'holder'>;

/** Learns what became of the attempts to allocate values. */
export interface AllocationObserver {
  /** `index`: of the value in its pool. `seconds`: from the choice of the values until the object was written. */
  allocated(pool: ValuePool, index: number, how: AllocationScope, seconds: number): void;
  /** `index`: undefined where the pool had no value left. */
  failed(pool: ValuePool, index: number | undefined, how: AllocationScope): void;
}

/** Who chose the value: the caller (static), or the server. */
export type AllocationScope = 'static' | 'dynamic';

interface Allocation {
  /** How the resource allocates values. */
  readonly values: AssignedValues;
  readonly allocator: ValueAllocator;
  readonly dryRun: boolean;
  readonly old: ApiObject | undefined;
}

/**
 * Allocates values to an object and finishes its write, and repeats both while a chosen value turns out to be taken. `finish`
 * gets a copy of the object each time.
 * @throws StatusError
 */
export async function allocateAndFinish<Result>(
  { values, allocator, dryRun, old }: Allocation,
  object: ApiObject,
  finish: (copy: ApiObject) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    const copy = copyJson(object);
    const choice = allocator.begin(dryRun);
    try {
      values.complete(copy, old);
      await values.assign(copy, old, choice);
      const result = await finish(copy);
      choice.end({ stored: true });
      return result;
    } catch (error) {
      const taken = takenValue(error);
      choice.end(taken === undefined ? { stored: false } : { stored: false, taken });
      if (taken === undefined) throw error;
      if (!choice.includes(taken)) throw values.whenTaken(copy, taken);
      if (attempt >= ATTEMPTS) throw tooManyRequests(CONTESTED, 1);
      if (attempt >= BLIND_ATTEMPTS) await allocator.renew(taken.pool);
    }
  }
}

const CONTESTED = 'other writes were faster each time a value was chosen, please try again later';

const takenValue = (error: unknown): AssignedValue | undefined => failureOf(error, 'taken')?.value;

/** The allocations that a write changes; undefined when it changes none. */
export function allocatedBy(
  { strategy }: ResourceDefinition,
  verb: WriteVerb,
  object: ApiObject,
  old: ApiObject | undefined,
): readonly Hold[] | undefined {
  const { assigned } = strategy;
  if (assigned === undefined) return undefined;
  if (verb === 'delete') return [];
  const before = old === undefined ? [] : assigned.valuesOf(old);
  const isOld = ({ pool, value }: AssignedValue): boolean =>
    before.some((one) => one.pool === pool && one.value === value);
  const after = assigned.valuesOf(object).map((one) => ({ ...one, kept: isOld(one) }));
  const isSame = after.length === before.length && after.every(({ kept }) => kept);
  return isSame ? undefined : after;
}

/**
 * Chooses values at random among those not known to be allocated. Its knowledge is a guess that saves queries: other servers and
 * threads choose too, and only the write detects whether a value was free. It reads what others allocated and released only when no
 * value seems free, or when choices collide.
 */
export class ValueAllocator {
  readonly #allocations: ReadAllocations;
  readonly #observer: AllocationObserver;
  #pools: readonly ValuePool[] = [];
  #known: ReadonlyMap<string, KnownPool> = new Map();

  constructor(allocations: ReadAllocations, pools: readonly ValuePool[], observer: AllocationObserver) {
    this.#allocations = allocations;
    this.#observer = observer;
    this.use(pools);
  }

  get pools(): readonly ValuePool[] {
    return this.#pools;
  }

  /** Replaces the pools. Attempts under way keep theirs. */
  use(pools: readonly ValuePool[]): void {
    const allocations = this.#allocations;
    this.#pools = pools;
    this.#known = new Map(pools.map((pool) => [pool.name, new KnownPool(pool, allocations)]));
  }

  /** Reads which values of a pool are held. @throws StorageError */
  async renew(pool: string): Promise<void> {
    await this.#known.get(pool)?.renew();
  }

  /** Begins the choices of one attempt to write. */
  begin(dryRun: boolean): Choice {
    return new Choice({
      pools: this.#pools,
      known: this.#known,
      observer: this.#observer,
      ...(dryRun ? { allocations: this.#allocations } : {}),
    });
  }
}

/** The values chosen for one attempt to write an object. */
class Choice implements ValueSource {
  readonly pools: readonly ValuePool[];
  readonly #known: ReadonlyMap<string, KnownPool>;
  /** For a dry run only, which allocates nothing and so cannot detect collisions. */
  readonly #allocations: ReadAllocations | undefined;
  readonly #picked: AssignedValue[] = [];
  /** Chosen by the caller. */
  readonly #asked: AssignedValue[] = [];
  readonly #observer: AllocationObserver;
  readonly #begunMs = performance.now();

  constructor(options: {
    pools: readonly ValuePool[];
    known: ReadonlyMap<string, KnownPool>;
    observer: AllocationObserver;
    allocations?: ReadAllocations;
  }) {
    this.pools = options.pools;
    this.#known = options.known;
    this.#observer = options.observer;
    this.#allocations = options.allocations;
  }

  async pick(pool: ValuePool): Promise<string> {
    const { name } = pool;
    const known = this.#known.get(name);
    if (known === undefined) throw new PoolFull();
    const value = await known.pick().catch((error: unknown) => {
      if (error instanceof PoolFull && !this.#isDryRun) this.#observer.failed(pool, undefined, 'dynamic');
      throw error;
    });
    this.#picked.push({ pool: name, value });
    return value;
  }

  get #isDryRun(): boolean {
    return this.#allocations !== undefined;
  }

  async isFree(value: AssignedValue, { metadata }: ApiObject): Promise<boolean> {
    this.#asked.push(value);
    const owner = await this.#allocations?.holder(value);
    if (owner === undefined) return true;
    return owner.namespace === (metadata.namespace ?? '') && owner.name === metadata.name;
  }

  /** Whether the server chose a value, rather than the caller. */
  includes(value: AssignedValue): boolean {
    return this.#picked.some((picked) => isSame(picked, value));
  }

  /** Ends the attempt. `taken`: the value that belongs to another object. */
  end(outcome: { stored: boolean; taken?: AssignedValue }): void {
    const { stored, taken } = outcome;
    for (const picked of this.#picked) {
      const isTaken = taken !== undefined && isSame(picked, taken);
      this.#known.get(picked.pool)?.settle(picked.value, (stored && !this.#isDryRun) || isTaken);
    }
    if (this.#isDryRun) return;
    if (stored) this.#tell(this.#picked, 'dynamic');
    if (stored) this.#tell(this.#asked, 'static');
    if (taken === undefined) return;
    const pool = this.#poolOf(taken);
    if (pool === undefined) return;
    this.#observer.failed(pool, pool.indexOf(taken.value), this.includes(taken) ? 'dynamic' : 'static');
  }

  #tell(values: readonly AssignedValue[], how: AllocationScope): void {
    const seconds = (performance.now() - this.#begunMs) / 1000;
    for (const value of values) {
      const pool = this.#poolOf(value);
      const index = pool?.indexOf(value.value);
      if (pool !== undefined && index !== undefined) this.#observer.allocated(pool, index, how, seconds);
    }
  }

  #poolOf({ pool }: AssignedValue): ValuePool | undefined {
    return this.pools.find(({ name }) => name === pool);
  }
}

const isSame = (one: AssignedValue, other: AssignedValue): boolean =>
  one.pool === other.pool && one.value === other.value;

/** `pending`: chosen for an unfinished write. */
type Held = 'allocated' | 'pending';

class KnownPool {
  readonly #pool: ValuePool;
  readonly #allocations: ReadAllocations;
  /** Without those that are free: a range may be larger than any memory. */
  #states: Map<number, Held> | undefined;
  #loading: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  /** Found allocated while the values are read, which may be as of before. */
  #since = new Set<number>();

  constructor(pool: ValuePool, allocations: ReadAllocations) {
    this.#pool = pool;
    this.#allocations = allocations;
  }

  /** @throws PoolFull */
  async pick(): Promise<string> {
    if (this.#states === undefined) await this.#load();
    const index = this.#choose() ?? (await this.#load().then(() => this.#choose()));
    if (index === undefined) throw new PoolFull();
    this.#states?.set(index, 'pending');
    return this.#pool.valueAt(index);
  }

  settle(value: string, isAllocated: boolean): void {
    const index = this.#pool.indexOf(value);
    if (index === undefined || index >= this.#pool.size || this.#states === undefined) return;
    if (isAllocated) this.#states.set(index, 'allocated');
    else this.#states.delete(index);
    if (isAllocated) this.#since.add(index);
  }

  /** Those who come while values are read share the next reading. */
  renew(): Promise<void> {
    if (this.#loading === undefined) return this.#load();
    this.#next ??= this.#loading
      .catch(() => {})
      .then(() => {
        this.#next = undefined;
        return this.#load();
      });
    return this.#next;
  }

  #choose(): number | undefined {
    const { size, dynamicFrom, reserved } = this.#pool;
    const from = Math.max(dynamicFrom, reserved);
    return this.#findFree(from, size) ?? this.#findFree(reserved, Math.min(from, size));
  }

  /** Searches from a random index to the end, then from the start. */
  #findFree(from: number, to: number): number | undefined {
    if (from >= to || this.#states === undefined) return undefined;
    const start = randomInt(from, to);
    for (let index = start; index < to; index += 1) if (!this.#states.has(index)) return index;
    for (let index = from; index < start; index += 1) if (!this.#states.has(index)) return index;
    return undefined;
  }

  /** Attempts that find the pool full at the same time share one query. */
  #load(): Promise<void> {
    this.#loading ??= this.#reload().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  async #reload(): Promise<void> {
    this.#since = new Set();
    const values = await this.#allocations.held(this.#pool.name);
    this.#states = new Map([...(this.#states ?? [])].filter(([, state]) => state === 'pending'));
    for (const index of this.#since) this.#states.set(index, 'allocated');
    for (const value of values) this.settle(value, true);
    this.#since.clear();
  }
}
