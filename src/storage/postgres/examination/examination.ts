import type pg from 'pg';
import { errorText } from '../../../util/error-text.ts';
import { type ClusterSchema, inSchema } from '../connection/cluster-schema.ts';
import { describeLoggedValues } from '../connection/parameter-log.ts';
import { ISOLATION } from '../connection/session-facts.ts';
import { findPublicationTrouble } from '../feed/publication.ts';
import { assertMayReplicate, ReplicationDenied } from '../feed/replication-right.ts';
import { readMigrations } from '../migration/migration.ts';
import { findLeftMigrations, mayMigrate } from '../migration/right-to-migrate.ts';
import { listMigrations } from '../migration/run-migrations.ts';
import { describeClockDifference } from '../upkeep/correct-clock.ts';
import { type DurabilitySettings, describeSettings, readDurability } from './durability.ts';
import { describeHistory } from './history-size.ts';
import { SERVICE, toService } from './managed-service.ts';
import { findMissingRequirements } from './requirements.ts';

/** One line for a person on a database that is looked at before it is served. */
export interface Finding {
  /** `lacks`: a server would not start. `warning`: it would, and something is worse than it could be. */
  readonly kind: 'lacks' | 'warning' | 'fine' | 'history';
  readonly text: string;
}

interface Circumstances {
  readonly schema: ClusterSchema | undefined;
  /** As Connection.prepares: false behind a pooler that shares sessions. */
  readonly prepares: boolean;
}

type Look = (client: pg.ClientBase, circumstances: Circumstances) => Promise<Finding[]>;

const lacks = (text: string): Finding => ({ kind: 'lacks', text });
const warning = (text: string): Finding => ({ kind: 'warning', text });
const fine = (text: string): Finding => ({ kind: 'fine', text });

/** In the order in which they are shown. */
const LOOKS: Readonly<Record<string, Look>> = {
  'the version': lookAtVersion,
  'the requirements': lookAtRequirements,
  'the migrations': lookAtMigrations,
  'the right to replicate': lookAtReplication,
  'the pooler': async (_client, { prepares }) =>
    prepares
      ? []
      : [
          warning(
            'a pooler shares sessions here: changes are polled; with the address of PostgreSQL itself, they are streamed',
          ),
        ],
  'the isolation level': lookAtIsolation,
  'the durability': lookAtDurability,
  'the connections': lookAtConnections,
  'the slots': lookAtSlots,
  'the log of statements': async (client) => {
    const logged = await describeLoggedValues(client);
    return logged === undefined ? [] : [warning(logged)];
  },
  'the clock': lookAtClock,
  'the history': async (client) =>
    (await describeHistory(client)).map((text) => ({ kind: 'history' as const, text })),
};

/** Makes and changes nothing. What the user may not see becomes a warning. */
export async function examine(client: pg.ClientBase, circumstances: Circumstances): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [what, look] of Object.entries(LOOKS)) {
    const found = await look(client, circumstances).catch((error: unknown) => [
      warning(`${what} cannot be looked at: ${errorText(error)}`),
    ]);
    findings.push(...found);
  }
  return findings;
}

async function lookAtVersion(client: pg.ClientBase): Promise<Finding[]> {
  const { rows } = await client.query<
    Record<'version' | 'db' | 'usr' | 'encoding', string> & { service: string | null }
  >(
    `SELECT current_setting('server_version') AS version, current_database() AS db, current_user AS usr,
      current_setting('server_encoding') AS encoding, ${SERVICE} AS service`,
  );
  return rows.flatMap(({ version, db, usr, encoding, service }) => {
    const { name, caveat } = toService(service);
    const of = name === '' ? '' : ` of ${name}`;
    return [
      fine(
        `PostgreSQL ${version}${of}, database ${JSON.stringify(db)} (${encoding}), user ${JSON.stringify(usr)}`,
      ),
      ...(caveat === undefined ? [] : [warning(caveat)]),
    ];
  });
}

async function lookAtRequirements(client: pg.ClientBase, { schema }: Circumstances): Promise<Finding[]> {
  const wish = { serves: true, makesSchema: schema !== undefined };
  return (await findMissingRequirements(client, wish)).map(lacks);
}

/** What a start would do, without doing it. */
async function lookAtMigrations(client: pg.ClientBase, { schema }: Circumstances): Promise<Finding[]> {
  const migrations = inSchema(readMigrations(), schema);
  try {
    if (!(await mayMigrate(client))) {
      const left = await findLeftMigrations(client, migrations, schema);
      return left === undefined ? [fine('all migrations were applied')] : [warning(left)];
    }
    const listed = await listMigrations(client, migrations, { schema });
    const pending = listed.filter(({ state }) => state !== 'applied');
    if (pending.length === listed.length)
      return [fine('there is no cluster here yet: the first server makes it')];
    const trouble = await findPublicationTrouble(client, schema);
    return [
      pending.length === 0
        ? fine('all migrations were applied')
        : warning(
            `${pending.length} migrations are pending, up to ${pending.at(-1)?.id}: the next start applies them`,
          ),
      ...(trouble === undefined ? [] : [warning(`${trouble.trouble}: the next start makes it again`)]),
    ];
  } catch (error) {
    return [lacks(errorText(error))];
  }
}

async function lookAtReplication(client: pg.ClientBase): Promise<Finding[]> {
  try {
    await assertMayReplicate(client);
    return [];
  } catch (error) {
    if (!(error instanceof ReplicationDenied)) throw error;
    return [warning(`changes are polled: ${error.message}`)];
  }
}

/** Servers set the level of their own sessions, so that another one is in the way of poolers alone. */
async function lookAtIsolation(client: pg.ClientBase): Promise<Finding[]> {
  const { rows } = await client.query<{ level: string }>(
    "SELECT reset_val AS level FROM pg_settings WHERE name = 'default_transaction_isolation'",
  );
  return rows
    .filter(({ level }) => level !== ISOLATION)
    .map(({ level }) =>
      warning(
        `default_transaction_isolation is ${level}: servers use ${ISOLATION} all the same, except behind a pooler that shares sessions`,
      ),
    );
}

async function lookAtDurability(client: pg.ClientBase): Promise<Finding[]> {
  const settings = await readDurability(client);
  const said = `an acknowledged write is ${describeSettings(settings)}`;
  const { rows } = await client.query<{ standbys: string }>(STANDBYS);
  const standbys = Number(rows[0]?.standbys ?? 0);
  return [
    isWeak(settings) ? warning(said) : fine(said),
    ...(settings.commit === 'off'
      ? [
          warning(
            'synchronous_commit is off: writes of the cluster are committed as if it were on, other transactions are not',
          ),
        ]
      : []),
    ...(settings.standbys !== '' && standbys === 0
      ? [warning(`no standby follows, and commits wait for synchronous_standby_names = ${settings.standbys}`)]
      : [fine(standbys === 0 ? 'no standby follows' : `standbys that follow: ${standbys}`)]),
  ];
}

const isWeak = ({ fsync, commit, standbys }: DurabilitySettings): boolean =>
  fsync === 'off' || (standbys !== '' && commit === 'local');

/** Streams of logical slots are of servers, and of other readers of the log. */
const STANDBYS = `
  SELECT count(*) AS standbys
  FROM pg_stat_replication r
  WHERE NOT EXISTS (SELECT FROM pg_replication_slots s WHERE s.active_pid = r.pid AND s.slot_type = 'logical')`;

/** What a server opens (migrations/README.md). */
const CONNECTIONS_OF_A_SERVER = 15;

async function lookAtConnections(client: pg.ClientBase): Promise<Finding[]> {
  const { rows } = await client.query<
    Record<'most' | 'used', string> & Record<'of_role' | 'of_database', string | null>
  >(CONNECTIONS);
  return rows.flatMap(({ most, used, of_role, of_database }) => {
    const free = Number(most) - Number(used);
    const said = `connections: ${free} of ${most} are free, and a server opens ${CONNECTIONS_OF_A_SERVER}`;
    const limits = [
      ['the user', of_role],
      ['the database', of_database],
    ] as const;
    return [
      free < CONNECTIONS_OF_A_SERVER
        ? warning(`${said}: raise max_connections, or close others`)
        : fine(said),
      ...limits.flatMap(([who, limit]) =>
        limit !== null && Number(limit) < CONNECTIONS_OF_A_SERVER
          ? [warning(`${who} has CONNECTION LIMIT ${limit}: a server opens ${CONNECTIONS_OF_A_SERVER}`)]
          : [],
      ),
    ];
  });
}

const CONNECTIONS = `
  SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS most,
    (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS used,
    (SELECT nullif(rolconnlimit, -1) FROM pg_roles WHERE rolname = current_user) AS of_role,
    (SELECT nullif(datconnlimit, -1) FROM pg_database WHERE datname = current_database()) AS of_database`;

/** An abandoned slot keeps the log until the disk is full. */
const MUCH_WAL = '1 GB';

async function lookAtSlots(client: pg.ClientBase): Promise<Finding[]> {
  const { rows } = await client.query<
    Record<'slots' | 'used_slots' | 'senders' | 'used_senders', string> & { holding: string | null }
  >(SLOTS);
  return rows.flatMap(({ slots, used_slots, senders, used_senders, holding }) => [
    ...describeFree('replication slots', 'max_replication_slots', Number(slots), Number(used_slots)),
    ...describeFree('senders of the log', 'max_wal_senders', Number(senders), Number(used_senders)),
    ...(holding === null
      ? []
      : [
          warning(
            `unused slots make PostgreSQL keep over ${MUCH_WAL} of its log: drop them, or let their readers go on: ${holding}`,
          ),
        ]),
  ]);
}

/** Each server streams through a slot of its own. */
function describeFree(what: string, setting: string, most: number, used: number): Finding[] {
  const said = `${what}: ${Math.max(0, most - used)} of ${most} are free, and each server takes one`;
  return [used < most ? fine(said) : warning(`${said}, or polls changes without: raise ${setting}`)];
}

const SLOTS = `
  SELECT current_setting('max_replication_slots') AS slots, (SELECT count(*) FROM pg_replication_slots) AS used_slots,
    current_setting('max_wal_senders') AS senders, (SELECT count(*) FROM pg_stat_replication) AS used_senders,
    (
      SELECT string_agg(slot_name, ', ' ORDER BY slot_name)
      FROM pg_replication_slots
      WHERE NOT active AND pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn) > pg_size_bytes('${MUCH_WAL}')
    ) AS holding`;

/** The answer's way takes time, so that the middle of question and answer is compared. */
async function lookAtClock(client: pg.ClientBase): Promise<Finding[]> {
  const askedMs = Date.now();
  const { rows } = await client.query<{ ms: string }>(
    'SELECT extract(epoch FROM clock_timestamp()) * 1000 AS ms',
  );
  const aheadMs = Number(rows[0]?.ms) - (askedMs + Date.now()) / 2;
  const difference = describeClockDifference(aheadMs / 1000);
  return [
    difference === undefined
      ? fine('the clocks of the database and of this machine agree')
      : warning(difference),
  ];
}
