import { type Expression, type SqlBool, sql } from 'kysely';
import type { LogQuery } from '../../history.ts';
import { prepare, tables } from '../connection/prepared.ts';
import type { TextRow } from '../connection/statements.ts';
import type { PreviousRow } from '../read/rows.ts';

/**
 * Rows of the log by conditions. One index finds which rows, and only those are read with their bytes: the planner never gets to
 * choose between the two.
 */

/** null matches any. */
interface Conditions {
  readonly group: string | null;
  readonly resource: string | null;
  readonly namespace: string | null;
  readonly name: string | null;
  readonly uid: string | null;
  readonly user: string | null;
  readonly manager: string | null;
  readonly verb: string | null;
}

interface RangeValues extends Conditions {
  readonly after: string;
  readonly upTo: string;
  readonly limit: number;
  /** How many rows of the index to follow at most. */
  readonly looks: number;
}

interface FoundRow {
  readonly revision: string;
}

/** `walked`: where the walk along the index stopped; null at its end. */
type WalkedRow = FoundRow & { readonly walked: string | null };

/** Conditions that an index serves. The planner sees the values, and drops what does not apply. */
const isIndexed = (of: Conditions): Expression<SqlBool> =>
  sql`(${of.resource}::text IS NULL OR r.api_group = ${of.group} AND r.resource = ${of.resource})
    AND (${of.namespace}::text IS NULL OR r.namespace = ${of.namespace}) AND (${of.name}::text IS NULL OR r.name = ${of.name})`;

/** Conditions checked in each found row. */
const passes = (of: Conditions): Expression<SqlBool> =>
  sql`(${of.uid}::text IS NULL OR w.uid = ${of.uid}) AND (${of.user}::text IS NULL OR w.username = ${of.user})
    AND (${of.manager}::text IS NULL OR w.field_manager = ${of.manager}) AND (${of.verb}::text IS NULL OR w.verb = ${of.verb})`;

const walk = (direction: 'ASC' | 'DESC') =>
  prepare((of: RangeValues) =>
    tables
      .selectFrom(
        sql<WalkedRow>`(
          WITH walked AS MATERIALIZED (
            SELECT r.revision, r.uid, r.username, r.field_manager, r.verb
            FROM revisions AS r
            WHERE r.revision > ${of.after} AND r.revision <= ${of.upTo} AND ${isIndexed(of)}
            ORDER BY r.revision ${sql.raw(direction)}
            LIMIT ${of.looks}
          )
          SELECT f.revision, CASE WHEN (SELECT count(*) FROM walked) = ${of.looks}::bigint
            THEN (SELECT ${sql.raw(direction === 'ASC' ? 'max' : 'min')}(revision) FROM walked) END AS walked
          FROM (SELECT 1) AS one
          LEFT JOIN (
            SELECT w.revision FROM walked AS w WHERE ${passes(of)} ORDER BY w.revision ${sql.raw(direction)} LIMIT ${of.limit}
          ) AS f ON true
        )`.as('found'),
      )
      .select(['found.revision', 'found.walked']),
  );

/** Returns one row at least, for `walked`: `revision` is null when nothing was found. */
export const WALK = { 'oldest first': walk('ASC'), 'newest first': walk('DESC') };

/** A request makes few changes, which an index finds in no order. */
export const BY_REQUEST = prepare((of: RangeValues & { readonly requestId: string; readonly most: number }) =>
  tables
    .selectFrom(
      sql<FoundRow>`(
        WITH made AS MATERIALIZED (
          SELECT r.revision, r.api_group, r.resource, r.namespace, r.name, r.uid, r.username, r.field_manager, r.verb
          FROM revisions AS r
          WHERE r.request_id = ${of.requestId} AND r.revision > ${of.after} AND r.revision <= ${of.upTo}
          LIMIT ${of.most}
        )
        SELECT w.revision FROM made AS w WHERE ${passes(of)} AND EXISTS (SELECT FROM made AS r WHERE r.revision = w.revision AND ${isIndexed(of)})
      )`.as('found'),
    )
    .select('found.revision'),
);

interface ObjectsValues {
  readonly groups: readonly string[];
  readonly resources: readonly string[];
  readonly namespaces: readonly string[];
  readonly names: readonly string[];
  readonly after: string;
  readonly upTo: string;
  readonly limit: number;
}

const byObjects = (direction: 'ASC' | 'DESC') =>
  prepare((of: ObjectsValues) =>
    tables
      .selectFrom(
        sql<FoundRow>`(
          SELECT f.revision
          FROM unnest(${of.groups}::text[], ${of.resources}::text[], ${of.namespaces}::text[], ${of.names}::text[])
            AS k (api_group, resource, namespace, name)
          CROSS JOIN LATERAL (
            SELECT r.revision
            FROM revisions AS r
            WHERE r.api_group = k.api_group AND r.resource = k.resource AND r.namespace = k.namespace AND r.name = k.name
              AND r.revision > ${of.after} AND r.revision <= ${of.upTo}
            ORDER BY r.revision ${sql.raw(direction)}
            LIMIT ${of.limit}
          ) AS f
          ORDER BY f.revision ${sql.raw(direction)}
          LIMIT ${of.limit}
        )`.as('found'),
      )
      .select('found.revision'),
  );

export const BY_OBJECTS = { 'oldest first': byObjects('ASC'), 'newest first': byObjects('DESC') };

export type LogRow = PreviousRow &
  TextRow<'at' | 'username' | 'user_agent' | 'source_address' | 'request_id' | 'field_manager'>;

export interface StateValues {
  readonly revisions: readonly string[];
  readonly written: boolean;
  readonly previous: boolean;
  /** Revisions that are read anyway, and not again as previous ones. */
  readonly known: readonly string[];
  readonly mostBytes: number;
}

/** Sizes as stored, compressed or not; for more, the values must be read. */
const PACKED = sql`coalesce(pg_column_size(r.object), pg_column_size(r.encoded), 0)
  + coalesce(pg_column_size(p.object), pg_column_size(p.encoded), pg_column_size(s.object), pg_column_size(s.encoded), 0)`;
const SIZE = sql`coalesce(octet_length(t.object), octet_length(t.encoded), 0)
  + coalesce(octet_length(t.previous_object), octet_length(t.previous_encoded), 0)`;

const ROW =
  sql.raw(`revision, api_group, resource, namespace, name, uid, verb, previous_revision, committed_at, write_id,
  follows_revision, username, user_agent, source_address, request_id, field_manager`);

/**
 * Returns these rows in the given order, as many as fit into a page, and always the first. A previous state that is one of these
 * rows is not read once more: half of a history is the same as the other half. Text knows its length without being unpacked again,
 * so states become text once (OFFSET 0).
 */
export const LOG_ROWS = prepare(
  (of: StateValues) =>
    tables
      .selectFrom(
        sql<LogRow>`(
        SELECT t.*, sum(${SIZE}) OVER (ORDER BY t.place ROWS UNBOUNDED PRECEDING) - (${SIZE}) AS bytes_before
        FROM (
          SELECT ${ROW}, to_char(committed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at,
            json::text AS object, encoded, media_type,
            previous_json::text AS previous_object, previous_encoded, previous_media_type, place
          FROM (
            SELECT r.*, r.object AS json,
              coalesce(p.object, s.object) AS previous_json, coalesce(p.encoded, s.encoded) AS previous_encoded,
              coalesce(p.media_type, s.media_type) AS previous_media_type,
              n.place, sum(${PACKED}) OVER (ORDER BY n.place ROWS UNBOUNDED PRECEDING) - (${PACKED}) AS packed_before
            FROM unnest(${of.revisions}::bigint[]) WITH ORDINALITY AS n (revision, place)
            CROSS JOIN LATERAL (
              SELECT ${ROW},
                CASE WHEN ${of.written} THEN l.object END AS object, CASE WHEN ${of.written} THEN l.encoded END AS encoded,
                CASE WHEN ${of.written} THEN l.media_type END AS media_type,
                ${of.previous} AND l.previous_revision <> ALL (${of.known}::bigint[]) AS alone
              FROM revisions AS l
              WHERE l.revision = n.revision
              LIMIT 1
            ) AS r
            LEFT JOIN LATERAL (
              SELECT l.object, l.encoded, l.media_type, true AS found
              FROM revisions AS l
              WHERE r.alone AND l.revision = r.previous_revision
              LIMIT 1
            ) AS p ON true
            LEFT JOIN LATERAL (
              SELECT l.object, l.encoded, l.media_type
              FROM superseded AS l
              WHERE r.alone AND p.found IS NULL AND l.revision = r.previous_revision
              LIMIT 1
            ) AS s ON true
          ) AS w
          WHERE w.packed_before < ${of.mostBytes}
          OFFSET 0
        ) AS t
      )`.as('page'),
      )
      .selectAll('page')
      .where(sql<SqlBool>`page.bytes_before < ${of.mostBytes}`)
      .orderBy(sql`page.place`),
  'log_rows',
);

export const toConditions = (query: LogQuery): Conditions => ({
  group: query.resource?.group ?? null,
  resource: query.resource?.resource ?? null,
  namespace: query.namespace ?? null,
  name: query.name ?? null,
  uid: query.uid ?? null,
  user: query.user ?? null,
  manager: query.manager ?? null,
  verb: query.verb ?? null,
});
