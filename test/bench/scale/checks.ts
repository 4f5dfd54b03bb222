import type { Shape } from './shape.ts';

/** What holds of a log that was made; each is a query for what speaks against it. */
export interface Check {
  readonly promise: string;
  violations(shape: Shape): string;
}

const KEY = 'api_group, resource, namespace, name';

/** Naively, from the log alone: what cluster_at finds in other ways. */
const stateAt = (at: string): string => `
  SELECT ${KEY}, uid, revision, object::text FROM (
    SELECT DISTINCT ON (${KEY}) * FROM revisions WHERE revision <= ${at} ORDER BY ${KEY}, revision DESC
  ) s WHERE verb <> 'delete'`;

const momentsOf = ({ log, span }: Shape): number[] =>
  [0.05, 0.4, 0.8, 1].map((share) => log.first + Math.floor(span * share) - 1);

const unequal = (one: string, other: string): string =>
  `((${one}) EXCEPT ALL (${other})) UNION ALL ((${other}) EXCEPT ALL (${one})) LIMIT 5`;

/** Of the whole log: for small ones. */
export const CHECKS: readonly Check[] = [
  {
    promise: 'each row replaces the newest row of its object before it, and begins with a create',
    violations: () => `
      SELECT * FROM (
        SELECT revision, verb, uid, previous_revision, lag(revision) OVER chain AS before, lag(verb) OVER chain AS verb_before,
          lag(uid) OVER chain AS uid_before
        FROM revisions WINDOW chain AS (PARTITION BY ${KEY} ORDER BY revision)
      ) c
      WHERE verb = 'create' AND (previous_revision IS NOT NULL OR verb_before <> 'delete')
        OR verb <> 'create' AND (previous_revision IS DISTINCT FROM before OR uid <> uid_before OR verb_before = 'delete')
      LIMIT 5`,
  },
  {
    promise: 'objects are the newest states of the log',
    violations: ({ last }) =>
      unequal(stateAt(String(last)), `SELECT ${KEY}, uid, revision, object::text FROM current_objects`),
  },
  {
    promise: 'objects were modified when their row was committed',
    violations: () => `
      SELECT o.revision FROM objects o JOIN revisions r USING (revision) WHERE o.modified_at <> r.committed_at LIMIT 5`,
  },
  {
    promise: 'cluster_at and object_at answer what the log says, at any moment',
    violations: (shape) =>
      momentsOf(shape)
        .flatMap((at) => [
          `(SELECT 1 FROM (${unequal(
            stateAt(String(at)),
            `SELECT ${KEY}, uid, revision, object::text FROM cluster_at(${at})`,
          )}) c)`,
          `(SELECT 1 FROM (${stateAt(String(at))} AND revision % 97 = 0) s
            WHERE object_at(api_group, resource, namespace, name, ${at})::text IS DISTINCT FROM object)`,
        ])
        .join(' UNION ALL '),
  },
  {
    promise: 'each batch says what it follows, and time never runs backwards',
    violations: () => `
      SELECT * FROM (
        SELECT revision, follows_revision, committed_at, lag(revision) OVER log AS before, lag(committed_at) OVER log AS at_before,
          lag(follows_revision) OVER log AS follows_before
        FROM revisions WINDOW log AS (ORDER BY revision)
      ) c
      WHERE committed_at < at_before OR follows_revision NOT IN (before, follows_before)
      LIMIT 5`,
  },
  {
    promise: 'a moment finds its revision',
    violations: (shape) =>
      momentsOf(shape)
        .map(
          (at) => `
          (SELECT revision FROM revisions r WHERE revision = ${at} AND revision_at(committed_at) IS DISTINCT FROM
            (SELECT max(revision) FROM revisions WHERE committed_at <= r.committed_at))`,
        )
        .join(' UNION ALL '),
  },
];
