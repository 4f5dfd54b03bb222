interface Measures {
  /** A clock that all threads share. */
  readonly nowMs?: () => number;
  /** The part of the time, since it was last asked, in which this thread had something to do. */
  readonly utilization?: () => number;
}

/**
 * ConnectionShares evens out the connections of threads that share a port. The kernel deals connections by their addresses, so that of a few
 * long ones one thread may get most. A thread that has clearly more busy ones than the others ends some with their next answer (GOAWAY, or
 * Connection: close), and their clients connect again, to any thread: of eight connections that landed 7 to 1 in two threads, three or four
 * are ended until they are 4 to 4.
 *
 * A thread that waits half of the time or more ends none: it has nothing that others could do sooner.
 *
 * A connection is busy when it had a request in the last period. Quiet ones, watches among them, stay where they are. Rates were rejected
 * as the measure: threads that are all at their limit have equal rates, however many clients wait in each.
 *
 * Threads count at different moments, so that only whole periods are compared, each with the same period of the others; and a thread that has
 * ended connections waits for a period that began afterwards.
 *
 * In memory that all threads see: for each thread, whether it serves, and its busy connections in each of the last periods.
 */
export class ConnectionShares {
  readonly #cells: Int32Array;
  readonly #row: number;
  readonly #nowMs: () => number;
  readonly #utilization: () => number;
  #busy = new Set<object>();
  #period = 0;
  #surplus = 0;
  /** Counts of earlier periods show connections that are no longer here. */
  #comparableFrom = 0;

  /** Returns memory for as many threads. */
  static allocate(threads: number): SharedArrayBuffer {
    return new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT * ROW_CELLS * threads);
  }

  /** Forgets a thread that no longer runs. */
  static forget(memory: SharedArrayBuffer, row: number): void {
    const cells = new Int32Array(memory);
    for (let at = row * ROW_CELLS; at < (row + 1) * ROW_CELLS; at += 1) Atomics.store(cells, at, 0);
  }

  /** `row`: from 0. */
  constructor(
    memory: SharedArrayBuffer,
    row: number,
    { nowMs = Date.now, utilization = measureUtilization() }: Measures = {},
  ) {
    this.#cells = new Int32Array(memory);
    this.#row = row * ROW_CELLS;
    this.#nowMs = nowMs;
    this.#utilization = utilization;
  }

  /** This thread serves from now on. */
  begin(): void {
    Atomics.store(this.#cells, this.#row, SERVES);
  }

  /** Notes a request. Returns whether its connection should end with the answer. */
  take(connection: object): boolean {
    const period = Math.floor(this.#nowMs() / PERIOD_MS) % PERIODS;
    if (period !== this.#period) this.#count(period);
    if (this.#busy.has(connection)) return false;
    this.#busy.add(connection);
    if (this.#surplus < 1) return false;
    this.#surplus -= 1;
    return true;
  }

  #count(period: number): void {
    const ended = this.#period;
    const slot = this.#row + slotOf(ended);
    Atomics.store(this.#cells, slot + BUSY, this.#busy.size);
    Atomics.store(this.#cells, slot, ended);
    this.#busy = new Set();
    this.#period = period;
    // By now each thread that is busy has counted the period before the one that has just ended.
    const compared = ended - 1;
    const isComparable = period === ended + 1 && compared >= this.#comparableFrom;
    const isLoaded = this.#utilization() > LOADED;
    this.#surplus = isComparable && isLoaded ? this.#surplusIn(compared) : 0;
    if (this.#surplus > 0) this.#comparableFrom = period + 1;
  }

  #surplusIn(period: number): number {
    let threads = 0;
    let sum = 0;
    const own = this.#busyIn(this.#row, period);
    let least = own;
    for (let row = 0; row < this.#cells.length; row += ROW_CELLS) {
      if (Atomics.load(this.#cells, row) !== SERVES) continue;
      const busy = this.#busyIn(row, period);
      threads += 1;
      sum += busy;
      least = Math.min(least, busy);
    }
    const mean = sum / Math.max(threads, 1);
    return own - least < 2 || own < mean * CLEARLY ? 0 : Math.floor(own - mean);
  }

  /** A thread without a request since has counted nothing. */
  #busyIn(row: number, period: number): number {
    const slot = row + slotOf(period);
    return Atomics.load(this.#cells, slot) === period ? Atomics.load(this.#cells, slot + BUSY) : 0;
  }
}

const SERVES = 1;
const BUSY = 1;
/** As many periods are remembered. */
const SLOTS = 4;
const SLOT_CELLS = 2;
const ROW_CELLS = 1 + SLOTS * SLOT_CELLS;
const slotOf = (period: number): number => 1 + (period % SLOTS) * SLOT_CELLS;
const PERIOD_MS = 2000;
/** So that a number of a period fits a cell. */
const PERIODS = 2 ** 30;
/** A thread with this many times the mean has clearly more. Chance alone deals a thousand connections more evenly. */
const CLEARLY = 1.2;
const LOADED = 0.5;

function measureUtilization(): () => number {
  let before = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    return utilization;
  };
}
