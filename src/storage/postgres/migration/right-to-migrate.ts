import type pg from 'pg';
import type { ClusterSchema } from '../connection/cluster-schema.ts';
import type { Migration } from './migration.ts';
import { listMigrations } from './run-migrations.ts';

/** The last migration that this version cannot serve without. Later ones may wait for the owner, or for older servers to end. */
const LAST_NEEDED = 64;

/** Whether the user owns the schema, or would by making one. A server need not. */
export async function mayMigrate(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ may: string | null }>(MAY_MIGRATE);
  return rows[0]?.may !== 'f';
}

const MAY_MIGRATE = `
  SELECT (SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = to_regclass('schema_migrations')) AS may`;

/**
 * For a user who may not migrate: returns one line on what is left to the owner; undefined when everything was applied.
 * @throws Error with that line when this version cannot serve without
 */
export async function findLeftMigrations(
  client: pg.ClientBase,
  migrations: readonly Migration[],
  schema: ClusterSchema | undefined,
): Promise<string | undefined> {
  const left = (await listMigrations(client, migrations, { schema })).filter(
    ({ state }) => state !== 'applied',
  );
  const [first] = left;
  if (first === undefined) return undefined;
  const { rows } = await client.query<{ owner: string; user: string }>(OWNER);
  const { owner = '', user = '' } = rows[0] ?? {};
  const run = `run pg-apiserver migrate as ${JSON.stringify(owner)}, which ${JSON.stringify(user)} may not do`;
  if (first.id <= LAST_NEEDED)
    throw new Error(
      `the database lacks migration ${first.id} (${first.name}) and ${left.length - 1} more: ${run}`,
    );
  const names = left.map(({ id, name }) => `${id} (${name})`).join(', ');
  return `left to the owner of the schema: ${left.length === 1 ? 'migration' : 'migrations'} ${names}: ${run}`;
}

const OWNER = `
  SELECT pg_get_userbyid(relowner) AS owner, current_user AS user
  FROM pg_class
  WHERE oid = 'schema_migrations'::regclass`;
