import { type Backoff, pause, pauseAfter } from '../../util/pause.ts';
import { NO_REVISION, type Revision } from '../revision.ts';
import type { KnownHistory } from './known-history.ts';
import type { PostgresReader } from './reader.ts';
import type { LoggedChange } from './rows.ts';

/** How soon it is noticed that PostgreSQL has begun to wait for standbys. */
const SETTING_MS = 1000;
/** Between questions whether a commit has become visible: a standby near by takes a millisecond, one that is gone for ever. */
const QUESTIONS: Backoff = { firstMs: 1, longestMs: 200 };
/** Questions without an answer, in a row. What the stream brings meanwhile would be kept here without end. */
const MAX_FAILURES = 5;

interface HoldingState {
  readonly holds?: boolean;
  readonly held?: number;
}

/**
 * Shows nothing of the stream that the database does not show. PostgreSQL streams a commit when its record is written, which is
 * before the standbys have it where commits wait for those (synchronous_standby_names): others would not see yet what is seen here,
 * and a promotion might lose it, which is why the writer is not answered before. No setting of PostgreSQL 14 to 18 holds a
 * temporary slot back. Such changes are held here until a commit of ours, a read of ours, or a question has found the log beyond them.
 *
 * Where nobody waits for standbys, changes of the primary pass at once: between the record and its visibility there is only a
 * moment then. Those that a standby streams never do: whether they are the primary's, only the primary can say.
 */
export class VisibleChanges {
  readonly #reader: PostgresReader;
  readonly #history: KnownHistory;
  readonly #deliver: (changes: readonly LoggedChange[]) => void;
  readonly #onState: (state: HoldingState) => void;
  readonly #holdsAlways: boolean;
  /** Commits wait for standbys, or a standby streams. */
  #isHolding = false;
  /** Transactions in their order. */
  #held: (readonly LoggedChange[])[] = [];
  #isOver = false;
  #wake: () => void = () => {};

  /** `deliver` gets the changes of a transaction; `onState` is told what changes. */
  constructor(options: {
    reader: PostgresReader;
    history: KnownHistory;
    /** Also where nobody waits for standbys. */
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

  /** Before the first changes, and again now and then. @throws what PostgreSQL said */
  async learn(): Promise<void> {
    const waits = this.#holdsAlways || (await this.#reader.waitsForStandbys());
    if (waits !== this.#isHolding) this.#onState({ holds: waits });
    this.#isHolding = waits;
  }

  /** The inserts of one transaction. @throws what `deliver` throws */
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

  /** Until the signal aborts. @throws what `deliver` throws, and what PostgreSQL says to the question again and again */
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
      await Promise.all([this.#keepLearning(either), this.#keepAsking(either, broken)]);
    } finally {
      forget();
      this.end();
      this.#onState({ holds: false });
    }
    if (broken.signal.aborted) throw broken.signal.reason;
  }

  /** What is held is never shown. */
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

  async #keepLearning(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await pause(SETTING_MS, signal);
      // What is held or not stays so while nothing else is known.
      if (!signal.aborted) await this.learn().catch(() => {});
    }
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

  /** Until what is held first is visible. */
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

/** Of a transaction, all of which becomes visible at once. */
const lastOf = (changes: readonly LoggedChange[]): Revision => changes.at(-1)?.revision ?? NO_REVISION;
