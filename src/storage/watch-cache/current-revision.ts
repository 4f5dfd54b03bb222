import { StorageError } from '../errors.ts';
import type { Revision } from '../revision.ts';

/** Reads that share one question before the next waits for more of them. */
const BUSY_READS = 4;
/** From one question to the next while many read: as long as a read takes anyway then. */
const BUSY_GAP_MS = 2;
/** A question that takes longer is given up. Who came just after it was asked waits for it and for the next: twice as long. */
const QUESTION_MS = 1500;

/**
 * The newest committed revision, asked of PostgreSQL once for all reads that wait at the same moment. A read that arrives
 * while a query is under way must not use its answer, which may be from before the read began: it joins the next one.
 *
 * While many read, questions keep a distance, so that more reads share each: with 64 clients asking is a fifth of all the
 * CPU time of a get. A read that is alone does not wait.
 */
export class SharedCurrentRevision {
  readonly #query: () => Promise<Revision>;
  readonly #asked: string;
  readonly #questionMs: number;
  #running: Promise<Revision> | undefined;
  #next: Promise<Revision> | undefined;
  /** Reads that share the next question. */
  #waiting = 0;
  #wasBusy = false;
  #startedAt = 0;

  /** `asked`: which revision, for the error that it did not come within `questionMs`. */
  constructor(query: () => Promise<Revision>, asked = 'is the newest', questionMs = QUESTION_MS) {
    this.#query = query;
    this.#asked = asked;
    this.#questionMs = questionMs;
  }

  get(): Promise<Revision> {
    this.#waiting += 1;
    if (this.#next !== undefined) return this.#next;
    if (this.#running === undefined && !this.#wasBusy) return this.#start();
    const before = this.#running?.catch(() => {}) ?? Promise.resolve();
    this.#next = before.then(() => this.#distance()).then(() => this.#start());
    return this.#next;
  }

  #distance(): Promise<void> | undefined {
    if (!this.#wasBusy) return undefined;
    const waitMs = BUSY_GAP_MS - (performance.now() - this.#startedAt);
    return waitMs <= 0 ? undefined : new Promise((resolve) => setTimeout(resolve, waitMs));
  }

  #start(): Promise<Revision> {
    this.#next = undefined;
    this.#wasBusy = this.#waiting >= BUSY_READS;
    this.#waiting = 0;
    this.#startedAt = performance.now();
    const running = this.#inTime(this.#query()).finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    this.#running = running;
    return running;
  }

  /** @throws StorageError unavailable when it takes too long */
  async #inTime(question: Promise<Revision>): Promise<Revision> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const reason = `the database did not say within ${this.#questionMs} ms which revision ${this.#asked}`;
      const fail = (): void => reject(new StorageError({ kind: 'unavailable', reason }));
      // An answer that has come while this process was busy is read first.
      timer = setTimeout(() => setImmediate(fail), this.#questionMs);
    });
    return Promise.race([question, late]).finally(() => clearTimeout(timer));
  }
}
