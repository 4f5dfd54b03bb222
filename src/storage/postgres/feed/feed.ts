import { runTogether } from '../../../util/concurrency.ts';
import { type Backoff, pause, pauseAfter } from '../../../util/pause.ts';
import { StorageError } from '../../errors.ts';
import { NO_REVISION, type Revision } from '../../revision.ts';
import type { ChangeFeed, ChangeSink } from '../../revision-log.ts';
import type { ClusterSchema } from '../connection/cluster-schema.ts';
import type { Condition } from '../connection/condition.ts';
import { isRefusal, isTransient } from '../connection/statements.ts';
import { describeTrouble } from '../connection/trouble.ts';
import type { KnownHistory } from '../fencing/known-history.ts';
import type { PostgresReader } from '../read/reader.ts';
import type { LoggedChange } from '../read/rows.ts';
import { Behind } from './behind.ts';
import type { CommitBell } from './commit-bell.ts';
import { bridgeLags } from './lag-bridge.ts';
import { Poller } from './poller.ts';
import { PublicationTrouble } from './publication.ts';
import { streamChanges } from './replication.ts';
import { ReplicationDenied } from './replication-right.ts';
import { StandbySnapshots } from './standby-snapshots.ts';
import { TailPosition } from './tail-position.ts';
import type { TailSource, TailSources } from './tail-source.ts';
import { VisibleChanges } from './visible-changes.ts';

/** What readiness and metrics show of the tail. */
export interface FeedState {
  readonly mode: 'starting' | 'streaming' | 'polling';
  /** The host that streams: `primary`, or `host:port` of a read server; undefined without a stream. */
  readonly source: string | undefined;
  readonly applied: Revision;
  /** From the commit of the newest change until it was applied here. */
  readonly delayMs: number;
  /** Changes are held until visible: commits wait for standbys, or a standby streams. */
  readonly holds: boolean;
  /** Transactions that are held now. */
  readonly held: number;
  /** Why the slot could not be had, while polling. */
  readonly reason: string | undefined;
  /** Why the table cannot be read either; undefined when it can. */
  readonly stalled: string | undefined;
  /** For how long nothing was applied of what the database shows; 0 when nothing is missing. */
  readonly behindMs: number;
  /** A statement in SQL that would let changes be streamed rather than polled, if known. */
  readonly remedy: string | undefined;
}

/** Polling goes on between attempts, so they may be rare where no slot can be had. */
const RECONNECTS: Backoff = { firstMs: 500, longestMs: 5000 };

/**
 * PostgresFeed delivers the log as a stream of changes, each exactly once, in the order of revisions.
 *
 * The slot is disposable and the table is the truth. Each connection makes a temporary slot, then reads the table from the last
 * applied revision on, then follows the stream and drops what the table already gave. Between slot and table it waits for commits
 * whose record was written before the slot began and which are not visible yet: they are in neither. A permanent slot would save
 * reading the table, but was rejected: the slot of a dead server keeps WAL until the disk is full.
 *
 * While there is no slot, the feed polls the same query: making a slot waits for all open transactions, and a host may have none to
 * give. Watches get slower then, but do not stop. The feed ends only when the table cannot be read for another reason than an
 * absent database.
 *
 * The feed asks the primary for a slot first. If it refuses, a standby may have one: its stream is the same, later, and ends when
 * the standby is promoted or follows another host. A standby is trusted only for the order and content of changes.
 *
 * - No change is missing. Each batch names the revision before it. When that was not applied, the table is read again; when the
 *   table lacks it too, the sink begins afresh (TailPosition).
 * - No change is shown before the primary shows it (VisibleChanges). Applying the stream at once was rejected: where commits wait
 *   for standbys, this server was ahead of what others read, and of what a promotion keeps.
 * - What the primary shows arrives, also when the stream lacks it: bridgeLags reads it from the primary's table.
 * - An epoch that begins after what was applied ends the stream: then only the table says how to go on.
 */
export class PostgresFeed implements ChangeFeed {
  readonly #reader: PostgresReader;
  readonly #sources: TailSources;
  readonly #condition: Condition;
  readonly #tell: (line: string) => void;
  readonly #history: KnownHistory;
  readonly #schema: ClusterSchema | undefined;
  readonly #poller: Poller;
  readonly #behind: Behind;
  /** Logged once: replication denied on purpose is no lasting trouble. */
  #logsPolling = true;
  #state: Omit<FeedState, 'behindMs'> = {
    mode: 'starting',
    source: undefined,
    applied: NO_REVISION,
    delayMs: 0,
    holds: false,
    held: 0,
    reason: undefined,
    stalled: undefined,
    remedy: undefined,
  };

  constructor(options: {
    reader: PostgresReader;
    sources: TailSources;
    condition: Condition;
    history: KnownHistory;
    schema: ClusterSchema | undefined;
    bell: Pick<CommitBell, 'isHeard' | 'run'>;
    /** Logs one line, of what may last. */
    tell: (line: string) => void;
  }) {
    this.#reader = options.reader;
    this.#history = options.history;
    this.#schema = options.schema;
    this.#sources = options.sources;
    this.#condition = options.condition;
    this.#tell = options.tell;
    this.#poller = new Poller(options.bell);
    this.#behind = new Behind(() => this.#history.visible);
  }

  get state(): FeedState {
    return { ...this.#state, behindMs: this.#behind.ms };
  }

  /** @throws what PostgreSQL said, when trying again cannot help */
  async run(from: Revision, sink: ChangeSink, signal: AbortSignal): Promise<void> {
    const broken = new AbortController();
    const forget = this.#history.onVisible(() => this.#behind.saw());
    const ending = { signal: AbortSignal.any([signal, broken.signal]), broken };
    await this.#run(from, sink, ending).finally(forget);
    if (broken.signal.aborted) throw broken.signal.reason;
  }

  hurry(): void {
    this.#poller.hurry();
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
        if (committedAt === undefined) this.#behind.began(applied);
        else this.#behind.reached(applied);
      },
    });
    while (!signal.aborted) {
      const slot = new AbortController();
      const polls = AbortSignal.any([signal, slot.signal]);
      const polled = this.#poller.run({
        signal: polls,
        poll: () => this.#poll(position, { signal: polls, broken }),
      });
      for (let failures = 1; !slot.signal.aborted && !signal.aborted; failures += 1) {
        try {
          await this.#stream(position, slot, { signal, broken });
        } catch (error) {
          if (!signal.aborted) this.#troubled(error);
        }
        await pause(pauseAfter(slot.signal.aborted ? 1 : failures, RECONNECTS), signal);
      }
      await polled;
    }
  }

  /** Streams from the primary, or from a standby where the primary gives no slot, until the stream breaks. */
  async #stream(position: TailPosition, slot: AbortController, ending: Ending): Promise<void> {
    const { primary, standbys } = this.#sources;
    // Without the primary, nothing says what a standby may show.
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
        // A lost connection is no refusal: the next may be in order.
        if (!source.isStandby && !isRefusal(error)) throw error;
        refusals.push(
          source.isStandby ? new Error(`read server ${source.name}: ${describeTrouble(error)}`) : error,
        );
      }
    }
    throw refusals.length === 1 ? refusals[0] : new AggregateError(refusals);
  }

  /** Streams until it breaks, or an epoch begins after what was applied: then only the table says how to go on. */
  async #streamFrom(attempt: Attempt, ending: Ending): Promise<void> {
    const { source, position } = attempt;
    const renewed = new AbortController();
    const visible = this.#visibleChanges(attempt);
    const beginAnew = (): void => {
      visible.end();
      renewed.abort();
    };
    const forget = this.#history.onEpoch((epoch) => {
      if (position.applied < epoch) beginAnew();
    });
    const forgetSource = source.onReplaced?.(beginAnew);
    try {
      const loops = await this.#loopsOf(attempt, visible, ending);
      await runTogether(loops, AbortSignal.any([ending.signal, renewed.signal]));
    } finally {
      forget();
      forgetSource?.();
      this.#state = { ...this.#state, source: undefined };
    }
    if (renewed.signal.aborted) await this.#catchUp(position, ending);
  }

  #visibleChanges({ source, position }: Attempt): VisibleChanges {
    return new VisibleChanges({
      reader: this.#reader,
      history: this.#history,
      holdsAlways: source.isStandby,
      deliver: (changes) => position.follow(changes),
      onState: (state) => {
        this.#state = { ...this.#state, ...state };
      },
    });
  }

  /** What runs while changes are streamed; the end of one loop is that of all. */
  async #loopsOf(attempt: Attempt, visible: VisibleChanges, ending: Ending): Promise<readonly Loop[]> {
    const { source, position, slot } = attempt;
    const config = await source.clientConfig();
    const handlers = {
      ...{ schema: this.#schema, check: source.check },
      onSlot: () => this.#beginStream(attempt, visible, ending),
      onChanges: (changes: readonly LoggedChange[]) => visible.take(changes),
    };
    const bridge = {
      ...{ reader: this.#reader, history: this.#history, position, source },
      streams: () => this.#state.source !== undefined,
      onShown: (waits: boolean) => visible.learn(waits),
    };
    const snapshots = new StandbySnapshots(this.#reader, slot.signal);
    return [
      (either) => visible.run(either),
      (either) => streamChanges(config, handlers, either),
      (either) => {
        const catchUp = (): Promise<void> => this.#catchUp(position, { ...ending, signal: either });
        return bridgeLags({ ...bridge, catchUp }, either);
      },
      ...(source.isStandby ? [(either: AbortSignal) => snapshots.run(either)] : []),
    ];
  }

  /** Reads the table up to the slot, from which on changes are streamed. */
  async #beginStream(
    { source, position, slot, onStream }: Attempt,
    visible: VisibleChanges,
    ending: Ending,
  ): Promise<void> {
    visible.learn(await this.#reader.findVisible());
    await this.#reader.awaitCommits();
    slot.abort();
    await this.#catchUp(position, ending);
    const streaming = { mode: 'streaming', reason: undefined, remedy: undefined } as const;
    this.#state = { ...this.#state, ...streaming, source: source.name };
    this.#condition.worked();
    onStream();
  }

  #poll(position: TailPosition, ending: Ending): Promise<void> {
    const reason = this.#state.reason ?? 'waiting for a replication slot';
    this.#state = { ...this.#state, mode: 'polling', reason };
    return this.#catchUp(position, ending);
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
    const remedy = error instanceof PublicationTrouble ? error.statement : undefined;
    this.#state = { ...this.#state, mode: 'polling', reason, remedy };
    if (!(error instanceof ReplicationDenied)) this.#condition.failed(`${reason}; changes are polled`);
    else if (this.#logsPolling) this.#tell(`changes are polled: ${reason}`);
    this.#logsPolling = !(error instanceof ReplicationDenied);
  }
}

type Loop = (signal: AbortSignal) => Promise<void>;

interface Ending {
  readonly signal: AbortSignal;
  /** Aborted with the error that ends the feed. */
  readonly broken: AbortController;
}

interface Attempt {
  readonly source: TailSource;
  readonly position: TailPosition;
  /** Aborted when the slot exists. */
  readonly slot: AbortController;
  onStream(): void;
}

/** A missing table is not waited for: the service that runs the feed restarts it, and ends the server after some failures. */
function isWorthAnotherTry(error: unknown): boolean {
  if (!(error instanceof StorageError)) return isTransient(error);
  const { failure } = error;
  return failure.kind === 'unavailable' && failure.because !== 'schema';
}
