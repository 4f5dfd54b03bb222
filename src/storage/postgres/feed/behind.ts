import { NO_REVISION, type Revision } from '../../revision.ts';

/** Behind measures for how long nothing was applied of what the database shows. */
export class Behind {
  readonly #visible: () => Revision;
  readonly #now: () => number;
  /** Up to here nothing is missing: applied, or perhaps lost by the log. */
  #counted: Revision = NO_REVISION;
  #sinceMs: number | undefined;

  /** `visible` returns how far the database is known to show the log, `now` a clock that is never set. */
  constructor(visible: () => Revision, now: () => number = () => performance.now()) {
    this.#visible = visible;
    this.#now = now;
  }

  /** Notes that more became visible. */
  saw(): void {
    if (this.#visible() > this.#counted) this.#sinceMs ??= this.#now();
  }

  reached(revision: Revision): void {
    if (revision > this.#counted) this.#counted = revision;
    this.#sinceMs = undefined;
    this.saw();
  }

  /** Notes that the state was loaded afresh. */
  began(revision: Revision): void {
    this.#counted = this.#visible();
    this.reached(revision);
  }

  /** 0 when everything known to be visible was applied. */
  get ms(): number {
    return this.#sinceMs === undefined ? 0 : this.#now() - this.#sinceMs;
  }
}
