import { type Expression, type SqlBool, sql } from 'kysely';
import { MAX_PAGE_BYTES } from '../../revision-log.ts';
import { prepare, tables } from '../connection/prepared.ts';
import type { ObjectRow } from './rows.ts';

/** Statements on the log. Revisions and other numbers are given as text (tables.ts). */

/**
 * The live objects with their bytes as `b`, from the log where a commit has left them to it: in one statement, so that an object
 * whose bytes are filled in meanwhile is not missed (migrations/0064_baseline/2_objects.sql).
 */
export const OBJECTS_WITH_BYTES = `
  objects o
  LEFT JOIN LATERAL (
    SELECT r.object, r.encoded, r.media_type
    FROM revisions r
    WHERE o.object IS NULL AND o.encoded IS NULL AND r.revision = o.revision
    LIMIT 1
  ) l ON true
  CROSS JOIN LATERAL (
    SELECT coalesce(o.object, l.object) AS object, coalesce(o.encoded, l.encoded) AS encoded,
      coalesce(o.media_type, l.media_type) AS media_type
  ) b`;

export const OBJECT_COLUMNS = [
  'r.api_group',
  'r.resource',
  'r.namespace',
  'r.name',
  'r.uid',
  'r.revision',
  'r.object',
  'r.encoded',
  'r.media_type',
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
 * Returns where the log is: at its newest row, which compaction never drops, or where its epoch began. `moved`: PostgreSQL is not
 * on the timeline that the epoch began on. It looks only at partitions from `seen` on, the newest revision the caller knows of; a
 * log that has nothing from there on, and no new epoch, has lost it. `waits`: commits wait for standbys before they are visible.
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
        sql<string>`current_setting('synchronous_standby_names') <> ''`.as('waits'),
      ])
      .orderBy('e.epoch', 'desc')
      .limit(1),
  'current_revision',
);

interface PositionValues {
  /** The newest revision that the caller needs. */
  readonly wanted: string;
  /** The newest row the caller knows to have been visible at the primary. */
  readonly seen: string;
}

/**
 * Returns which log a host has, and how far, all on one snapshot. Object ids are the same at every standby of a database and differ
 * from those of another one, also of a copy or a neighbour. `follows`: the timeline a standby receives, where the user may see it.
 * `revision` is null when nothing from `wanted` on is there.
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

/**
 * Clients of a resource cannot go on from before this. `of`: its qualified name, or '' for the log as a whole. Read as JSON, because a
 * schema from before shorter histories (migrations/0084) has no such column.
 */
export const COMPACTED_REVISION = prepare((of: { readonly of: string }) =>
  tables
    .selectFrom('compaction as c')
    .select(
      sql<string>`greatest(c.revision, ${EPOCH}, (to_jsonb(c) -> 'shorter' -> ${of.of} ->> 'revision')::bigint)`.as(
        'revision',
      ),
    ),
);

interface SeenValues {
  /** The newest row the caller knows to have been visible. */
  readonly revision: string | null;
  readonly writeId: string | null;
}

/** Returns why the log may not be the one that the caller knows, if there is a reason. Changes nothing. */
export const DOUBT_HISTORY = prepare((seen: SeenValues) =>
  tables.selectNoFrom([
    sql<string | null>`doubt_history(${seen.revision}, ${seen.writeId})`.as('doubt'),
    EPOCH.as('epoch'),
  ]),
);

/** As {@link DOUBT_HISTORY}, where servers vouch for the log: also whether its place differs from the last vouched one. */
export const DOUBT_PLACE = prepare((seen: SeenValues) =>
  tables
    .selectFrom('history_place as p')
    .select([
      sql<string | null>`doubt_history(${seen.revision}, ${seen.writeId})`.as('doubt'),
      sql<string>`p.place <> database_place()`.as('moved'),
      EPOCH.as('epoch'),
    ]),
);

/** Identifies the cluster, in all copies of its database; no row on an older schema. */
export const CLUSTER_MADE = prepare(() =>
  tables
    .selectFrom('epochs as e')
    .select(sql<string>`extract(epoch FROM e.began_at)::text`.as('made'))
    .where('e.epoch', '=', '0')
    .where(sql<SqlBool>`to_regclass('history_place') IS NOT NULL`),
);

interface VouchValues extends SeenValues {
  readonly server: string;
  readonly shown: string;
  readonly hasLived: boolean;
}

export const VOUCH = prepare((of: VouchValues) =>
  tables
    .selectFrom(
      sql<{
        epoch: string;
        awaits: string;
      }>`vouch_history(${of.server}, ${of.revision}, ${of.writeId}, ${of.shown}, ${of.hasLived})`.as('v'),
    )
    .select(['v.epoch', 'v.awaits']),
);

export const RENEW_WITNESS = prepare((of: { readonly server: string }) =>
  tables.selectNoFrom(sql`renew_witness(${of.server})`.as('renewed')),
);

/** Commits as durably as the log, without a row. */
export const CONFIRM = prepare(() =>
  tables.selectNoFrom([
    sql`assure_durability()`.as('assured'),
    sql`pg_logical_emit_message(true, 'pg-apiserver', 'lease')`.as('position'),
  ]),
);

export const BEGIN_EPOCH = prepare((of: { readonly reason: string }) =>
  tables.selectNoFrom(sql<string>`begin_epoch(${of.reason})`.as('epoch')),
);

export const LEAVE_WITNESSES = prepare((of: { readonly server: string }) =>
  tables.deleteFrom('witnesses').where('server', '=', of.server),
);

/** Begins a new epoch when there is reason to. Returns the present one. */
export const KEEP_EPOCH = prepare((seen: SeenValues) =>
  tables.selectNoFrom(sql<string>`keep_epoch(${seen.revision}, ${seen.writeId})`.as('epoch')),
);

/** Returns when everything committed before it is visible. */
export const AWAIT_COMMITS = prepare(() => tables.selectNoFrom(sql`await_commits()`.as('done')));

/** Returns whether confirmed commits show that standbys follow this primary, and the epoch, which others may have begun. */
export const PRIMARY_STATE = prepare(() =>
  tables.selectNoFrom([
    sql<string>`current_setting('synchronous_standby_names') <> '' AND current_setting('synchronous_commit') <> 'local'`.as(
      'waits',
    ),
    EPOCH.as('epoch'),
  ]),
);

/** Returns no row on PostgreSQL 15, which has no such function. */
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
      .selectFrom(
        sql<ObjectRow>`(
          SELECT o.api_group, o.resource, o.namespace, o.name, o.uid, o.revision, b.object, b.encoded, b.media_type
          FROM ${sql.raw(OBJECTS_WITH_BYTES)}
          WHERE o.api_group = ${of.group} AND o.resource = ${of.resource} AND o.namespace = ${of.namespace}
            AND o.name = ${of.name}
        )`.as('r'),
      )
      .select(OBJECT_COLUMNS),
  'get',
);

export const COUNT_OBJECTS = prepare(() =>
  tables
    .selectFrom('objects')
    .select(['api_group as group', 'resource', sql<string>`count(*)`.as('objects')])
    .groupBy(['api_group', 'resource']),
);

export interface ScopeValues {
  readonly group: string;
  readonly resource: string;
  /** null: all of them. */
  readonly namespace: string | null;
  readonly name: string | null;
}

/** Without a name for the statement, the planner sees the values, and drops the half that does not apply. */
export const isWithin = ({ namespace, name }: ScopeValues): Expression<SqlBool> =>
  sql`(${namespace}::text IS NULL OR r.namespace = ${namespace}) AND (${name}::text IS NULL OR r.name = ${name})`;

interface ChangeValues extends ScopeValues {
  readonly after: string;
  readonly upTo: string;
  readonly limit: number;
}

/**
 * Sums the bytes of the rows before this one in the page. The window goes along with the index, so that LIMIT ends both: rows
 * beyond it are not read.
 */
const bytesBefore = (size: Expression<number>) =>
  sql<string>`sum(${size}) OVER (ORDER BY r.revision ROWS UNBOUNDED PRECEDING) - ${size}`;

const CHANGE_SIZE = sql<number>`coalesce(octet_length(r.object::text), octet_length(r.encoded))`;
const PREVIOUS_SIZE = sql<number>`coalesce(
  octet_length(coalesce(p.object, s.object)::text), octet_length(coalesce(p.encoded, s.encoded)), 0
)`;
const CHANGES_SIZE = sql<number>`(${CHANGE_SIZE} + ${PREVIOUS_SIZE})`;

const isInPage = sql<SqlBool>`page.bytes_before < ${sql.lit(MAX_PAGE_BYTES)}`;

export const CHANGES = prepare((of: ChangeValues) =>
  tables
    .selectFrom(
      tables
        .selectFrom('revisions as r')
        .leftJoin('revisions as p', 'p.revision', 'r.previous_revision')
        .leftJoin('superseded as s', 's.revision', 'r.previous_revision')
        .select(({ fn }) => [
          ...CHANGE_COLUMNS,
          fn.coalesce('p.object', 's.object').as('previous_object'),
          fn.coalesce('p.encoded', 's.encoded').as('previous_encoded'),
          fn.coalesce('p.media_type', 's.media_type').as('previous_media_type'),
        ])
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

/** All on one snapshot. Without changes there is still one row, for the other columns. */
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
      .select([
        sql<string>`greatest(c.revision, (to_jsonb(c) ->> 'thinned')::bigint)`.as('compacted'),
        EPOCH.as('epoch'),
        'a.write_id as after_write_id',
      ])
      .selectAll('page')
      .orderBy('page.revision'),
  'tail_page',
);

/** Returns which of some writes are in the log, once writes under way are over. */
export const FIND_WRITES = prepare((of: { readonly after: string; readonly ids: readonly string[] }) =>
  tables
    .selectFrom(
      sql<{ write_id: string; revision: string }>`find_writes(${of.ids}::uuid[], ${of.after})`.as('found'),
    )
    .select(['found.write_id', 'found.revision']),
);
