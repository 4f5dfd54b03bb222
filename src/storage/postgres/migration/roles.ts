import pg from 'pg';
import { pause } from '../../../util/pause.ts';
import { isDenied } from '../connection/statements.ts';
import type { Migration } from './migration.ts';
import { isInTheWay, LOCK_TIMEOUT } from './migration-transaction.ts';

/** The roles that own the schema, serve, and read. */
export interface RoleNames {
  readonly migrator: string;
  readonly server: string;
  readonly reader: string;
}

interface RoleOptions {
  /** All that another user may have applied before. */
  readonly migrations: readonly Migration[];
  /** Brings the schema up to date; new things belong to the migrator. */
  readonly migrate: () => Promise<void>;
  /** Whether the server may replicate, by which it could read all databases of this PostgreSQL. */
  readonly replicates: boolean;
  /** Says in one line, for a person, what was done. */
  readonly say: (line: string) => void;
}

interface Actor {
  readonly user: string;
  readonly database: string;
  readonly schema: string;
  readonly isSuperuser: boolean;
  readonly mayMakeRoles: boolean;
}

const MAX_TRIES = 100;
const PAUSE_MS = 500;

/**
 * Makes three roles where they are missing, gives the schema to the first, and lets the others serve and read. Roles get no
 * password: an administrator sets those. May be repeated at will.
 * @throws Error, one line for a person: which right is missing
 */
export async function makeRoles(
  client: pg.ClientBase,
  names: RoleNames,
  { migrations, migrate, replicates, say }: RoleOptions,
): Promise<void> {
  const actor = await readActor(client);
  await ensureRoles(client, names, actor, say);
  if (replicates) await letReplicate(client, names.server, say);
  else await sayWhetherItPolls(client, names.server, say);
  await hideLoggedValues(client, names.server, say);
  await boundReader(client, names.reader, say);
  await closeToPublic(client, actor, say);
  await grantEntry(client, names, actor, say);
  await handOver(client, names.migrator, migrations, say);
  await migrate();
  await client.query('BEGIN');
  try {
    await client.query(`SET LOCAL ROLE ${pg.escapeIdentifier(names.migrator)}`);
    const { rows } = await client.query<Record<string, string>>(
      'SELECT grant_server($1) AS server, grant_reader($2) AS reader',
      [names.server, names.reader],
    );
    await client.query('COMMIT');
    for (const line of Object.values(rows[0] ?? {})) say(line);
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}

async function readActor(client: pg.ClientBase): Promise<Actor> {
  const { rows } = await client.query<Record<string, string | null>>(`
    SELECT rolname AS usr, rolsuper AS super, rolcreaterole AS creates, current_database() AS db, current_schema() AS schema
    FROM pg_roles WHERE rolname = current_user`);
  const row = rows[0] ?? {};
  if (row.schema == null)
    throw new Error('--roles: the search_path of the user names no schema that it may use');
  const isSuperuser = row.super === 't';
  return {
    user: row.usr ?? '',
    database: row.db ?? '',
    schema: row.schema,
    isSuperuser,
    mayMakeRoles: isSuperuser || row.creates === 't',
  };
}

async function ensureRoles(
  client: pg.ClientBase,
  names: RoleNames,
  actor: Actor,
  say: RoleOptions['say'],
): Promise<void> {
  for (const name of Object.values(names)) {
    const { rows } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [name]);
    if (rows.length > 0) {
      say(`the role ${name} is there`);
      continue;
    }
    if (!actor.mayMakeRoles) throw mayNotMakeRoles(actor, `the role ${name} is to be made`);
    await client.query(`CREATE ROLE ${pg.escapeIdentifier(name)} LOGIN`);
    say(`made the role ${name}, without a password: \\password ${name} in psql sets one`);
  }
  const { rows } = await client.query<{ member: string }>(MEMBER, [names.migrator]);
  if (rows[0]?.member === 't') return;
  // Only a member may give the role what it owns, and act for it.
  await client
    .query(`GRANT ${pg.escapeIdentifier(names.migrator)} TO CURRENT_USER`)
    .catch((error: unknown) => {
      throw isDenied(error) ? mayNotMakeRoles(actor, `it is no member of ${names.migrator}`) : error;
    });
  say(`${actor.user} is a member of ${names.migrator} now`);
}

/** An open transaction that has read the log keeps its partitions from being dropped, until the disk is full. */
async function boundReader(client: pg.ClientBase, reader: string, say: RoleOptions['say']): Promise<void> {
  const statement = `ALTER ROLE ${pg.escapeIdentifier(reader)} SET idle_in_transaction_session_timeout = '10min'`;
  try {
    await client.query(statement);
  } catch (error) {
    if (!isDenied(error)) throw error;
    say(
      `a transaction that ${reader} forgets keeps history from being dropped: ${statement}, as a superuser`,
    );
  }
}

/** From PostgreSQL 16 on the maker of a role is a member, but may not act for it. */
const MEMBER = `
  SELECT pg_has_role(current_user, $1::name, 'USAGE') AND pg_has_role(
    current_user, $1::name, CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'SET' ELSE 'MEMBER' END
  ) AS member`;

const mayNotMakeRoles = ({ user }: Actor, why: string): Error =>
  new Error(
    `--roles: the user ${JSON.stringify(user)} needs CREATEROLE, because ${why}: ` +
      `ALTER ROLE ${pg.escapeIdentifier(user)} CREATEROLE, run it as a user who has that, or make the roles by hand (migrations/README.md)`,
  );

/** Lets the server replicate. Some makers of roles may not give that, and Amazon has a role for it. */
async function letReplicate(client: pg.ClientBase, server: string, say: RoleOptions['say']): Promise<void> {
  const { rows } = await client.query<{ may: string; amazon: string }>(REPLICATES, [server]);
  if (rows[0]?.may === 't') return;
  const statement =
    rows[0]?.amazon === 't'
      ? `GRANT rds_replication TO ${pg.escapeIdentifier(server)}`
      : `ALTER ROLE ${pg.escapeIdentifier(server)} REPLICATION`;
  try {
    await client.query(statement);
  } catch (error) {
    if (!isDenied(error)) throw error;
    say(`${server} may not replicate yet, so that it polls: ${statement}, as a superuser`);
  }
}

/** Says whether it polls; takes no right away. */
async function sayWhetherItPolls(
  client: pg.ClientBase,
  server: string,
  say: RoleOptions['say'],
): Promise<void> {
  const { rows } = await client.query<{ may: string }>(REPLICATES, [server]);
  const may = rows[0]?.may === 't';
  const reads = 'it could read all databases of this PostgreSQL';
  const role = pg.escapeIdentifier(server);
  say(
    may
      ? `${server} may replicate, by which ${reads}: ALTER ROLE ${role} NOREPLICATION, where other clusters are not its own`
      : `${server} may not replicate, because ${reads} then: it polls for changes, unless ALTER ROLE ${role} REPLICATION lets it`,
  );
}

/** Keeps objects in statements out of PostgreSQL's log. */
async function hideLoggedValues(
  client: pg.ClientBase,
  server: string,
  say: RoleOptions['say'],
): Promise<void> {
  const { rows } = await client.query<{ hides: string }>(HIDES_VALUES, [server]);
  if (rows[0]?.hides === 't') return;
  const statement = `ALTER ROLE ${pg.escapeIdentifier(server)} SET log_parameter_max_length = 0`;
  try {
    await client.query(statement);
    say(statement);
  } catch (error) {
    if (!isDenied(error)) throw error;
    say(`PostgreSQL may log what ${server} writes, Secrets too: ${statement}, as a superuser`);
  }
}

const HIDES_VALUES = `
  SELECT EXISTS (
    SELECT FROM pg_db_role_setting s JOIN pg_roles r ON r.oid = s.setrole
    WHERE r.rolname = $1 AND s.setdatabase = 0 AND 'log_parameter_max_length=0' = ANY (s.setconfig)
  ) AS hides`;

const REPLICATES = `
  SELECT r.rolreplication OR r.rolsuper OR coalesce(pg_has_role(r.oid, a.oid, 'MEMBER'), false) AS may, a.oid IS NOT NULL AS amazon
  FROM pg_roles r LEFT JOIN pg_roles a ON a.rolname = 'rds_replication'
  WHERE r.rolname = $1`;

/**
 * Revokes from PUBLIC what lets a role put names of its own in the way of ours: functions in the schema, types and tables in
 * pg_temp.
 */
async function closeToPublic(
  client: pg.ClientBase,
  { schema }: Actor,
  say: RoleOptions['say'],
): Promise<void> {
  const { rows } = await client.query<{ may: string; revoke: string }>(OPEN_TO_PUBLIC, [schema]);
  for (const { may, revoke } of rows) {
    if (may === 't') await client.query(revoke);
    say(may === 't' ? revoke : `any role may create objects here: ${revoke}, as the owner`);
  }
}

async function grantEntry(
  client: pg.ClientBase,
  { migrator, server, reader }: RoleNames,
  { schema }: Actor,
  say: RoleOptions['say'],
): Promise<void> {
  const findMissing = async (): Promise<string[]> => {
    const { rows } = await client.query<{ grant: string }>(MISSING_GRANTS, [
      migrator,
      server,
      reader,
      schema,
    ]);
    return rows.map(({ grant }) => grant);
  };
  const missing = await findMissing();
  for (const grant of missing) {
    await client.query(grant).catch((error: unknown) => {
      if (!isDenied(error)) throw error;
    });
  }
  // PostgreSQL may also just warn.
  const denied = await findMissing();
  if (denied.length > 0)
    throw new Error(`--roles: only an owner may give these rights, do it as one: ${denied.join('; ')}`);
  for (const grant of missing) say(grant);
}

const OPEN_TO_PUBLIC = `
  SELECT pg_has_role(n.nspowner, 'USAGE') AS may, format('REVOKE CREATE ON SCHEMA %I FROM PUBLIC', n.nspname) AS revoke
  FROM pg_namespace n, aclexplode(n.nspacl) a
  WHERE n.nspname = $1 AND a.grantee = 0 AND a.privilege_type = 'CREATE'
  UNION ALL
  SELECT pg_has_role(d.datdba, 'USAGE'), format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', d.datname)
  FROM pg_database d, aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a
  WHERE d.datname = current_database() AND a.grantee = 0 AND a.privilege_type = 'TEMPORARY'`;

const MISSING_GRANTS = `
  SELECT format('GRANT %s ON SCHEMA %I TO %I', right_to, $4::text, name) AS "grant"
  FROM (VALUES ($1::name, 'CREATE'), ($1, 'USAGE'), ($2, 'USAGE'), ($3, 'USAGE')) AS w (name, right_to)
  WHERE NOT has_schema_privilege(name, $4, right_to)
  UNION ALL
  SELECT format('GRANT %s ON DATABASE %I TO %I', right_to, current_database(), name)
  FROM (
    VALUES ($1::name, 'CREATE'), ($1, 'TEMPORARY'), ($1, 'CONNECT'), ($2, 'CONNECT'), ($3, 'CONNECT')
  ) AS w (name, right_to)
  WHERE NOT has_database_privilege(name, current_database(), right_to)`;

/** Gives the migrator what was made before there were roles. It takes what is only read after what commits lock. */
async function handOver(
  client: pg.ClientBase,
  migrator: string,
  migrations: readonly Migration[],
  say: RoleOptions['say'],
): Promise<void> {
  const names = migrations.flatMap(({ sql }) => [...sql.matchAll(MADE)].map(([, name = '']) => name));
  const findForeign = async (): Promise<string[]> => {
    const { rows } = await client.query<{ change: string }>(HAND_OVER, [migrator, names]);
    return rows.map(({ change }) => change);
  };
  if ((await findForeign()).length === 0) return;
  for (let tries = 1; ; tries += 1) {
    await client.query('BEGIN');
    try {
      await client.query(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);
      await client.query(LOCK_LOG);
      const changes = await findForeign();
      for (const change of changes) await client.query(change);
      await client.query('COMMIT');
      say(`gave the schema to ${migrator}: ${changes.length} tables, views and functions`);
      return;
    } catch (error) {
      await client.query('ROLLBACK');
      if (!isInTheWay(error) || tries === MAX_TRIES) throw error;
      await pause(PAUSE_MS);
    }
  }
}

const MADE = /^CREATE (?:OR REPLACE )?(?:TABLE|VIEW|FUNCTION|PUBLICATION) (?:IF NOT EXISTS )?(\w+)/gm;

/** Old databases lack the table. The lock keeps partitions from being made. */
const LOCK_LOG = `
  DO $$
  BEGIN
    IF to_regclass('commit_order') IS NOT NULL THEN
      LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    END IF;
  END $$`;

const HAND_OVER = `
  WITH notes AS (
    SELECT relnamespace AS here FROM pg_class WHERE oid = to_regclass('schema_migrations')
  ), changes AS (
    SELECT CASE c.relname WHEN 'objects' THEN 1 WHEN 'revisions' THEN 2 ELSE 3 END AS turn,
      format('ALTER TABLE %s OWNER TO %I', c.oid::regclass, $1::name) AS change
    FROM pg_class c, notes
    WHERE c.relnamespace = here AND c.relkind IN ('r', 'p', 'v') AND pg_get_userbyid(c.relowner) <> $1
      AND (
        c.relname = 'schema_migrations' OR c.relname = ANY ($2::text[])
        OR EXISTS (SELECT FROM pg_inherits i WHERE i.inhrelid = c.oid AND i.inhparent = to_regclass('revisions'))
      )
    UNION ALL
    SELECT 4, format('ALTER FUNCTION %s OWNER TO %I', p.oid::regprocedure, $1::name)
    FROM pg_proc p, notes
    WHERE p.pronamespace = here AND p.proname = ANY ($2::text[]) AND pg_get_userbyid(p.proowner) <> $1
    UNION ALL
    SELECT 5, format('ALTER PUBLICATION %I OWNER TO %I', b.pubname, $1::name)
    FROM pg_publication b, notes
    WHERE b.pubname = ANY ($2::text[]) AND pg_get_userbyid(b.pubowner) <> $1
  )
  SELECT change FROM changes ORDER BY turn, change`;
