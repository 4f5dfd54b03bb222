import type pg from 'pg';

/** What the database must offer. One line for each thing that is missing, which says exactly what to change where. */

const MIN_VERSION = 140000;
/** One server's own, a second server beside it, and room for people. */
const MIN_CONNECTIONS = 40;

interface Facts {
  readonly version: number;
  readonly walLevel: string;
  readonly mayReplicate: boolean;
  /** What is missing for making the schema, when it is not there yet. */
  readonly mayCreateTables: boolean;
  readonly mayCreatePublication: boolean;
  readonly maxConnections: number;
  readonly user: string;
  readonly database: string;
  readonly schema: string;
}

async function readFacts(client: pg.ClientBase): Promise<Facts> {
  const { rows } = await client.query<Record<string, string | null>>(FACTS);
  const row = rows[0] ?? {};
  const number = (column: string): number => Number(row[column] ?? 0);
  return {
    version: number('version'),
    walLevel: row.wal_level ?? '',
    mayReplicate: row.may_replicate === 't',
    mayCreateTables: row.may_create_tables === 't',
    mayCreatePublication: row.may_create_publication === 't',
    maxConnections: number('max_connections'),
    user: row.usr ?? '',
    database: row.db ?? '',
    schema: row.target_schema ?? '',
  };
}

/** Amazon gives a role instead of the REPLICATION attribute; it is looked up by name because few servers have it. */
const FACTS = `
  SELECT current_setting('server_version_num') AS version,
    current_setting('wal_level') AS wal_level,
    current_user AS usr,
    current_database() AS db,
    current_schema() AS target_schema,
    current_setting('max_connections') AS max_connections,
    to_regclass('schema_migrations') IS NOT NULL
      OR coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS may_create_tables,
    to_regclass('schema_migrations') IS NOT NULL
      OR has_database_privilege(current_database(), 'CREATE') AS may_create_publication,
    (SELECT rolreplication OR rolsuper FROM pg_roles WHERE rolname = current_user)
      OR EXISTS (
        SELECT FROM pg_roles WHERE rolname = 'rds_replication'
          AND pg_has_role(current_user, oid, 'member')
      ) AS may_replicate`;

/** Lines for a person; empty when everything suffices. Slots that others have are not among them: changes are polled until one is free. */
export async function findMissingRequirements(
  client: pg.ClientBase,
  { serves, makesSchema }: { readonly serves: boolean; readonly makesSchema: boolean },
): Promise<string[]> {
  const facts = await readFacts(client);
  const missing: string[] = [];
  if (facts.version < MIN_VERSION) {
    missing.push(
      `PostgreSQL is version ${Math.floor(facts.version / 10000)}: pg-apiserver needs 14 or newer.`,
    );
  }
  if (facts.walLevel !== 'logical') {
    missing.push(
      `wal_level is ${facts.walLevel}: set wal_level = logical and restart PostgreSQL ` +
        '(Amazon RDS and Aurora: rds.logical_replication = 1; Cloud SQL: cloudsql.logical_decoding = on; Azure: wal_level = logical under server parameters).',
    );
  }
  if (serves && !facts.mayReplicate) {
    const user = JSON.stringify(facts.user);
    missing.push(
      `the user may not replicate: ALTER ROLE ${user} REPLICATION ` +
        `(Amazon RDS and Aurora: GRANT rds_replication TO ${user}; Cloud SQL and Azure: ALTER ROLE ${user} REPLICATION as the administrator).`,
    );
  }
  // A schema that is not there is made, with the right that the publication needs too.
  const grants = grantsForMigrating({
    ...facts,
    mayCreateTables: facts.mayCreateTables || (makesSchema && facts.schema === ''),
  });
  if (grants.length > 0) {
    missing.push(
      'the database was not migrated yet, which this user may not do: run pg-apiserver migrate as a user who may, ' +
        `or ${grants.join('; ')}.`,
    );
  }
  if (facts.maxConnections < MIN_CONNECTIONS) {
    missing.push(
      `max_connections is ${facts.maxConnections}: set max_connections = ${MIN_CONNECTIONS} or more and restart PostgreSQL.`,
    );
  }
  return missing;
}

function grantsForMigrating({ user, schema, database, ...facts }: Facts): string[] {
  const to = `TO ${JSON.stringify(user)}`;
  const grants: string[] = [];
  if (!facts.mayCreateTables)
    grants.push(`GRANT CREATE ON SCHEMA ${JSON.stringify(schema || 'public')} ${to}`);
  if (!facts.mayCreatePublication) grants.push(`GRANT CREATE ON DATABASE ${JSON.stringify(database)} ${to}`);
  return grants;
}
