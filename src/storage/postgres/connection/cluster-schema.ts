import { createHash } from 'node:crypto';
import pg from 'pg';
import type { Migration } from '../migration/migration.ts';

/**
 * ClusterSchema places one of several clusters of a database: in a schema of its own, the only one in which its servers'
 * connections look. That separates tables, functions, keys, leases and locks on tables; names that PostgreSQL has once for the
 * whole database include the cluster.
 *
 *     toClusterSchema('/team_a') → cluster_team_a, with its views of custom resources in crd_team_a
 *     toClusterSchema('/Team-A') → cluster_team_a__7d0d3c62: a hash makes up for changed letters
 */
export interface ClusterSchema {
  /** --kvstore-prefix, with one slash before it and none behind. */
  readonly prefix: string;
  readonly name: string;
  /** For the views of custom resources. */
  readonly views: string;
  readonly publication: string;
  /** Eight hexadecimal digits, for names that have no room for the whole. */
  readonly tag: string;
}

/** Names in migrations of what PostgreSQL has once for a database. */
export const PUBLICATION = 'pg_apiserver_revisions';
export const VIEWS_SCHEMA = 'crd';

/** The prefix of the cluster in the schema that the user's search_path names, which was there before others were. */
const DEFAULT_PREFIX = '/registry';
/** Names are at most 63 bytes long. */
const MAX_STEM = 30;

/** Returns undefined for the prefix /registry. */
export function toClusterSchema(prefix: string): ClusterSchema | undefined {
  if (prefix === DEFAULT_PREFIX) return undefined;
  const plain = prefix.slice(1);
  const tag = createHash('sha256').update(prefix).digest('hex').slice(0, 8);
  const words = plain.toLowerCase().split(/[^a-z0-9]+/);
  const stem = words
    .filter((word) => word !== '')
    .join('_')
    .slice(0, MAX_STEM);
  const suffix = stem === plain ? stem : `${stem}__${tag}`;
  return {
    prefix,
    tag,
    name: `cluster_${suffix}`,
    views: `${VIEWS_SCHEMA}_${suffix}`,
    publication: `${PUBLICATION}_${suffix}`,
  };
}

/** The name needs no quotes. */
export const searchPath = ({ name }: ClusterSchema): string => `SET search_path = ${name}`;

/** Rewrites migrations for a schema. Applied ones are known by the text of their files all the same. */
export function inSchema(migrations: readonly Migration[], schema: ClusterSchema | undefined): Migration[] {
  if (schema === undefined) return [...migrations];
  const { publication, views } = schema;
  return migrations.map((migration) => ({
    ...migration,
    sql: migration.sql
      .replaceAll(PUBLICATION, publication)
      .replaceAll(new RegExp(`\\b${VIEWS_SCHEMA}\\b`, 'g'), views),
  }));
}

/** Makes the schema where it is missing. @throws what PostgreSQL says */
export async function ensureSchema(client: pg.ClientBase, schema: ClusterSchema | undefined): Promise<void> {
  if (schema === undefined) return;
  const { rows } = await client.query('SELECT FROM pg_namespace WHERE nspname = $1', [schema.name]);
  if (rows.length > 0) return;
  const comment = `pg-apiserver: the cluster of --kvstore-prefix=${schema.prefix}`;
  await client.query(
    `CREATE SCHEMA IF NOT EXISTS ${schema.name}; COMMENT ON SCHEMA ${schema.name} IS ${pg.escapeLiteral(comment)}`,
  );
}

/**
 * Checks a session behind a pooler, which is not ours to change.
 * @throws Error when it looks elsewhere than in the schema
 */
export async function assertSchema(client: pg.ClientBase, { name, prefix }: ClusterSchema): Promise<void> {
  const { rows } = await client.query<{ path: string; usr: string }>(
    "SELECT current_setting('search_path') AS path, current_user AS usr",
  );
  const [{ path = '', usr = '' } = {}] = rows;
  if (path.replaceAll('"', '') === name) return;
  throw new Error(
    `behind a pooler that shares sessions, --kvstore-prefix=${prefix} needs a user of its own: ALTER ROLE ${JSON.stringify(usr)} SET search_path = ${name}`,
  );
}
