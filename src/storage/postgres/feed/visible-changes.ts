import { type Backoff, pause, pauseAfter } from '../../../util/pause.ts';
import { NO_REVISION, type Revision } from '../../revision.ts';
import type { KnownHistory } from '../fencing/known-history.ts';
import type { PostgresReader } from '../read/reader.ts';
import type { LoggedChange } from '../read/rows.ts';

/** Between looks whether a commit is visible: with a standby near by it takes a millisecond, with a lost one for ever. */
const QUESTIONS: Backoff = { firstMs: 1, longestMs: 200 };
/** Failed looks in a row; meanwhile changes are held without end. */
const MAX_FAILURES = 5;

interface HoldingState {
  readonly holds?: boolean;
  readonly held?: number;
}

/**
 * VisibleChanges shows nothing of the stream that the database does not show. PostgreSQL streams a commit when its record is
 * written, which is before the standbys have it where commits wait for those (synchronous_standby_names): other servers would not
 * see yet what is seen here, and a promotion might lose it, which is why the writer is not answered before. No setting of
 * PostgreSQL 14 to 18 holds a temporary slot back. Such changes are held here until a commit, a read or a look of this server has
 * found the log beyond them.
 *
 * Where commits wait for no standby, changes of the primary pass at once: they are visible a moment after their record. Those that
 * a standby streams are always held: only the primary can say whether they are its own.
 */
export class VisibleChanges {
  readonly #reader: PostgresReader;
  readonly #history: KnownHistory;
  readonly #deliver: (changes: readonly LoggedChange[]) => void;
  readonly #onState: (state: HoldingState) => void;
  readonly #holdsAlways: boolean;
  /** Commits wait for standbys, or a standby streams. */
  #isHolding = false;
  /** Transactions in order. */
  #held: (readonly LoggedChange[])[] = [];
  #isOver = false;
  #wake: () => void = () => {};

  /** `deliver` gets the changes of a transaction, `onState` what changes of the state. */
  constructor(options: {
    reader: PostgresReader;
    history: KnownHistory;
    /** Holds also where commits wait for no standby. */
    holdsAlways: boolean;
    deliver: (changes: readonly LoggedChange[]) => void;
    onState: (state: HoldingState) => void;
  }) {
    this.#reader = options.reader;
    this.#history = options.history;
    this.#deliver = options.deliver;
    this.#onState = options.onState;
    this.#holdsAlways = options.holdsAlways;
  }

  /** Holds changes from now on where commits wait for standbys. Called before the first changes, and now and then. */
  learn(waits: boolean): void {
    const holds = this.#holdsAlways || waits;
    if (holds !== this.#isHolding) this.#onState({ holds });
    this.#isHolding = holds;
  }

  /** Takes the inserts of one transaction. @throws what `deliver` throws */
  take(changes: readonly LoggedChange[]): void {
    // A stream that ends may bring some more; the next one begins with the table.
    if (this.#isOver) return;
    if (!this.#isHolding && this.#held.length === 0) {
      this.#deliver(changes);
      return;
    }
    this.#held.push(changes);
    this.#release();
    this.#wake();
  }

  /** Runs until the signal aborts. @throws what `deliver` throws, and what PostgreSQL says again and again */
  async run(signal: AbortSignal): Promise<void> {
    const broken = new AbortController();
    const forget = this.#history.onVisible(() => {
      try {
        this.#release();
      } catch (error) {
        broken.abort(error);
      }
    });
    const either = AbortSignal.any([signal, broken.signal]);
    either.addEventListener('abort', () => this.#wake(), { once: true });
    try {
      await this.#keepAsking(either, broken);
    } finally {
      forget();
      this.end();
      this.#onState({ holds: false });
    }
    if (broken.signal.aborted) throw broken.signal.reason;
  }

  /** Drops what is held. */
  end(): void {
    this.#isOver = true;
    this.#held = [];
    this.#onState({ held: 0 });
  }

  #release(): void {
    if (this.#held.length === 0) return;
    const last = this.#held.findLastIndex((changes) => this.#history.isVisible(lastOf(changes)));
    for (const changes of this.#held.splice(0, last + 1)) this.#deliver(changes);
    this.#onState({ held: this.#held.length });
  }

  async #keepAsking(signal: AbortSignal, broken: AbortController): Promise<void> {
    while (!signal.aborted) {
      if (this.#held.length === 0) await this.#somethingHeld();
      else await this.#ask(signal, broken);
    }
  }

  #somethingHeld(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** Looks until the first held transaction is visible. */
  async #ask(signal: AbortSignal, broken: AbortController): Promise<void> {
    const [first] = this.#held;
    let failures = 0;
    for (let asked = 1; !signal.aborted; asked += 1) {
      await pause(pauseAfter(asked, QUESTIONS), signal);
      if (this.#held[0] !== first || signal.aborted) return;
      failures = await this.#reader.findVisible().then(
        () => 0,
        (error: unknown) => {
          if (failures + 1 >= MAX_FAILURES) broken.abort(error);
          return failures + 1;
        },
      );
    }
  }
}

/** All of a transaction becomes visible at once. */
const lastOf = (changes: readonly LoggedChange[]): Revision => changes.at(-1)?.revision ?? NO_REVISION;
