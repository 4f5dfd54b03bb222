import { sql } from 'kysely';
import { type GroupResource, toQualifiedResource } from '../../../api/names.ts';
import { StorageError } from '../../errors.ts';
import type { History, HistoryBegin, LoggedRevision, LogPage, LogQuery } from '../../history.ts';
import type { ObjectKey } from '../../key.ts';
import { type Revision, toRevision } from '../../revision.ts';
import { MAX_PAGE_BYTES } from '../../revision-log.ts';
import type { DatabaseSource } from '../connection/connection.ts';
import { type Prepared, prepare, tables } from '../connection/prepared.ts';
import { rethrow } from '../connection/statements.ts';
import type { PostgresReader } from '../read/reader.ts';
import { BY_OBJECTS, BY_REQUEST, LOG_ROWS, type StateValues, toConditions, WALK } from './log-queries.ts';
import { toLoggedRevisions, withPreviousStates } from './logged-revisions.ts';

/** How far a client's clock may be ahead. */
const CLOCKS_S = 60;

const REVISION_AT = prepare((of: { readonly moment: string }) =>
  tables.selectNoFrom([
    sql<string | null>`revision_at(${of.moment}::timestamptz)`.as('revision'),
    sql<string>`${of.moment}::timestamptz > clock_timestamp() + make_interval(secs => ${sql.lit(CLOCKS_S)})`.as(
      'is_future',
    ),
  ]),
);

/** An epoch ends the history before it, as compaction does. */
const BEGIN = prepare(() =>
  tables
    .selectFrom('compaction as c')
    .innerJoin(
      sql<{
        epoch: string;
        began_at: string;
      }>`(SELECT epoch, began_at FROM epochs ORDER BY epoch DESC LIMIT 1)`.as('e'),
      (join) => join.onTrue(),
    )
    .select([
      sql<string>`greatest(c.revision, e.epoch)`.as('revision'),
      sql<
        string | null
      >`extract(epoch FROM nullif(CASE WHEN e.epoch > c.revision THEN e.began_at ELSE c.committed_at END, '-infinity'))
        * 1000`.as('at_ms'),
    ]),
);

/** As {@link COMPACTED_REVISION}, of all resources. */
const COMPACTED = prepare(() =>
  tables.selectFrom('compaction as c').select([
    sql<string>`greatest(c.revision, (SELECT max(epoch) FROM epochs))`.as('revision'),
    sql<string | null>`(
        SELECT jsonb_object_agg(s.key, s.value ->> 'revision') FROM jsonb_each(to_jsonb(c) -> 'shorter') AS s
      )`.as('shorter'),
  ]),
);

/** Rows that a page looks at along an index, for those that pass: some tens of milliseconds. */
const LOOKS = 20_000;
/** Rows of one request that are looked at; no request has as many. */
const MOST_OF_REQUEST = 100_000;
/** Rows whose states are read at a time. A page ends by its bytes, before and after these are unpacked. */
const ROWS_WITH_STATES = 500;

type Reader = Pick<PostgresReader, 'currentRevision' | 'compactedRevision' | 'awaitVisible'>;

/** PostgresHistory reads the log's past. */
export class PostgresHistory implements History {
  readonly #database: DatabaseSource;
  readonly #reader: Reader;

  constructor(database: DatabaseSource, reader: Reader) {
    this.#database = database;
    this.#reader = reader;
  }

  /** @throws StorageError unavailable */
  async revisionAt(moment: string): Promise<Revision | 'future' | undefined> {
    const [row] = await this.#run(REVISION_AT, { moment });
    if (row?.is_future === 't') return 'future';
    return row === undefined || row.revision === null ? undefined : toRevision(row.revision);
  }

  /** @throws StorageError unavailable */
  async begin(): Promise<HistoryBegin> {
    const [row] = await this.#run(BEGIN, {});
    const at = row === undefined || row.at_ms === null ? undefined : new Date(Number(row.at_ms));
    return { revision: toRevision(row?.revision ?? 0), at };
  }

  newest(): Promise<Revision> {
    return this.#reader.currentRevision();
  }

  async rows(query: LogQuery): Promise<LogPage> {
    const asked = query.revisions?.reduce((a, b) => (a < b ? a : b));
    // The first possible one is behind where history begins.
    const after = query.after ?? (asked === undefined ? undefined : toRevision(asked - 1n));
    const from = after ?? (await this.#reader.compactedRevision());
    // The stream of changes is ahead of what SQL sees, and its followers ask for what it brought.
    if (query.upTo !== undefined) await this.#reader.awaitVisible(query.upTo);
    const found = await this.#find(query, from);
    const rows = await this.#read(found.revisions, query);
    // Asked after reading, so that what was compacted meanwhile is noticed too.
    const compactedOf = await this.#compacted();
    const compacted = compactedOf(query.resource);
    if (after !== undefined && after < compacted)
      throw new StorageError({ kind: 'compacted', requested: after, compacted });
    const last = rows.at(-1)?.revision;
    return {
      rows: rows.filter(({ revision, key }) => revision > compactedOf(key)),
      // Without a row, all of the page was compacted while it was read.
      next: rows.length < found.revisions.length && last !== undefined ? last : found.next,
    };
  }

  /** The compacted revision of each resource; of those without a shorter history, that of the log. */
  async #compacted(): Promise<(resource?: GroupResource) => Revision> {
    const [row] = await this.#run(COMPACTED, {});
    const all = toRevision(row?.revision ?? 0);
    const shorter = new Map(Object.entries<string>(JSON.parse(row?.shorter ?? '{}')));
    return (resource) => {
      const own = resource === undefined ? undefined : shorter.get(toQualifiedResource(resource));
      return own !== undefined && BigInt(own) > all ? toRevision(own) : all;
    };
  }

  /** Which rows there are to be read, in their order, and where the next page begins. */
  async #find(query: LogQuery, from: Revision): Promise<Found> {
    const { requestId, revisions, objects, order, limit, upTo } = query;
    if (revisions !== undefined)
      return {
        revisions: inOrder(
          revisions.filter((one) => one <= NEWEST),
          order,
        ),
        next: undefined,
      };
    const conditions = toConditions(query);
    const { uid, user, manager, verb } = conditions;
    const isSelective = [uid, user, manager, verb].some((value) => value !== null);
    const values = {
      ...conditions,
      after: toText(from),
      upTo: toText(upTo ?? NEWEST),
      limit,
      looks: isSelective ? Math.max(LOOKS, limit) : limit,
    };
    if (objects !== undefined) {
      const rows = await this.#run(BY_OBJECTS[order], { ...values, ...toColumns(objects) });
      const all = inOrder(
        rows.map(({ revision }) => toRevision(revision)),
        order,
      );
      return { revisions: all, next: all.length === limit ? all.at(-1) : undefined };
    }
    if (requestId !== undefined) {
      const made = await this.#run(BY_REQUEST, { ...values, requestId, most: MOST_OF_REQUEST });
      const all = inOrder(
        made.map(({ revision }) => toRevision(revision)),
        order,
      );
      return { revisions: all.slice(0, limit), next: all.length > limit ? all[limit - 1] : undefined };
    }
    const rows = await this.#run(WALK[order], values);
    const found = rows.flatMap(({ revision }) => (revision === null ? [] : [toRevision(revision)]));
    const walked = rows[0]?.walked ?? undefined;
    if (found.length === limit) return { revisions: found, next: found.at(-1) };
    return { revisions: found, next: walked === undefined ? undefined : toRevision(walked) };
  }

  async #read(
    revisions: readonly Revision[],
    { states, mostBytes = MAX_PAGE_BYTES }: LogQuery,
  ): Promise<LoggedRevision[]> {
    if (revisions.length === 0) return [];
    const wanted = states === 'none' ? revisions : revisions.slice(0, ROWS_WITH_STATES);
    const isBoth = states === 'both';
    const asked = { written: states !== 'none', previous: isBoth, known: wanted, mostBytes };
    const rows = await this.#rows(wanted, asked);
    if (!isBoth) return rows;
    return withPreviousStates(rows, new Set(wanted), (of) =>
      this.#rows(of, { written: false, previous: true, known: [], mostBytes }),
    );
  }

  async #rows(
    revisions: readonly Revision[],
    { known, ...states }: StatesAsked & { readonly known: readonly Revision[] },
  ): Promise<LoggedRevision[]> {
    const asked = { ...states, known: known.map(String), revisions: revisions.map(String) };
    return toLoggedRevisions(await this.#run(LOG_ROWS, asked));
  }

  async #run<Values, Row>(statement: Prepared<Values, Row>, values: Values): Promise<Row[]> {
    try {
      const { pool, prepares } = await this.#database();
      return await statement.run(pool, values, prepares);
    } catch (error) {
      rethrow(error);
    }
  }
}

type StatesAsked = Pick<StateValues, 'written' | 'previous' | 'mostBytes'>;

const toColumns = (objects: readonly ObjectKey[]) => ({
  groups: objects.map(({ group }) => group),
  resources: objects.map(({ resource }) => resource),
  namespaces: objects.map(({ namespace }) => namespace),
  names: objects.map(({ name }) => name),
});

interface Found {
  readonly revisions: readonly Revision[];
  readonly next: Revision | undefined;
}

/** The column's largest value. */
const NEWEST = toRevision(2n ** 63n - 1n);

const toText = (revision: Revision): string => String(revision < NEWEST ? revision : NEWEST);

function inOrder(revisions: readonly Revision[], order: LogQuery['order']): Revision[] {
  const sign = order === 'oldest first' ? 1 : -1;
  return [...revisions].sort((a, b) => (a < b ? -sign : a > b ? sign : 0));
}
