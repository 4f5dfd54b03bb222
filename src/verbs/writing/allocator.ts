import { randomInt } from 'node:crypto';
import type { ApiObject } from '../../api/object-meta.ts';
import { type AssignedValue, PoolFull, type ValueSource } from '../../registry/assigned-values.ts';
import type { ValuePool } from '../../registry/value-pool.ts';
import type { Allocations } from '../../storage/allocations.ts';

/**
 * Chooses values at random among those that are not known to be allocated. What it knows is a guess that spares questions:
 * other servers choose too, and only the write that allocates a value finds out whether it was free. Values that were released
 * by another server are noticed when none seems left.
 */
export class ValueAllocator {
  readonly #allocations: Allocations;
  readonly #pools: readonly ValuePool[];
  readonly #known = new Map<string, KnownPool>();

  constructor(allocations: Allocations, pools: readonly ValuePool[]) {
    this.#allocations = allocations;
    this.#pools = pools;
    for (const pool of pools) this.#known.set(pool.name, new KnownPool(pool, allocations));
  }

  /** The values of one attempt to write. */
  begin(dryRun: boolean): Choice {
    return new Choice({
      pools: this.#pools,
      known: this.#known,
      ...(dryRun ? { allocations: this.#allocations } : {}),
    });
  }
}

/** The values that are chosen for one attempt to write an object. */
export class Choice implements ValueSource {
  readonly pools: readonly ValuePool[];
  readonly #known: ReadonlyMap<string, KnownPool>;
  /** For a dry run only, which allocates nothing and so would not find out. */
  readonly #allocations: Allocations | undefined;
  readonly #picked: AssignedValue[] = [];

  constructor(options: {
    pools: readonly ValuePool[];
    known: ReadonlyMap<string, KnownPool>;
    allocations?: Allocations;
  }) {
    this.pools = options.pools;
    this.#known = options.known;
    this.#allocations = options.allocations;
  }

  async pick({ name }: ValuePool): Promise<string> {
    const known = this.#known.get(name);
    if (known === undefined) throw new PoolFull();
    const value = await known.pick();
    this.#picked.push({ pool: name, value });
    return value;
  }

  async isFree(value: AssignedValue, { metadata }: ApiObject): Promise<boolean> {
    const owner = await this.#allocations?.holder(value);
    if (owner === undefined) return true;
    return owner.namespace === (metadata.namespace ?? '') && owner.name === metadata.name;
  }

  /** Whether the server chose a value, rather than the caller. */
  includes(value: AssignedValue): boolean {
    return this.#picked.some((picked) => picked.pool === value.pool && picked.value === value.value);
  }

  /** The attempt is over. `taken` is the value that turned out to be another object's. */
  end(outcome: { stored: boolean; taken?: AssignedValue }): void {
    for (const { pool, value } of this.#picked) {
      const isTaken = outcome.taken?.pool === pool && outcome.taken.value === value;
      this.#known.get(pool)?.settle(value, (outcome.stored && this.#allocations === undefined) || isTaken);
    }
  }
}

const FREE = 0;
const ALLOCATED = 1;
/** Chosen for a write that is under way. */
const PENDING = 2;

class KnownPool {
  readonly #pool: ValuePool;
  readonly #allocations: Allocations;
  #states: Uint8Array | undefined;
  #loading: Promise<void> | undefined;

  constructor(pool: ValuePool, allocations: Allocations) {
    this.#pool = pool;
    this.#allocations = allocations;
  }

  /** @throws PoolFull */
  async pick(): Promise<string> {
    if (this.#states === undefined) await this.#load();
    const index = this.#choose() ?? (await this.#load().then(() => this.#choose()));
    if (index === undefined) throw new PoolFull();
    if (this.#states !== undefined) this.#states[index] = PENDING;
    return this.#pool.valueAt(index);
  }

  settle(value: string, isAllocated: boolean): void {
    const index = this.#pool.indexOf(value);
    if (index !== undefined && this.#states !== undefined)
      this.#states[index] = isAllocated ? ALLOCATED : FREE;
  }

  #choose(): number | undefined {
    const { size, dynamicFrom, reserved } = this.#pool;
    const from = Math.max(dynamicFrom, reserved);
    return this.#findFree(from, size) ?? this.#findFree(reserved, Math.min(from, size));
  }

  /** From a random place to the end, then from the start. */
  #findFree(from: number, to: number): number | undefined {
    if (from >= to || this.#states === undefined) return undefined;
    const start = randomInt(from, to);
    const later = this.#states.indexOf(FREE, start);
    if (later >= 0 && later < to) return later;
    const earlier = this.#states.indexOf(FREE, from);
    return earlier >= 0 && earlier < to ? earlier : undefined;
  }

  /** One question is shared by all attempts that find the pool full at the same time. */
  #load(): Promise<void> {
    this.#loading ??= this.#reload().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  async #reload(): Promise<void> {
    const values = await this.#allocations.held(this.#pool.name);
    const states = this.#states?.map((state) => (state === PENDING ? PENDING : FREE));
    this.#states = states ?? new Uint8Array(this.#pool.size);
    for (const value of values) this.settle(value, true);
  }
}
