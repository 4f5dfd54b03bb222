import { runTogether } from '../../util/concurrency.ts';
import { type Backoff, pause, pauseAfter, Rest } from '../../util/pause.ts';
import { StorageError } from '../errors.ts';
import { NO_REVISION, type Revision } from '../revision.ts';
import type { ChangeFeed, ChangeSink } from '../revision-log.ts';
import type { ClusterSchema } from './cluster-schema.ts';
import type { Condition } from './condition.ts';
import type { KnownHistory } from './known-history.ts';
import type { PostgresReader } from './reader.ts';
import { streamChanges } from './replication.ts';
import type { LoggedChange } from './rows.ts';
import { StandbySnapshots } from './standby-snapshots.ts';
import { isRefusal, isTransient } from './statements.ts';
import { TailPosition } from './tail-position.ts';
import type { TailSource, TailSources } from './tail-source.ts';
import { describeTrouble } from './trouble.ts';
import { VisibleChanges } from './visible-changes.ts';

/** What readiness and metrics show of the tail. */
export interface FeedState {
  readonly mode: 'starting' | 'streaming' | 'polling';
  /** Who streams: `primary`, or `host:port` of a read server. Undefined: nobody does. */
  readonly source: string | undefined;
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

/** Between polls while no slot can be had: watches are that much slower, and the database hears from us four times a second. */
const POLL_MS = 250;
/** Between polls while reads wait for what they bring. */
const HURRIED_POLL_MS = 20;
const POLLS: Backoff = { firstMs: POLL_MS, longestMs: 2000 };
/** Polling goes on between attempts, so they may be rare where there is no slot to be had at all. */
const RECONNECTS: Backoff = { firstMs: 500, longestMs: 5000 };
/** What a standby that streams may lack of what the primary shows: fresh reads wait for it. */
const LAG_MS = 500;
/** Without a change of the stream in between; then another host may do better. */
const MAX_LAGS = 10;

/**
 * The log as a stream, each change exactly once. The slot is disposable and the table is the truth: on every connection a
 * new slot is made, then the table is read from the last applied revision on, then the stream is followed, dropping what
 * the table already gave. Between the two, commits are waited for whose record was written before the slot began and which
 * are not visible yet: they are in neither. While no slot can be had, which includes the time its creation waits for open
 * transactions, the same query is polled. When that fails too, and not because the database is away, the feed ends.
 *
 * The primary is asked for a slot first: it is nearest to what it shows. Where it has none to give, a standby may have: its stream
 * is the same, later, and ends where the standby is promoted or follows another. So it is only told in which order changes come and
 * what they are; that they may be shown, the primary says of each (VisibleChanges), and what a standby lacks is read from the
 * primary's table.
 *
 * Each batch names the revision before it. One that follows what was not applied means that something is missing: the table is
 * read again, and where that does not have it either, the sink begins afresh.
 */
export class PostgresFeed implements ChangeFeed {
  readonly #reader: PostgresReader;
  readonly #sources: TailSources;
  readonly #condition: Condition;
  readonly #tell: (line: string) => void;
  readonly #history: KnownHistory;
  readonly #schema: ClusterSchema | undefined;
  readonly #untilPoll = new Rest();
  #state: FeedState = {
    mode: 'starting',
    source: undefined,
    applied: NO_REVISION,
    delayMs: 0,
    holds: false,
    held: 0,
    reason: undefined,
    stalled: undefined,
  };

  constructor(options: {
    reader: PostgresReader;
    sources: TailSources;
    condition: Condition;
    history: KnownHistory;
    schema: ClusterSchema | undefined;
    /** One line for the log, of what may last. */
    tell: (line: string) => void;
  }) {
    this.#reader = options.reader;
    this.#history = options.history;
    this.#schema = options.schema;
    this.#sources = options.sources;
    this.#condition = options.condition;
    this.#tell = options.tell;
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

  hurry(): void {
    this.#untilPoll.cutShort();
  }

  async #run(from: Revision, sink: ChangeSink, { signal, broken }: Ending): Promise<void> {
    const position = new TailPosition({
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

  /** From the primary, or from a standby where the primary gives no slot, until the stream breaks. */
  async #stream(position: TailPosition, slot: AbortController, ending: Ending): Promise<void> {
    const { primary, standbys } = this.#sources;
    // Where the primary cannot be reached, there is nobody to say what a standby may show.
    const config = await primary.clientConfig();
    const refusals: unknown[] = [];
    for (const source of [{ ...primary, clientConfig: async () => config }, ...standbys()]) {
      const why = refusals.map(describeTrouble).join('; ');
      const onStream = (): void => {
        if (source.isStandby) this.#tell(`read server ${source.name} streams changes: ${why}`);
      };
      try {
        await this.#streamFrom({ source, position, slot, onStream }, ending);
        return;
      } catch (error) {
        if (slot.signal.aborted || ending.signal.aborted) throw error;
        // A connection that was lost is no refusal: the next may be in order.
        if (!source.isStandby && !isRefusal(error)) throw error;
        refusals.push(
          source.isStandby ? new Error(`read server ${source.name}: ${describeTrouble(error)}`) : error,
        );
      }
    }
    throw refusals.length === 1 ? refusals[0] : new AggregateError(refusals);
  }

  /** Until the stream breaks, or an epoch begins after what was applied: then only the table tells how to go on. */
  async #streamFrom({ source, position, slot, onStream }: Attempt, ending: Ending): Promise<void> {
    const renewed = new AbortController();
    const visible = new VisibleChanges({
      reader: this.#reader,
      history: this.#history,
      holdsAlways: source.isStandby,
      deliver: (changes) => position.follow(changes),
      onState: (state) => {
        this.#state = { ...this.#state, ...state };
      },
    });
    const begin = (): void => {
      visible.end();
      renewed.abort();
    };
    const forget = this.#history.onEpoch((epoch) => {
      if (position.applied < epoch) begin();
    });
    const forgetSource = source.onReplaced?.(begin);
    const onSlot = async (): Promise<void> => {
      await visible.learn();
      await this.#reader.awaitCommits();
      slot.abort();
      await this.#catchUp(position, ending);
      this.#state = { ...this.#state, mode: 'streaming', source: source.name, reason: undefined };
      this.#condition.worked();
      onStream();
    };
    try {
      const config = await source.clientConfig();
      const handlers = {
        ...{ schema: this.#schema, check: source.check, onSlot },
        onChanges: (changes: readonly LoggedChange[]) => visible.take(changes),
      };
      const snapshots = new StandbySnapshots(this.#reader, slot.signal);
      const loops = [
        (either: AbortSignal) => visible.run(either),
        (either: AbortSignal) => streamChanges(config, handlers, either),
        ...(source.isStandby
          ? [
              (either: AbortSignal) => snapshots.run(either),
              (either: AbortSignal) => this.#bridgeLags(position, { ...ending, signal: either }),
            ]
          : []),
      ];
      await runTogether(loops, AbortSignal.any([ending.signal, renewed.signal]));
    } finally {
      forget();
      forgetSource?.();
      this.#state = { ...this.#state, source: undefined };
    }
    if (renewed.signal.aborted) await this.#catchUp(position, ending);
  }

  /** Reads from the primary's table what it shows and the stream of a standby has not brought. @throws Error when it lags for long */
  async #bridgeLags(position: TailPosition, ending: Ending): Promise<void> {
    const { signal } = ending;
    let lags = 0;
    let streamed = position.followed;
    while (!signal.aborted) {
      // Where the primary does not answer, nothing is known to be missing.
      await this.#reader.findVisible().catch(() => {});
      const shown = this.#history.visible;
      await pause(LAG_MS, signal);
      if (signal.aborted) return;
      if (position.followed > streamed) lags = 0;
      streamed = position.followed;
      if (this.#state.source === undefined || position.applied >= shown) continue;
      lags += 1;
      if (lags > MAX_LAGS) throw new Error('the standby that streams lags');
      await this.#catchUp(position, ending);
    }
  }

  /** Until the slot is there, or nothing is to be had at all. */
  async #poll(position: TailPosition, { signal, broken }: Ending): Promise<void> {
    await pause(POLL_MS, signal);
    let failures = 0;
    while (!signal.aborted) {
      const reason = this.#state.reason ?? 'waiting for a replication slot';
      this.#state = { ...this.#state, mode: 'polling', reason };
      failures = await this.#catchUp(position, { signal, broken }).then(
        () => 0,
        () => failures + 1,
      );
      if (failures > 0) await pause(pauseAfter(failures, POLLS), signal);
      else await this.#untilPoll.take({ leastMs: HURRIED_POLL_MS, mostMs: POLL_MS }, signal);
    }
  }

  /** @throws what PostgreSQL or the sink said */
  async #catchUp(position: TailPosition, { signal, broken }: Ending): Promise<void> {
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

interface Attempt {
  readonly source: TailSource;
  readonly position: TailPosition;
  /** Aborted when the slot is there. */
  readonly slot: AbortController;
  onStream(): void;
}

const isWorthAnotherTry = (error: unknown): boolean =>
  isTransient(error) || (error instanceof StorageError && error.failure.kind === 'unavailable');
