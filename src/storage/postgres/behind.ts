import { NO_REVISION, type Revision } from '../revision.ts';

/** For how long what the database shows has not been applied here, while nothing of it is. */
export class Behind {
  readonly #visible: () => Revision;
  readonly #now: () => number;
  #applied: Revision = NO_REVISION;
  #sinceMs: number | undefined;

  /** `visible`: as far as the database is known to show the log. `now`: of a clock that is never set. */
  constructor(visible: () => Revision, now: () => number = () => performance.now()) {
    this.#visible = visible;
    this.#now = now;
  }

  /** More became visible. */
  saw(): void {
    if (this.#visible() > this.#applied) this.#sinceMs ??= this.#now();
  }

  /** Progress, or a state that was loaded afresh. */
  reached(revision: Revision): void {
    this.#applied = revision;
    this.#sinceMs = undefined;
    this.saw();
  }

  /** 0: everything that is known to be there was applied. */
  get ms(): number {
    return this.#sinceMs === undefined ? 0 : this.#now() - this.#sinceMs;
  }
}
