import { type Expression, type SqlBool, sql } from 'kysely';
import { prepare, tables } from '../connection/prepared.ts';
import { isWithin, OBJECT_COLUMNS, type ScopeValues } from './queries.ts';
import type { ObjectRow } from './rows.ts';

/** The state of a resource at an earlier revision, from the log. */

interface AtValues extends ScopeValues {
  readonly revision: string;
  readonly afterNamespace: string;
  readonly afterName: string;
}

interface PageValues extends AtValues {
  readonly limit: number;
}

/** Rows to count: some milliseconds. Longer counts are left out of a list. */
const COUNTED = 1000;

/** Rows of one resource, behind where the page before ended. */
const isBehind = (at: AtValues): Expression<SqlBool> =>
  sql`r.api_group = ${at.group} AND r.resource = ${at.resource} AND ${isWithin(at)}
    AND (r.namespace, r.name) > (${at.afterNamespace}, ${at.afterName})`;

/** Sorts behind all names. */
const LAST = '\u{10ffff}';

/** Present objects that are near: twice as many as the page holds, because some have changed since or are newer. */
const near = (at: PageValues) =>
  sql`SELECT r.namespace, r.name, r.revision
    FROM objects AS r
    WHERE ${isBehind(at)}
    ORDER BY r.namespace, r.name
    LIMIT 2 * ${at.limit}::bigint`;

/** Objects behind those, where most of them have changed since: up to the last that is certain to be in the page. */
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

/** Objects that have changed since, with what their first change since has replaced: null when they were not there then. */
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
 * Returns what has not changed since, and what the first change since has replaced.
 *
 * It follows the index by object from one object to the next, each look-up with a limit of its own: the cost depends on how many
 * objects are passed, not on how often they were written, and the plan not on the planner's estimates. Reading every state and
 * sorting took 55 s for a page of 500 pods in a log of ten million.
 */
export const LIST_AT = prepare((at: PageValues) =>
  tables
    .selectFrom(
      sql<ObjectRow>`(
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
          coalesce(o.uid, p.uid, s.uid) AS uid, coalesce(o.object, p.object, s.object) AS object,
          coalesce(o.encoded, p.encoded, s.encoded) AS encoded,
          coalesce(o.media_type, p.media_type, s.media_type) AS media_type
        FROM page AS k
        LEFT JOIN LATERAL (
          SELECT r.uid, r.object, r.encoded, r.media_type, r.object IS NOT NULL OR r.encoded IS NOT NULL AS has_bytes
          FROM objects AS r
          WHERE r.api_group = ${at.group} AND r.resource = ${at.resource} AND r.namespace = k.namespace AND r.name = k.name
            AND r.revision = k.revision
          LIMIT 1
        ) AS o ON true
        LEFT JOIN LATERAL (
          SELECT r.uid, r.object, r.encoded, r.media_type
          FROM revisions AS r
          WHERE o.has_bytes IS NOT TRUE AND r.revision = k.revision
          LIMIT 1
        ) AS p ON true
        LEFT JOIN LATERAL (
          SELECT r.uid, r.object, r.encoded, r.media_type
          FROM superseded AS r
          WHERE o.has_bytes IS NOT TRUE AND p.uid IS NULL AND r.revision = k.revision
          LIMIT 1
        ) AS s ON true
      )`.as('r'),
    )
    .select(OBJECT_COLUMNS)
    .orderBy('r.namespace')
    .orderBy('r.name'),
);

/**
 * Counts what has not changed since, and what the first change since has replaced. Returns null when that takes a look at more than
 * COUNTED objects and changes: too many for a page.
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
