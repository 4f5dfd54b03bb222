import { type Expression, type SqlBool, sql } from 'kysely';
import { MAX_PAGE_BYTES } from '../revision-log.ts';
import { prepare, tables } from './prepared.ts';

/** What is asked of the log. Revisions and other numbers are given as text (schema.ts). */

/**
 * An object's bytes, from the log where a commit has left them to it: in the same statement, so that one whose bytes are brought
 * meanwhile is not missed (migrations/0042).
 */
export const BYTES = 'coalesce(o.object, (SELECT r.object FROM revisions r WHERE r.revision = o.revision))';

const OBJECT_COLUMNS = [
  'r.api_group',
  'r.resource',
  'r.namespace',
  'r.name',
  'r.uid',
  'r.revision',
  'r.object',
] as const;

const CHANGE_COLUMNS = [
  ...OBJECT_COLUMNS,
  'r.verb',
  'r.previous_revision',
  'r.committed_at',
  'r.write_id',
  'r.follows_revision',
] as const;

const EPOCH = sql<string>`(SELECT max(epoch) FROM epochs)`;

/**
 * Where the log is: at its newest row, which compaction never drops, or where its epoch began. `moved`: PostgreSQL is not on
 * the timeline that the epoch began on. Only the partitions from `seen` on are looked at, the newest revision the caller knows of;
 * a log that has nothing from there on, and no new epoch, has lost it.
 */
export const CURRENT_REVISION = prepare(
  (of: { readonly seen: string }) =>
    tables
      .selectFrom('epochs as e')
      .select([
        sql<string>`greatest((SELECT max(revision) FROM revisions WHERE revision >= ${of.seen}), e.epoch)`.as(
          'revision',
        ),
        'e.epoch',
        sql<string | null>`e.timeline <> database_timeline()`.as('moved'),
      ])
      .orderBy('e.epoch', 'desc')
      .limit(1),
  'current_revision',
);

interface PositionValues {
  /** The newest revision that is wanted. */
  readonly wanted: string;
  /** The newest row the caller knows to have been visible at the primary. */
  readonly seen: string;
}

/**
 * Which log a host has, and how far, all on one snapshot. Object ids are the same at every standby of a database and differ from
 * those of another one, also where that is a copy or a neighbour. `follows`: the timeline a standby receives, where the user may
 * see it. `revision` is null when nothing from the wanted one on is there.
 */
export const LOG_POSITION = prepare((of: PositionValues) =>
  tables
    .selectFrom('epochs as e')
    .select([
      'e.epoch',
      'e.timeline',
      sql<string | null>`database_system()`.as('system'),
      sql<string>`(SELECT oid FROM pg_database WHERE datname = current_database())`.as('database'),
      sql<string>`'revisions'::regclass::oid`.as('log'),
      sql<string>`pg_is_in_recovery()`.as('is_standby'),
      sql<string | null>`(SELECT lpad(upper(to_hex(received_tli)), 8, '0') FROM pg_stat_wal_receiver)`.as(
        'follows',
      ),
      sql<string>`(SELECT max(id) FROM schema_migrations)`.as('migration'),
      sql<string>`(SELECT greatest(revision, e.epoch) FROM compaction)`.as('compacted'),
      sql<string | null>`(SELECT max(revision) FROM revisions WHERE revision >= ${of.wanted})`.as('revision'),
      sql<string | null>`(SELECT write_id FROM revisions WHERE revision = ${of.seen})`.as('seen_write'),
    ])
    .orderBy('e.epoch', 'desc')
    .limit(1),
);

/** Clients cannot go on from before this. */
export const COMPACTED_REVISION = prepare(() =>
  tables.selectFrom('compaction').select(sql<string>`greatest(revision, ${EPOCH})`.as('revision')),
);

interface SeenValues {
  /** The newest row the caller knows to have been visible. */
  readonly revision: string | null;
  readonly writeId: string | null;
}

/** Whether there is reason to doubt that the log still is the one the caller knows. Changes nothing. */
export const DOUBT_HISTORY = prepare((seen: SeenValues) =>
  tables.selectNoFrom([
    sql<string | null>`doubt_history(${seen.revision}, ${seen.writeId})`.as('doubt'),
    EPOCH.as('epoch'),
  ]),
);

/** Begins a new epoch when there is reason to. Answers the present one. */
export const KEEP_EPOCH = prepare((seen: SeenValues) =>
  tables.selectNoFrom(sql<string>`keep_epoch(${seen.revision}, ${seen.writeId})`.as('epoch')),
);

/** Ends when everything committed before it is visible. */
export const AWAIT_COMMITS = prepare(() => tables.selectNoFrom(sql`await_commits()`.as('done')));

/** Whether commits wait for standbys before they are visible. */
export const WAITS_FOR_STANDBYS = prepare(() =>
  tables.selectNoFrom(sql<string>`current_setting('synchronous_standby_names') <> ''`.as('waits')),
);

/** PostgreSQL 15 has no such function: then there is no row. */
export const MAY_LOG_SNAPSHOT = prepare(() =>
  tables
    .selectFrom(sql<{ may: string }>`pg_proc`.as('p'))
    .select(sql<string>`has_function_privilege(p.oid, 'EXECUTE')`.as('may'))
    .where(
      sql<SqlBool>`p.proname = 'pg_log_standby_snapshot' AND p.pronamespace = 'pg_catalog'::regnamespace`,
    ),
);

export const LOG_SNAPSHOT = prepare(() => tables.selectNoFrom(sql`pg_log_standby_snapshot()`.as('position')));

interface KeyValues {
  readonly group: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

export const GET = prepare(
  (of: KeyValues) =>
    tables
      .selectFrom('objects as o')
      .select(['o.api_group', 'o.resource', 'o.namespace', 'o.name', 'o.uid', 'o.revision'])
      .select(sql<string>`${sql.raw(BYTES)}`.as('object'))
      .where('api_group', '=', of.group)
      .where('resource', '=', of.resource)
      .where('namespace', '=', of.namespace)
      .where('name', '=', of.name),
  'get',
);

interface ScopeValues {
  readonly group: string;
  readonly resource: string;
  /** null: all of them. */
  readonly namespace: string | null;
  readonly name: string | null;
}

/** The planner, which sees the values of a statement without a name, drops the half that does not apply. */
const isWithin = ({ namespace, name }: ScopeValues): Expression<SqlBool> =>
  sql`(${namespace}::text IS NULL OR r.namespace = ${namespace}) AND (${name}::text IS NULL OR r.name = ${name})`;

interface AtValues extends ScopeValues {
  readonly revision: string;
  readonly afterNamespace: string;
  readonly afterName: string;
}

type ListedRow = Record<
  'api_group' | 'resource' | 'namespace' | 'name' | 'uid' | 'revision' | 'object',
  string
>;

interface PageValues extends AtValues {
  readonly limit: number;
}

/** Some milliseconds. What is left of a list is said where that is quickly told. */
const COUNTED = 1000;

/** Of one resource, behind where the page before ended. */
const isBehind = (at: AtValues): Expression<SqlBool> =>
  sql`r.api_group = ${at.group} AND r.resource = ${at.resource} AND ${isWithin(at)}
    AND (r.namespace, r.name) > (${at.afterNamespace}, ${at.afterName})`;

/** Behind all names. */
const LAST = '\u{10ffff}';

/** Objects of today that are near: twice as many as the page holds, because some have changed since or were made later. */
const near = (at: PageValues) =>
  sql`SELECT r.namespace, r.name, r.revision
    FROM objects AS r
    WHERE ${isBehind(at)}
    ORDER BY r.namespace, r.name
    LIMIT 2 * ${at.limit}::bigint`;

/** Where most of them have changed since, those behind them are looked at too, up to the last that is certain to be in the page. */
const far = (at: PageValues) =>
  sql`SELECT f.namespace, f.name, f.revision
    FROM (SELECT namespace, name FROM near ORDER BY namespace DESC, name DESC LIMIT 1) AS n
    LEFT JOIN LATERAL (
      SELECT namespace, name FROM replaced ORDER BY namespace, name OFFSET ${at.limit}::bigint - 1
    ) AS last ON true
    CROSS JOIN LATERAL (
      SELECT r.namespace, r.name, r.revision
      FROM objects AS r
      WHERE NOT EXISTS (SELECT FROM edge) AND ${isBehind(at)} AND (r.namespace, r.name) > (n.namespace, n.name)
        AND (r.namespace, r.name) <= (coalesce(last.namespace, ${sql.lit(LAST)}), coalesce(last.name, ''))
        AND r.revision <= ${at.revision}
      ORDER BY r.namespace, r.name
      LIMIT ${at.limit}
    ) AS f`;

/** Each object that has changed since, and what its first change since has replaced: null when it was not there then. */
const changedSince = (at: PageValues) =>
  sql`SELECT ${at.afterNamespace}::text COLLATE "C" AS namespace, ${at.afterName}::text COLLATE "C" AS name, NULL::bigint AS was
    UNION ALL
    SELECT next.namespace, next.name, first.previous_revision
    FROM changed AS c
    CROSS JOIN LATERAL (
      SELECT r.namespace, r.name
      FROM revisions AS r
      WHERE r.api_group = ${at.group} AND r.resource = ${at.resource} AND ${isWithin(at)}
        AND (r.namespace, r.name) > (c.namespace, c.name) AND r.revision > ${at.revision}
      ORDER BY r.namespace, r.name
      LIMIT 1
    ) AS next
    CROSS JOIN LATERAL (
      SELECT r.previous_revision
      FROM revisions AS r
      WHERE r.api_group = ${at.group} AND r.resource = ${at.resource}
        AND (r.namespace, r.name) <= (next.namespace, next.name) AND r.revision > ${at.revision}
      ORDER BY r.namespace DESC, r.name DESC, r.revision
      LIMIT 1
    ) AS first
    WHERE coalesce((SELECT (next.namespace, next.name) < (e.namespace, e.name) FROM edge AS e), true)`;

/**
 * What has not changed since, and what the first change since has replaced.
 *
 * The index by object is followed from one object to the next, each look-up with a limit of its own: what it costs depends on how
 * many objects are passed, not on how often they were written, and the plan not on what the planner thinks of them. Reading
 * every state and sorting took 55 s for a page of 500 pods in a log of ten million.
 */
export const LIST_AT = prepare((at: PageValues) =>
  tables
    .selectFrom(
      sql<ListedRow>`(
        WITH RECURSIVE near AS MATERIALIZED (${near(at)}),
        edge AS MATERIALIZED (
          SELECT namespace, name FROM near WHERE revision <= ${at.revision}
          ORDER BY namespace, name OFFSET ${at.limit}::bigint - 1 LIMIT 1
        ),
        changed AS (${changedSince(at)}),
        replaced AS MATERIALIZED (
          SELECT namespace, name, was AS revision FROM changed WHERE was IS NOT NULL LIMIT ${at.limit}
        ),
        page AS (
          SELECT * FROM near WHERE revision <= ${at.revision}
          UNION ALL
          SELECT * FROM replaced
          UNION ALL
          SELECT * FROM (${far(at)}) AS far
          ORDER BY namespace, name
          LIMIT ${at.limit}
        )
        SELECT ${at.group}::text AS api_group, ${at.resource}::text AS resource, k.namespace, k.name, k.revision,
          coalesce(o.uid, p.uid, s.uid) AS uid, coalesce(o.object, p.object, s.object) AS object
        FROM page AS k
        LEFT JOIN LATERAL (
          SELECT r.uid, r.object FROM objects AS r
          WHERE r.api_group = ${at.group} AND r.resource = ${at.resource} AND r.namespace = k.namespace AND r.name = k.name
            AND r.revision = k.revision
          LIMIT 1
        ) AS o ON true
        LEFT JOIN LATERAL (
          SELECT r.uid, r.object FROM revisions AS r WHERE o.object IS NULL AND r.revision = k.revision LIMIT 1
        ) AS p ON true
        LEFT JOIN LATERAL (
          SELECT r.uid, r.object FROM superseded AS r
          WHERE o.object IS NULL AND p.object IS NULL AND r.revision = k.revision
          LIMIT 1
        ) AS s ON true
      )`.as('r'),
    )
    .select(OBJECT_COLUMNS)
    .orderBy('r.namespace')
    .orderBy('r.name'),
);

/**
 * How many there are, as long as no more than so many objects and changes since are looked at: what has not changed since, and what
 * the first change since has replaced. null: too many to count for a page.
 */
export const COUNT_AT = prepare((at: AtValues) =>
  tables.selectNoFrom(
    sql<string | null>`(
      SELECT CASE WHEN o.seen + c.seen <= ${sql.lit(COUNTED)} THEN o.count + c.count END
      FROM (
        SELECT count(*) AS seen, count(*) FILTER (WHERE r.revision <= ${at.revision}) AS count
        FROM (SELECT r.revision FROM objects AS r WHERE ${isBehind(at)} LIMIT ${sql.lit(COUNTED + 1)}) AS r
      ) AS o, (
        SELECT count(*) AS seen, count(*) FILTER (WHERE ${isBehind(at)} AND r.previous_revision <= ${at.revision}) AS count
        FROM (
          SELECT r.api_group, r.resource, r.namespace, r.name, r.previous_revision
          FROM revisions AS r
          WHERE r.resource = ${at.resource} AND r.revision > ${at.revision}
          ORDER BY r.revision
          LIMIT ${sql.lit(COUNTED + 1)}
        ) AS r
      ) AS c
    )`.as('count'),
  ),
);

interface ChangeValues extends ScopeValues {
  readonly after: string;
  readonly upTo: string;
  readonly limit: number;
}

/**
 * The bytes of the rows before this one in the page. The window goes along with the index, so that LIMIT ends both: rows beyond
 * it are not looked at.
 */
const bytesBefore = (size: Expression<number>) =>
  sql<string>`sum(${size}) OVER (ORDER BY r.revision ROWS UNBOUNDED PRECEDING) - ${size}`;

const CHANGE_SIZE = sql<number>`octet_length(r.object::text)`;
const CHANGES_SIZE = sql<number>`(octet_length(r.object::text) + coalesce(octet_length(coalesce(p.object, s.object)::text), 0))`;

const isInPage = sql<SqlBool>`page.bytes_before < ${sql.lit(MAX_PAGE_BYTES)}`;

export const CHANGES = prepare((of: ChangeValues) =>
  tables
    .selectFrom(
      tables
        .selectFrom('revisions as r')
        .leftJoin('revisions as p', 'p.revision', 'r.previous_revision')
        .leftJoin('superseded as s', 's.revision', 'r.previous_revision')
        .select(({ fn }) => [...CHANGE_COLUMNS, fn.coalesce('p.object', 's.object').as('previous_object')])
        .select(bytesBefore(CHANGES_SIZE).as('bytes_before'))
        .where('r.api_group', '=', of.group)
        .where('r.resource', '=', of.resource)
        .where('r.revision', '>', of.after)
        .where('r.revision', '<=', of.upTo)
        .where(isWithin(of))
        .orderBy('r.revision')
        .limit(of.limit)
        .as('page'),
    )
    .selectAll('page')
    .where(isInPage)
    .orderBy('page.revision'),
);

/** All on one snapshot. Without changes there is still one row, for what the page says besides. */
export const TAIL_PAGE = prepare(
  (of: { readonly after: string; readonly limit: number }) =>
    tables
      .selectFrom('compaction as c')
      .leftJoin('revisions as a', (join) => join.on('a.revision', '=', of.after))
      .leftJoinLateral(
        ({ selectFrom }) =>
          selectFrom('revisions as r')
            .select(CHANGE_COLUMNS)
            .select(bytesBefore(CHANGE_SIZE).as('bytes_before'))
            .where('r.revision', '>', of.after)
            .orderBy('r.revision')
            .limit(of.limit)
            .as('page'),
        (join) => join.on(isInPage),
      )
      .select(['c.revision as compacted', EPOCH.as('epoch'), 'a.write_id as after_write_id'])
      .selectAll('page')
      .orderBy('page.revision'),
  'tail_page',
);

/** Which of some writes are in the log, once what was under way is over. */
export const FIND_WRITES = prepare((of: { readonly after: string; readonly ids: readonly string[] }) =>
  tables
    .selectFrom(
      sql<{ write_id: string; revision: string }>`find_writes(${of.ids}::uuid[], ${of.after})`.as('found'),
    )
    .select(['found.write_id', 'found.revision']),
);
