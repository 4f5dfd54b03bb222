import type pg from 'pg';
import { runTogether } from '../../util/concurrency.ts';
import { type Backoff, pause, pauseAfter } from '../../util/pause.ts';
import { StorageError } from '../errors.ts';
import { NO_REVISION, type Revision } from '../revision.ts';
import { type ChangeFeed, type ChangeSink, mayHaveMore } from '../revision-log.ts';
import type { Condition } from './condition.ts';
import type { KnownHistory } from './known-history.ts';
import type { PostgresReader, TailPage } from './reader.ts';
import { streamChanges } from './replication.ts';
import type { LoggedChange } from './rows.ts';
import { isTransient } from './statements.ts';
import { describeTrouble } from './trouble.ts';
import { VisibleChanges } from './visible-changes.ts';

/** What readiness and metrics show of the tail. */
export interface FeedState {
  readonly mode: 'starting' | 'streaming' | 'polling';
  readonly applied: Revision;
  /** From its commit until it was applied here, of the newest change. */
  readonly delayMs: number;
  /** Commits wait for standbys, and what the stream brings is held until it is visible. */
  readonly holds: boolean;
  /** Transactions that are held now. */
  readonly held: number;
  /** Why the slot could not be had, while polling. */
  readonly reason: string | undefined;
  /** Why changes do not even come by polling; undefined: they do. */
  readonly stalled: string | undefined;
}

const CATCH_UP_PAGE = 1000;
/** Between polls while no slot can be had: watches are that much slower, and the database hears from us four times a second. */
const POLL_MS = 250;
const POLLS: Backoff = { firstMs: POLL_MS, longestMs: 2000 };
/** Polling goes on between attempts, so they may be rare where there is no slot to be had at all. */
const RECONNECTS: Backoff = { firstMs: 500, longestMs: 5000 };

/**
 * The log as a stream, each change exactly once. The slot is disposable and the table is the truth: on every connection a
 * new slot is made, then the table is read from the last applied revision on, then the stream is followed, dropping what
 * the table already gave. Between the two, commits are waited for whose record was written before the slot began and which
 * are not visible yet: they are in neither. While no slot can be had, which includes the time its creation waits for open
 * transactions, the same query is polled. When that fails too, and not because the database is away, the feed ends.
 *
 * Each batch names the revision before it. One that follows what was not applied means that something is missing: the table is
 * read again, and where that does not have it either, the sink begins afresh.
 */
export class PostgresFeed implements ChangeFeed {
  readonly #reader: PostgresReader;
  readonly #clientConfig: () => Promise<pg.ClientConfig>;
  readonly #condition: Condition;
  readonly #history: KnownHistory;
  #state: FeedState = {
    mode: 'starting',
    applied: NO_REVISION,
    delayMs: 0,
    holds: false,
    held: 0,
    reason: undefined,
    stalled: undefined,
  };

  constructor(options: {
    reader: PostgresReader;
    clientConfig: () => Promise<pg.ClientConfig>;
    condition: Condition;
    history: KnownHistory;
  }) {
    this.#reader = options.reader;
    this.#history = options.history;
    this.#clientConfig = options.clientConfig;
    this.#condition = options.condition;
  }

  get state(): FeedState {
    return this.#state;
  }

  /** @throws what PostgreSQL said to a query that it does not answer */
  async run(from: Revision, sink: ChangeSink, signal: AbortSignal): Promise<void> {
    const broken = new AbortController();
    await this.#run(from, sink, { signal: AbortSignal.any([signal, broken.signal]), broken });
    if (broken.signal.aborted) throw broken.signal.reason;
  }

  async #run(from: Revision, sink: ChangeSink, { signal, broken }: Ending): Promise<void> {
    const position = new Position({
      reader: this.#reader,
      history: this.#history,
      sink,
      from,
      onApplied: (applied, committedAt) => {
        const delayMs = committedAt === undefined ? 0 : Math.max(0, Date.now() - committedAt.getTime());
        this.#state = { ...this.#state, applied, delayMs };
      },
    });
    let failures = 0;
    while (!signal.aborted) {
      const slot = new AbortController();
      const polled = this.#poll(position, { signal: AbortSignal.any([signal, slot.signal]), broken });
      try {
        await this.#stream(position, slot, { signal, broken });
      } catch (error) {
        if (!signal.aborted) this.#troubled(error);
      }
      failures = slot.signal.aborted ? 1 : failures + 1;
      await pause(pauseAfter(failures, RECONNECTS), signal);
      // What was polled meanwhile must be finished before another attempt moves the position.
      slot.abort();
      await polled;
    }
  }

  /** Until the stream breaks, or an epoch begins after what was applied: then only the table tells how to go on. */
  async #stream(position: Position, slot: AbortController, { signal, broken }: Ending): Promise<void> {
    const renewed = new AbortController();
    const forget = this.#history.onEpoch((epoch) => {
      if (position.applied < epoch) renewed.abort();
    });
    const visible = new VisibleChanges({
      reader: this.#reader,
      history: this.#history,
      deliver: (changes) => position.follow(changes),
      onState: (state) => {
        this.#state = { ...this.#state, ...state };
      },
    });
    const onSlot = async (): Promise<void> => {
      await visible.learn();
      await this.#reader.awaitCommits();
      slot.abort();
      await this.#catchUp(position, { signal, broken });
      this.#state = { ...this.#state, mode: 'streaming', reason: undefined };
      this.#condition.worked();
    };
    try {
      const config = await this.#clientConfig();
      const handlers = { onSlot, onChanges: (changes: readonly LoggedChange[]) => visible.take(changes) };
      const loops = [
        (either: AbortSignal) => visible.run(either),
        (either: AbortSignal) => streamChanges(config, handlers, either),
      ];
      await runTogether(loops, AbortSignal.any([signal, renewed.signal]));
    } finally {
      forget();
    }
    if (renewed.signal.aborted) await this.#catchUp(position, { signal, broken });
  }

  /** Until the slot is there, or nothing is to be had at all. */
  async #poll(position: Position, { signal, broken }: Ending): Promise<void> {
    await pause(POLL_MS, signal);
    let failures = 0;
    while (!signal.aborted) {
      const reason = this.#state.reason ?? 'waiting for a replication slot';
      this.#state = { ...this.#state, mode: 'polling', reason };
      failures = await this.#catchUp(position, { signal, broken }).then(
        () => 0,
        () => failures + 1,
      );
      await pause(failures === 0 ? POLL_MS : pauseAfter(failures, POLLS), signal);
    }
  }

  /** @throws what PostgreSQL or the sink said */
  async #catchUp(position: Position, { signal, broken }: Ending): Promise<void> {
    try {
      await position.catchUp(signal);
      this.#state = { ...this.#state, stalled: undefined };
    } catch (error) {
      this.#state = { ...this.#state, stalled: describeTrouble(error) };
      if (!isWorthAnotherTry(error)) broken.abort(error);
      throw error;
    }
  }

  #troubled(error: unknown): void {
    const reason = describeTrouble(error);
    this.#state = { ...this.#state, mode: 'polling', reason };
    this.#condition.failed(`${reason}; changes are polled`);
  }
}

interface Ending {
  readonly signal: AbortSignal;
  /** Aborted, with the reason, by who finds that there is no going on. */
  readonly broken: AbortController;
}

/** How far the sink has got, and whether the log still is the one it was read from. */
class Position {
  readonly #reader: PostgresReader;
  readonly #history: KnownHistory;
  readonly #sink: ChangeSink;
  readonly #onApplied: (revision: Revision, committedAt?: Date) => void;
  #applied: Revision;
  /** The write id of the row at `#applied`: after a failover the same number may belong to another write. */
  #writeId: string | undefined;
  #busy: Promise<void> = Promise.resolve();

  constructor(options: {
    reader: PostgresReader;
    history: KnownHistory;
    sink: ChangeSink;
    from: Revision;
    onApplied: (revision: Revision, committedAt?: Date) => void;
  }) {
    this.#reader = options.reader;
    this.#history = options.history;
    this.#sink = options.sink;
    this.#applied = options.from;
    this.#onApplied = options.onApplied;
    this.#onApplied(options.from);
  }

  get applied(): Revision {
    return this.#applied;
  }

  /** Changes of the stream. @throws Error when some are missing before them */
  follow(changes: readonly LoggedChange[]): void {
    const fresh = this.#fresh(changes);
    if (this.#isBefore(fresh[0]?.follows)) {
      throw new Error(`the replication stream left out changes after revision ${this.#applied}`);
    }
    const last = this.#apply(fresh);
    if (last !== undefined) this.#history.streamed(last);
  }

  /** Reads the table up to its end. Calls never overlap: the poller's and the slot's take turns. */
  catchUp(signal: AbortSignal): Promise<void> {
    const turn = this.#busy.then(() => this.#catchUp(signal));
    this.#busy = turn.catch(() => {});
    return turn;
  }

  async #catchUp(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const page = await this.#reader.tailPage(this.#applied, CATCH_UP_PAGE);
      const lost = this.#lostHistory(page);
      if (lost !== undefined) {
        await this.#reset(lost);
        continue;
      }
      if (this.#isDoubtful(page)) {
        // Either an epoch begins, or the row was not visible yet and is now.
        await this.#reader.keepEpoch({ revision: this.#applied, writeId: this.#writeId });
        continue;
      }
      this.#writeId ??= page.writeId;
      const last = this.#apply(this.#fresh(page.changes));
      if (last !== undefined) this.#history.saw(last);
      if (!mayHaveMore(page.changes, CATCH_UP_PAGE)) return;
    }
  }

  #apply(changes: readonly LoggedChange[]): LoggedChange | undefined {
    const last = changes.at(-1);
    if (last === undefined) return undefined;
    this.#sink.apply(changes);
    this.#applied = last.revision;
    this.#writeId = last.writeId;
    this.#onApplied(last.revision, last.committedAt);
    return last;
  }

  #fresh(changes: readonly LoggedChange[]): readonly LoggedChange[] {
    return changes.filter(({ revision }) => revision > this.#applied);
  }

  #isBefore(revision: Revision | undefined): boolean {
    return revision !== undefined && this.#applied < revision;
  }

  /** Does the page go on from what was applied? It and the compacted revision are of one snapshot. */
  #lostHistory({ changes, compacted, epoch }: TailPage): 'compacted' | 'rewound' | undefined {
    if (this.#applied < epoch) return 'rewound';
    if (this.#applied < compacted) return 'compacted';
    return this.#isBefore(changes[0]?.follows) ? 'rewound' : undefined;
  }

  /**
   * Rows above the compacted revision are deleted by nobody, so one that is gone, or belongs to another write, means that the
   * database has lost commits, or that what the stream brought is not visible yet.
   */
  #isDoubtful({ compacted, epoch, writeId }: TailPage): boolean {
    if (this.#applied === compacted || this.#applied === epoch) return false;
    return writeId === undefined || (this.#writeId !== undefined && writeId !== this.#writeId);
  }

  async #reset(reason: 'compacted' | 'rewound'): Promise<void> {
    this.#applied = await this.#sink.reset(reason);
    this.#writeId = undefined;
    this.#onApplied(this.#applied);
  }
}

const isWorthAnotherTry = (error: unknown): boolean =>
  isTransient(error) || (error instanceof StorageError && error.failure.kind === 'unavailable');
