/** A condition that stays bad is logged again after this time. */
const REPEAT_MS = 60_000;

/**
 * Condition logs whether something that needs the database works: a line when it stops, one now and then while it is lost, and one
 * when it is back, however often it is tried in between.
 *
 *     writes: lost: connect ECONNREFUSED 10.0.0.5:5432
 *     writes: still lost after 60 s and 34 attempts: the database system is starting up
 *     writes: back after 71 s and 40 attempts
 */
export class Condition {
  readonly #subject: string;
  readonly #tell: (line: string) => void;
  readonly #now: () => number;
  #lost: { readonly sinceMs: number; loggedAtMs: number; attempts: number } | undefined;

  /** `now` is in milliseconds, of a clock that is never set. */
  constructor(subject: string, tell: (line: string) => void, now: () => number = () => performance.now()) {
    this.#subject = subject;
    this.#tell = tell;
    this.#now = now;
  }

  failed(reason: string): void {
    const nowMs = this.#now();
    if (this.#lost === undefined) {
      this.#lost = { sinceMs: nowMs, loggedAtMs: nowMs, attempts: 1 };
      this.#tell(`${this.#subject}: lost: ${reason}`);
      return;
    }
    this.#lost.attempts += 1;
    if (nowMs - this.#lost.loggedAtMs < REPEAT_MS) return;
    this.#lost.loggedAtMs = nowMs;
    this.#tell(`${this.#subject}: still lost after ${this.#duration(nowMs)}: ${reason}`);
  }

  worked(): void {
    if (this.#lost === undefined) return;
    this.#tell(`${this.#subject}: back after ${this.#duration(this.#now())}`);
    this.#lost = undefined;
  }

  #duration(nowMs: number): string {
    const { sinceMs = nowMs, attempts = 0 } = this.#lost ?? {};
    const seconds = (nowMs - sinceMs) / 1000;
    const shown = seconds < 10 ? seconds.toFixed(1) : Math.round(seconds);
    return `${shown} s and ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`;
  }
}
