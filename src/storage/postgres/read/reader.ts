import { type GroupResource, toQualifiedResource } from '../../../api/names.ts';
import { failureOf, StorageError } from '../../errors.ts';
import { type ObjectKey, parsePosition, type Scope } from '../../key.ts';
import type { ResourceSet } from '../../resource-set.ts';
import { NO_REVISION, type Revision, toRevision } from '../../revision.ts';
import type {
  ChangeQuery,
  ChangeWithPrevious,
  HistoricalList,
  HistoricalPage,
  RevisionReader,
  StoredObject,
} from '../../revision-log.ts';
import type { DatabaseSource } from '../connection/connection.ts';
import type { Prepared, Queryable } from '../connection/prepared.ts';
import { rethrow } from '../connection/statements.ts';
import type { KnownHistory } from '../fencing/known-history.ts';
import type { KnownRow } from '../fencing/known-row.ts';
import type { Lease } from '../fencing/primary-lease.ts';
import { copyLive, type LoadConnection } from './load.ts';
import { COUNT_AT, LIST_AT } from './past-queries.ts';
import {
  AWAIT_COMMITS,
  CHANGES,
  COMPACTED_REVISION,
  CURRENT_REVISION,
  GET,
  LOG_SNAPSHOT,
  MAY_LOG_SNAPSHOT,
  TAIL_PAGE,
} from './queries.ts';
import type { ReadServers } from './read-servers.ts';
import { type ChangeRow, type LoggedChange, toChange, toChangeWithPrevious, toStoredObject } from './rows.ts';
import type { Wanted } from './standby.ts';

/** A page of the log as the tail reads it, with what shows whether it still is the log that was read before. */
export interface TailPage {
  readonly changes: readonly LoggedChange[];
  readonly compacted: Revision;
  /** The present epoch begins after this revision. */
  readonly epoch: Revision;
  /** The write id of the row the page begins after; undefined when there is no such row. */
  readonly writeId: string | undefined;
}

/** Each has connections of its own, so that slow work does not hold up fast. */
interface ReaderSources {
  /** For the log's position. */
  readonly fresh: DatabaseSource;
  /** For the feed. */
  readonly tail: DatabaseSource;
  /** For the past, and for single objects. */
  readonly replay: DatabaseSource;
  connectToLoad(): Promise<LoadConnection>;
  /** Asked first for the past, and for loads. */
  readonly readServers: ReadServers;
}

type Begin = (revision: Revision) => void;
type TakeBatch = (objects: readonly StoredObject[]) => void;

/** Runs a statement where history is read. */
type Run = <Values, Row>(statement: Prepared<Values, Row>, values: Values) => Promise<Row[]>;

const VISIBLE_TRIES = 3;

export class PostgresReader implements RevisionReader {
  readonly #sources: ReaderSources;
  readonly #history: KnownHistory;
  readonly #lease: Lease | undefined;
  #settling: Promise<void> | undefined;

  /** Without `lease`, what the primary shows is the newest. */
  constructor(sources: ReaderSources, history: KnownHistory, lease?: Lease) {
    this.#sources = sources;
    this.#history = history;
    this.#lease = lease;
  }

  async currentRevision(): Promise<Revision> {
    const position = await this.#readPosition();
    if (position.isDoubtful) await this.keepEpoch();
    const { revision } = position.isDoubtful ? await this.#readPosition() : position;
    this.#lease?.assert();
    return revision;
  }

  /** A log that ends before what was seen in it has lost commits, or is another one. */
  async #readPosition(
    source: DatabaseSource = this.#sources.fresh,
  ): Promise<{ revision: Revision; isDoubtful: boolean; waits: boolean }> {
    const seen = String(this.#history.seen?.revision ?? NO_REVISION);
    const [row] = await this.#run(CURRENT_REVISION, { seen }, source);
    if (row === undefined) throw new Error('the database has no epoch: run pg-apiserver migrate');
    const revision = toRevision(row.revision);
    const isDoubtful = row.moved === 't' || revision < (this.#history.seen?.revision ?? NO_REVISION);
    if (!isDoubtful) this.#history.readUpTo(revision, toRevision(row.epoch));
    return { revision, isDoubtful, waits: row.waits === 't' };
  }

  /** As {@link KnownHistory.keepEpoch}. */
  async keepEpoch(row?: KnownRow): Promise<Revision> {
    const { pool } = await this.#sources.tail().catch(rethrow);
    return this.#history.keepEpoch(pool, row).catch(rethrow);
  }

  /** Resolves when everything committed before the call is visible; a commit may wait for a standby until then. */
  async awaitCommits(): Promise<void> {
    await this.#run(AWAIT_COMMITS, {}, this.#sources.tail);
  }

  /**
   * Reads how far the log is visible, for {@link KnownHistory}. Returns whether commits wait for standbys before they are visible,
   * while the stream brings them already.
   */
  async findVisible(): Promise<boolean> {
    const { isDoubtful, waits } = await this.#readPosition(this.#sources.tail);
    if (isDoubtful) await this.keepEpoch();
    return waits;
  }

  /**
   * Has the primary log which transactions run, which its standbys need to begin logical decoding. Returns false where that is not
   * allowed: it is for superusers, unless it was granted.
   */
  async tellStandbys(): Promise<boolean> {
    const [right] = await this.#run(MAY_LOG_SNAPSHOT, {}, this.#sources.tail);
    if (right?.may !== 't') return false;
    await this.#run(LOG_SNAPSHOT, {}, this.#sources.tail);
    return true;
  }

  async compactedRevision(resource?: GroupResource): Promise<Revision> {
    const [row] = await this.#run(COMPACTED_REVISION, {
      of: resource === undefined ? '' : toQualifiedResource(resource),
    });
    return toRevision(row?.revision ?? 0);
  }

  async get(key: ObjectKey): Promise<StoredObject | undefined> {
    const [row] = await this.#run(GET, key);
    return row === undefined ? undefined : toStoredObject(row);
  }

  async loadCurrent(begin: Begin, batch: TakeBatch, which?: ResourceSet): Promise<void> {
    if (await this.#loadFromReadServer(begin, batch, which)) return;
    const connection = await this.#sources.connectToLoad().catch(rethrow);
    const { client } = connection;
    try {
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      const [row] = await CURRENT_REVISION.run(client, { seen: String(NO_REVISION) });
      const revision = toRevision(row?.revision ?? 0);
      begin(revision);
      await copyLive(connection, batch, which);
      await client.query('COMMIT');
      this.#history.readUpTo(revision, toRevision(row?.epoch ?? 0));
    } catch (error) {
      rethrow(error);
    } finally {
      await connection.close();
    }
  }

  /**
   * Loads from a standby. It may be ahead of what is visible at the primary, whose commits wait for other standbys: the load counts
   * once it is visible there too, and no new epoch has begun meanwhile.
   */
  async #loadFromReadServer(begin: Begin, batch: TakeBatch, which?: ResourceSet): Promise<boolean> {
    const { readServers } = this.#sources;
    if (readServers.isEmpty) return false;
    const upTo = await this.currentRevision();
    const { epoch } = this.#history;
    const loaded = await readServers.load({ upTo, after: upTo }, async (connection, revision) => {
      begin(revision);
      await copyLive(connection, batch, which);
      return revision;
    });
    if (loaded === undefined) return false;
    try {
      await this.#untilVisible(loaded);
      await this.currentRevision();
    } catch (error) {
      // What the primary shows can still be loaded from there.
      if (failureOf(error, 'unavailable') !== undefined) return false;
      throw error;
    }
    return this.#history.epoch === epoch;
  }

  async listAt(query: HistoricalList): Promise<HistoricalPage> {
    const { resource, scope, revision, limit } = query;
    const after = query.after === undefined ? { namespace: '', name: '' } : parsePosition(query.after);
    const values = {
      ...resource,
      ...toValues(scope),
      revision: revision.toString(),
      afterNamespace: after.namespace,
      afterName: after.name,
    };
    await this.#untilVisible(revision);
    const page = await this.#readHistory({ upTo: revision, after: revision }, async (run) => {
      const rows = await run(LIST_AT, { ...values, limit: limit + 1 });
      const objects = rows.slice(0, limit).map((row) => toStoredObject(row));
      if (rows.length <= limit) return { objects, remaining: 0 };
      const [counted] = await run(COUNT_AT, values);
      const count = counted?.count ?? undefined;
      return { objects, remaining: count === undefined ? undefined : Number(count) - objects.length };
    });
    await this.#assertKept(resource, revision);
    return page;
  }

  async changesBetween({ resource, scope, after, upTo, limit }: ChangeQuery): Promise<ChangeWithPrevious[]> {
    await this.#untilVisible(upTo);
    const range = { after: after.toString(), upTo: upTo.toString(), limit };
    const values = { ...resource, ...toValues(scope), ...range };
    const rows = await this.#readHistory({ upTo, after }, (run) => run(CHANGES, values));
    await this.#assertKept(resource, after);
    return rows.map((row) => toChangeWithPrevious(row));
  }

  /** Returns changes of all resources after a revision, oldest first, on one snapshot: how the tail catches up. */
  async tailPage(after: Revision, limit: number): Promise<TailPage> {
    const rows = await this.#run(TAIL_PAGE, { after: after.toString(), limit }, this.#sources.tail);
    return {
      changes: rows.filter(hasChange).map((row) => toChange(row)),
      compacted: toRevision(rows[0]?.compacted ?? 0),
      epoch: toRevision(rows[0]?.epoch ?? 0),
      writeId: rows[0]?.after_write_id ?? undefined,
    };
  }

  /**
   * Waits until SQL shows a revision. The stream is ahead of it: it brings a commit as soon as its record is written. A read that
   * is complete up to a revision must not leave out one that is still to become visible.
   */
  async #untilVisible(revision: Revision): Promise<void> {
    if (this.#history.isVisible(revision)) return;
    for (let tries = 0; (await this.currentRevision()) < revision; tries += 1) {
      if (tries === VISIBLE_TRIES) throw invisible(revision);
      await this.#settle();
    }
  }

  /** Waits until everything up to there that was committed before the call is visible. */
  async awaitVisible(revision: Revision): Promise<void> {
    if (this.#history.isVisible(revision)) return;
    for (let tries = 0; tries < VISIBLE_TRIES && (await this.currentRevision()) < revision; tries += 1)
      await this.#settle();
  }

  /** Concurrent calls share it. One that had the lock too early for some of them is repeated. */
  #settle(): Promise<void> {
    this.#settling ??= this.awaitCommits().finally(() => {
      this.#settling = undefined;
    });
    return this.#settling;
  }

  /** Reads from a read server that has what is wanted, else from the primary. */
  async #readHistory<Result>(wanted: Wanted, read: (run: Run) => Promise<Result>): Promise<Result> {
    const onStandby = (client: Queryable): Promise<Result> =>
      read((statement, values) => statement.run(client, values));
    const answer = await this.#sources.readServers.read(wanted, onStandby);
    return answer ?? read((statement, values) => this.#run(statement, values));
  }

  /**
   * Asked after reading, and of the primary, so that rows compacted while they were read are noticed too, and an epoch that has
   * begun.
   */
  async #assertKept(resource: GroupResource, requested: Revision): Promise<void> {
    const compacted = await this.compactedRevision(resource);
    if (requested < compacted) throw new StorageError({ kind: 'compacted', requested, compacted });
  }

  async #run<Values, Row>(
    statement: Prepared<Values, Row>,
    values: Values,
    source: DatabaseSource = this.#sources.replay,
  ): Promise<Row[]> {
    try {
      const { pool, prepares } = await source();
      return await statement.run(pool, values, prepares);
    } catch (error) {
      rethrow(error);
    }
  }
}

const invisible = (revision: Revision): StorageError =>
  new StorageError({ kind: 'unavailable', reason: `revision ${revision} is not visible in the database` });

const toValues = ({ namespace, name }: Scope): { namespace: string | null; name: string | null } => ({
  namespace: namespace ?? null,
  name: name ?? null,
});

/** Without changes there is still one row, for the other columns. */
type TailRow = { readonly [column in keyof ChangeRow]: string | null };

function hasChange<Row extends TailRow>(row: Row): row is Row & ChangeRow {
  return row.revision !== null;
}
