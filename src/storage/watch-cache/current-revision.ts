import { inTime } from '../../util/in-time.ts';
import { pause } from '../../util/pause.ts';
import { failureOf, StorageError } from '../errors.ts';
import type { Revision } from '../revision.ts';

/** When this many reads shared a query, the next one waits for more. */
const BUSY_READS = 4;
/** Interval between queries while many read: as long as a read then takes anyway. */
const BUSY_GAP_MS = 2;
/** Limit of a query. A read that came just after one began waits for it and for the next: twice as long. */
const QUESTION_MS = 1500;

/**
 * SharedCurrentRevision asks PostgreSQL for the newest committed revision, once for all reads that wait at the same moment. A read
 * that arrives during a query joins the next one: this answer may be from before the read began.
 *
 * While many read, queries keep a distance, so that more reads share each: with 64 clients, queries are a fifth of the CPU time of
 * a get. A lone read does not wait. A serving thread asks the main one, which does the same with what all threads ask: it hears for how
 * many reads each question is.
 */
export class SharedCurrentRevision {
  readonly #query: (reads: number) => Promise<Revision>;
  readonly #asked: string;
  readonly #questionMs: number;
  #running: Promise<Revision> | undefined;
  #next: Promise<Revision> | undefined;
  /** Reads that share the next query. */
  #waiting = 0;
  #wasBusy = false;
  #startedAt = 0;

  /** `asked` names the revision in the error after `questionMs`. */
  constructor(
    query: (reads: number) => Promise<Revision>,
    asked = 'is the newest',
    questionMs = QUESTION_MS,
  ) {
    this.#query = query;
    this.#asked = asked;
    this.#questionMs = questionMs;
  }

  /** `reads`: how many wait for the answer. */
  get(reads = 1): Promise<Revision> {
    this.#waiting += reads;
    if (this.#next !== undefined) return this.#next;
    if (this.#running === undefined && !this.#wasBusy) return this.#start();
    const before = this.#running?.catch(() => {}) ?? Promise.resolve();
    this.#next = before.then(() => this.#distance()).then(() => this.#start());
    return this.#next;
  }

  #distance(): Promise<void> | undefined {
    if (!this.#wasBusy) return undefined;
    const waitMs = BUSY_GAP_MS - (performance.now() - this.#startedAt);
    return waitMs <= 0 ? undefined : pause(waitMs);
  }

  #start(): Promise<Revision> {
    this.#next = undefined;
    const reads = this.#waiting;
    this.#wasBusy = reads >= BUSY_READS;
    this.#waiting = 0;
    this.#startedAt = performance.now();
    const running = this.#answeredInTime(this.#query(reads)).finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    this.#running = running;
    return running;
  }

  /** @throws StorageError unavailable when it takes too long */
  #answeredInTime(question: Promise<Revision>): Promise<Revision> {
    return inTime(question, this.#questionMs, () => {
      const reason = `the database did not say within ${this.#questionMs} ms which revision ${this.#asked}`;
      throw new StorageError({ kind: 'unavailable', reason });
    });
  }
}

/** A read of the newest revision has named none from the future: the cache lags, and will not for long. */
export function toLagging(error: unknown): never {
  const failure = failureOf(error, 'future');
  if (failure === undefined) throw error;
  const { requested, current } = failure;
  const reason = `changes arrive late: up to revision ${current}, where the database is at ${requested}`;
  throw new StorageError({ kind: 'unavailable', reason }, { cause: error });
}
