import { NO_REVISION, type Revision } from '../revision.ts';

/** For how long what the database shows has not been applied here, while nothing of it is. */
export class Behind {
  readonly #visible: () => Revision;
  readonly #now: () => number;
  /** What was visible before does not count: the log may have lost it. */
  #counted: Revision = NO_REVISION;
  #sinceMs: number | undefined;

  /** `visible`: as far as the database is known to show the log. `now`: of a clock that is never set. */
  constructor(visible: () => Revision, now: () => number = () => performance.now()) {
    this.#visible = visible;
    this.#now = now;
  }

  /** More became visible. */
  saw(): void {
    if (this.#visible() > this.#counted) this.#sinceMs ??= this.#now();
  }

  reached(revision: Revision): void {
    if (revision > this.#counted) this.#counted = revision;
    this.#sinceMs = undefined;
    this.saw();
  }

  /** The state was loaded afresh. */
  began(revision: Revision): void {
    this.#counted = this.#visible();
    this.reached(revision);
  }

  /** 0: everything that is known to be there was applied. */
  get ms(): number {
    return this.#sinceMs === undefined ? 0 : this.#now() - this.#sinceMs;
  }
}
