/**
 * SeatCounters counts the seats that requests hold of each priority level, in memory that all serving threads see. A thread takes free
 * seats by itself; only where there is none, or requests wait, does it ask the main thread, which has the queues.
 *
 * Each thread has a row of counters that it alone changes. To take seats, it adds them to its row and then sums all rows: of several
 * threads that take the last seats at once, the last one to add sees all others, and gives its seats back. So no more seats are held than
 * the level has, and the row of a thread that has died is cleared without a trace. A lock, or one counter for all rows, would be left wrong
 * by a thread that is killed between two steps.
 *
 * No wake-up is lost: the main thread notes a waiting request before it looks for seats, a thread gives seats back before it looks for
 * waiting requests, and atomic operations have one order.
 *
 * In memory: the limit and the waiting requests of each level, then the row of each thread (seats, requests, most seats seen).
 */
export class SeatCounters {
  readonly #cells: Int32Array;
  readonly #row: number;
  readonly #onFreed: (slot: number) => void;
  /** The levels that have a place in memory, by name. */
  readonly #levels = new Map<string, LevelSeats>();
  /** Those beyond the last place. */
  readonly #apart = new Map<string, LevelSeats>();

  /** Returns memory for the main thread and `threads` others. */
  static allocate(threads: number): SharedArrayBuffer {
    return new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT * (HEADER_CELLS + (threads + 1) * ROW_CELLS));
  }

  /**
   * `row`: 0 for the main thread. `onFreed` is called when a seat of another thread becomes free while requests wait in the main one.
   */
  constructor(memory: SharedArrayBuffer, row: number, onFreed: (slot: number) => void = () => {}) {
    this.#cells = new Int32Array(memory);
    this.#row = row;
    this.#onFreed = onFreed;
  }

  /** The places of the levels that have one. */
  get slots(): ReadonlyMap<string, number> {
    return new Map([...this.#levels].map(([name, { slot }]) => [name, slot]));
  }

  /**
   * Returns the seats of a level. The main thread gives each level a place; one beyond the last has seats that no other thread takes. In
   * other threads, a level without a place has no seats.
   */
  open(name: string): LevelSeats {
    const known = this.#levels.get(name) ?? this.#apart.get(name);
    if (known !== undefined) return known;
    if (this.#row > 0) return NO_SEATS;
    const taken = new Set([...this.#levels.values()].map(({ slot }) => slot));
    for (let slot = 0; slot < SLOTS; slot += 1)
      if (!taken.has(slot)) {
        const level = this.#levelAt(slot);
        level.prepare();
        this.#levels.set(name, level);
        return level;
      }
    const apart = new SeatCounters(SeatCounters.allocate(0), 0).#levelAt(0);
    this.#apart.set(name, apart);
    return apart;
  }

  /** Frees the place of a level that is gone. */
  close(name: string): void {
    this.#levels.delete(name);
    this.#apart.delete(name);
  }

  /** Takes the places that the main thread has given. In other threads alone. */
  know(slots: ReadonlyMap<string, number>): void {
    for (const [name, { slot }] of this.#levels) if (slots.get(name) !== slot) this.#levels.delete(name);
    for (const [name, slot] of slots)
      if (!this.#levels.has(name)) this.#levels.set(name, this.#levelAt(slot));
  }

  /** Frees the seats of a thread that no longer runs. */
  clear(row: number): void {
    const begin = HEADER_CELLS + row * ROW_CELLS;
    for (let at = begin; at < begin + ROW_CELLS; at += 1) Atomics.store(this.#cells, at, 0);
  }

  #levelAt(slot: number): LevelSeats {
    return new LevelSeats({ cells: this.#cells, slot, row: this.#row, onFreed: this.#onFreed });
  }
}

/** More levels than clusters have. The main thread serves those beyond. */
const SLOTS = 256;
const LIMIT = 0;
const WAITING = 1;
const HEADER_CELLS_OF_LEVEL = 2;
const HEADER_CELLS = SLOTS * HEADER_CELLS_OF_LEVEL;
const SEATS = 0;
const REQUESTS = 1;
const HIGHEST = 2;
/** Four, so that a level's counters are together. Rows are far enough apart for the caches of processors. */
const ROW_CELLS_OF_LEVEL = 4;
const ROW_CELLS = SLOTS * ROW_CELLS_OF_LEVEL;

interface Place {
  readonly cells: Int32Array;
  readonly slot: number;
  readonly row: number;
  readonly onFreed: (slot: number) => void;
}

/** The seats of one level, as one thread takes them. */
export class LevelSeats {
  readonly slot: number;
  readonly #cells: Int32Array;
  readonly #header: number;
  readonly #own: number;
  readonly #first: number;
  readonly isMain: boolean;
  readonly #onFreed: (slot: number) => void;

  constructor({ cells, slot, row, onFreed }: Place) {
    this.slot = slot;
    this.#cells = cells;
    this.#header = slot * HEADER_CELLS_OF_LEVEL;
    this.#first = HEADER_CELLS + slot * ROW_CELLS_OF_LEVEL;
    this.#own = this.#first + row * ROW_CELLS;
    this.isMain = row === 0;
    this.#onFreed = onFreed;
  }

  /** A level before this, in the same place, leaves no limit and no peak behind. */
  prepare(): void {
    this.limit = 0;
    this.waiting = 0;
    this.takeHighest();
  }

  /** How many may be held at once. */
  get limit(): number {
    return Atomics.load(this.#cells, this.#header + LIMIT);
  }

  /** Does nothing in threads other than the main one, which alone knows the demand. */
  set limit(limit: number) {
    if (this.isMain) Atomics.store(this.#cells, this.#header + LIMIT, limit);
  }

  /** Requests in the queues of the main thread. */
  get waiting(): number {
    return Atomics.load(this.#cells, this.#header + WAITING);
  }

  set waiting(count: number) {
    if (this.isMain) Atomics.store(this.#cells, this.#header + WAITING, count);
  }

  /** Seats held by requests of all threads. */
  get inUse(): number {
    return this.#sum(SEATS);
  }

  /** Running requests of all threads. */
  get requests(): number {
    return this.#sum(REQUESTS);
  }

  /** Takes seats for a request that nothing limits. */
  add(seats: number): void {
    Atomics.add(this.#cells, this.#own + SEATS, seats);
    this.#admit(this.inUse);
  }

  /** Whether a request has got its seats. One that is wider than the level gets them when no other request has any. */
  take(seats: number): boolean {
    const { limit } = this;
    const most = seats > limit ? seats : limit;
    while (this.inUse + seats <= most) {
      Atomics.add(this.#cells, this.#own + SEATS, seats);
      const { inUse } = this;
      if (inUse <= most) {
        this.#admit(inUse);
        return true;
      }
      Atomics.sub(this.#cells, this.#own + SEATS, seats);
    }
    return false;
  }

  /** A request is over. Its seats are given back apart from it, because some are held for a while. */
  finished(): void {
    Atomics.sub(this.#cells, this.#own + REQUESTS, 1);
  }

  giveBack(seats: number): void {
    Atomics.sub(this.#cells, this.#own + SEATS, seats);
    if (!this.isMain && this.waiting > 0) this.#onFreed(this.slot);
  }

  /** Returns the most seats that were held at once since the last call. */
  takeHighest(): number {
    let highest = 0;
    for (let at = this.#first + HIGHEST; at < this.#cells.length; at += ROW_CELLS)
      highest = Math.max(highest, Atomics.exchange(this.#cells, at, 0));
    return highest;
  }

  #admit(inUse: number): void {
    Atomics.add(this.#cells, this.#own + REQUESTS, 1);
    if (inUse > Atomics.load(this.#cells, this.#own + HIGHEST))
      Atomics.store(this.#cells, this.#own + HIGHEST, inUse);
  }

  #sum(field: number): number {
    let sum = 0;
    for (let at = this.#first + field; at < this.#cells.length; at += ROW_CELLS)
      sum += Atomics.load(this.#cells, at);
    return sum;
  }
}

/** Requests wait for them forever, so that no thread takes any. */
const NO_SEATS = new SeatCounters(SeatCounters.allocate(0), 0).open('');
NO_SEATS.waiting = 1;
