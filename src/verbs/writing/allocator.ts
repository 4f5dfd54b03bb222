import { randomInt } from 'node:crypto';
import type { ApiObject } from '../../api/object-meta.ts';
import { type AssignedValue, PoolFull, type ValueSource } from '../../registry/assigned-values.ts';
import type { ValuePool } from '../../registry/value-pool.ts';
import type { Allocations } from '../../storage/allocations.ts';

/**
 * Chooses values at random among those that nobody is known to hold. What it knows is a guess that spares questions: other
 * servers choose too, and whether a value was free is found out by the write that claims it. Values that others released are
 * noticed when none seems left.
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
  begin(dryRun: boolean): Assignment {
    return new Assignment({
      pools: this.#pools,
      known: this.#known,
      ...(dryRun ? { asked: this.#allocations } : {}),
    });
  }
}

export class Assignment implements ValueSource {
  readonly pools: readonly ValuePool[];
  readonly #known: ReadonlyMap<string, KnownPool>;
  /** For a dry run, which claims nothing and so would not find out. */
  readonly #asked: Allocations | undefined;
  readonly #picked: AssignedValue[] = [];

  constructor(options: {
    pools: readonly ValuePool[];
    known: ReadonlyMap<string, KnownPool>;
    asked?: Allocations;
  }) {
    this.pools = options.pools;
    this.#known = options.known;
    this.#asked = options.asked;
  }

  async pick({ name }: ValuePool): Promise<string> {
    const known = this.#known.get(name);
    if (known === undefined) throw new PoolFull();
    const value = await known.pick();
    this.#picked.push({ pool: name, value });
    return value;
  }

  async isFree(value: AssignedValue, { metadata }: ApiObject): Promise<boolean> {
    const holder = await this.#asked?.holder(value);
    if (holder === undefined) return true;
    return holder.namespace === (metadata.namespace ?? '') && holder.name === metadata.name;
  }

  /** Whether the server chose a value, rather than the caller. */
  chose(value: AssignedValue): boolean {
    return this.#picked.some((picked) => picked.pool === value.pool && picked.value === value.value);
  }

  /** The attempt is over. `taken` says which of the values turned out to be another's. */
  end(outcome: { stored: boolean; taken?: AssignedValue }): void {
    for (const { pool, value } of this.#picked) {
      const isTaken = outcome.taken?.pool === pool && outcome.taken.value === value;
      this.#known.get(pool)?.settle(value, (outcome.stored && this.#asked === undefined) || isTaken);
    }
  }
}

const FREE = 0;
const HELD = 1;
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

  settle(value: string, held: boolean): void {
    const index = this.#pool.indexOf(value);
    if (index !== undefined && this.#states !== undefined) this.#states[index] = held ? HELD : FREE;
  }

  #choose(): number | undefined {
    const { size, dynamicFrom, reserved } = this.#pool;
    const from = Math.max(dynamicFrom, reserved);
    return this.#findFree(from, size) ?? this.#findFree(reserved, Math.min(from, size));
  }

  /** From a random place on, and round. */
  #findFree(from: number, to: number): number | undefined {
    if (from >= to || this.#states === undefined) return undefined;
    const start = randomInt(from, to);
    const later = this.#states.indexOf(FREE, start);
    if (later >= 0 && later < to) return later;
    const earlier = this.#states.indexOf(FREE, from);
    return earlier >= 0 && earlier < to ? earlier : undefined;
  }

  /** Shared by all who find the pool full at the same time. */
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
