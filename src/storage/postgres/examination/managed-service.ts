/**
 * Which managed service runs a PostgreSQL, or which engine speaks its protocol, by settings, roles and functions that only this one has,
 * and how its customers change what they would change in postgresql.conf elsewhere.
 */

export interface ManagedService {
  readonly name: string;
  /** How wal_level becomes logical. */
  readonly logicalReplication: string;
  /** How max_connections becomes at least so many. */
  connections(least: number): string;
  /** How a user comes to replicate. */
  replicates(role: string): string;
  /** What to know before a cluster is made there; absent where all is as with PostgreSQL. */
  readonly caveat?: string;
}

const byAttribute = (role: string): string => `ALTER ROLE ${role} REPLICATION`;
const byMembership = (role: string): string => `GRANT rds_replication TO ${role}`;

const byCompute = (least: number): string =>
  `choose a larger compute, until max_connections is ${least} or more`;

/** The keys are what {@link SERVICE} answers. */
const SERVICES: Readonly<Record<string, ManagedService>> = {
  aurora: {
    name: 'Amazon Aurora',
    logicalReplication:
      'set rds.logical_replication = 1 in the DB cluster parameter group and reboot the writer',
    connections: (least) =>
      `set max_connections = ${least} or more in the DB cluster parameter group and reboot the writer`,
    replicates: byMembership,
  },
  rds: {
    name: 'Amazon RDS',
    logicalReplication: 'set rds.logical_replication = 1 in the DB parameter group and reboot the instance',
    connections: (least) =>
      `set max_connections = ${least} or more in the DB parameter group and reboot the instance`,
    replicates: byMembership,
  },
  cloudsql: {
    name: 'Cloud SQL',
    logicalReplication: 'set the database flag cloudsql.logical_decoding = on, which restarts the instance',
    connections: (least) =>
      `set the database flag max_connections = ${least} or more, which restarts the instance`,
    replicates: byAttribute,
  },
  alloydb: {
    name: 'AlloyDB',
    logicalReplication: 'set the database flag alloydb.logical_decoding = on, which restarts the instance',
    connections: (least) =>
      `set the database flag max_connections = ${least} or more, which restarts the instance`,
    replicates: byAttribute,
  },
  azure: {
    name: 'Azure Database for PostgreSQL',
    logicalReplication: 'set wal_level = logical under server parameters and restart the server',
    connections: (least) =>
      `set max_connections = ${least} or more under server parameters and restart the server`,
    replicates: byAttribute,
  },
  neon: {
    name: 'Neon',
    logicalReplication:
      'enable logical replication in the settings of the project, which restarts its computes',
    connections: byCompute,
    replicates: (role) => `make ${role} in the console of Neon, whose roles may replicate`,
  },
  supabase: {
    name: 'Supabase',
    logicalReplication: 'connect to the database itself rather than to a pooler: its wal_level is logical',
    connections: byCompute,
    replicates: (role) => `as the user postgres, ${byAttribute(role)}`,
  },
};

/** Known from their documentation alone (migrations/README.md, "Outgrowing one PostgreSQL"). */
const ENGINES: Readonly<Record<string, ManagedService>> = {
  yugabyte: {
    name: 'YugabyteDB',
    logicalReplication: 'give the server a user without REPLICATION, so that changes are polled',
    connections: (least) => `set ysql_max_connections = ${least} or more on each yb-tserver and restart it`,
    replicates: byAttribute,
    caveat:
      'this is YugabyteDB, which was not tried: commits need LOCK TABLE … IN EXCLUSIVE MODE, which its documentation excludes',
  },
  citus: {
    name: 'Citus',
    logicalReplication: 'set wal_level = logical on the coordinator and restart it',
    connections: (least) => `set max_connections = ${least} or more on the coordinator and restart it`,
    replicates: byAttribute,
    caveat: 'this is Citus: the tables of a cluster stay on the coordinator, and workers bring nothing',
  },
};

/** The advice for a PostgreSQL that its owner runs. */
const OWN: ManagedService = {
  name: '',
  logicalReplication:
    'set wal_level = logical and restart PostgreSQL ' +
    '(Amazon RDS and Aurora: rds.logical_replication = 1; Cloud SQL: cloudsql.logical_decoding = on; Azure: wal_level = logical under server parameters)',
  connections: (least) => `set max_connections = ${least} or more and restart PostgreSQL`,
  replicates: byAttribute,
};

const hasRole = (name: string): string => `EXISTS (SELECT FROM pg_roles WHERE rolname = '${name}')`;
const hasSetting = (name: string): string => `current_setting('${name}', true) IS NOT NULL`;

/** An expression: the key of the service, or null. */
export const SERVICE = `(CASE
      WHEN to_regproc('yb_servers') IS NOT NULL THEN 'yugabyte'
      WHEN to_regproc('aurora_version') IS NOT NULL THEN 'aurora'
      WHEN ${hasRole('rds_superuser')} OR ${hasSetting('rds.logical_replication')} THEN 'rds'
      WHEN ${hasRole('cloudsqlsuperuser')} OR ${hasSetting('cloudsql.logical_decoding')} THEN 'cloudsql'
      WHEN ${hasRole('alloydbsuperuser')} OR ${hasSetting('alloydb.logical_decoding')} THEN 'alloydb'
      WHEN ${hasRole('azure_pg_admin')} OR ${hasSetting('azure.extensions')} THEN 'azure'
      WHEN ${hasRole('neon_superuser')} OR ${hasSetting('neon.tenant_id')} THEN 'neon'
      WHEN ${hasRole('supabase_admin')} THEN 'supabase'
      WHEN to_regproc('citus_version') IS NOT NULL THEN 'citus'
    END)`;

export const toService = (key: string | null | undefined): ManagedService =>
  SERVICES[key ?? ''] ?? ENGINES[key ?? ''] ?? OWN;
