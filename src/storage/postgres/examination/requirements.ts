import type pg from 'pg';
import { MAY_REPLICATE } from '../feed/replication-right.ts';
import { type ManagedService, SERVICE, toService } from './managed-service.ts';

/** What the database must offer. Each missing thing is one line, which says exactly what to change where. */

const MIN_VERSION = 140000;
/** For one server, a second one beside it, and people. */
const MIN_CONNECTIONS = 40;

interface Facts {
  readonly service: ManagedService;
  readonly version: number;
  readonly walLevel: string;
  readonly encoding: string;
  readonly mayReplicate: boolean;
  /** Rights for making the schema; true where it exists already. */
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
    service: toService(row.service),
    version: number('version'),
    walLevel: row.wal_level ?? '',
    encoding: row.encoding ?? '',
    mayReplicate: row.may_replicate === 't',
    mayCreateTables: row.may_create_tables === 't',
    mayCreatePublication: row.may_create_publication === 't',
    maxConnections: number('max_connections'),
    user: row.usr ?? '',
    database: row.db ?? '',
    schema: row.target_schema ?? '',
  };
}

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
    current_setting('server_encoding') AS encoding,
    ${SERVICE} AS service,
    ${MAY_REPLICATE} AS may_replicate`;

/**
 * Returns lines for a person; none when everything suffices. Slots in use by others are no such line: changes are polled until one
 * is free.
 */
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
  if (facts.encoding !== 'UTF8') {
    missing.push(
      `the database ${JSON.stringify(facts.database)} has the encoding ${facts.encoding}, which cannot hold all names: ` +
        `make one with UTF8, CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0 LOCALE 'C', and name that one instead.`,
    );
  }
  // Without the right there is no slot, and nothing needs what slots need.
  if (facts.walLevel !== 'logical' && (facts.mayReplicate || !serves)) {
    missing.push(`wal_level is ${facts.walLevel}: ${facts.service.logicalReplication}.`);
  }
  // A missing schema is made, with the right that the publication needs too.
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
      `max_connections is ${facts.maxConnections}: ${facts.service.connections(MIN_CONNECTIONS)}.`,
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
