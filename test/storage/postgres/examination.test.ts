// @module-tag long
import pg from 'pg';
import { expect, test } from 'vitest';
import type { Finding } from '../../../src/storage/postgres/examination/examination.ts';
import { setUpDatabase } from '../../../src/storage/postgres/setup.ts';
import { TestRoles } from '../../kit/roles.ts';
import { createTestDatabase, startPrivatePostgres } from '../../postgres.ts';

const examine = (url: string): Promise<Finding[]> =>
  setUpDatabase({ urls: [url], poolSize: 1 }, (database) => database.examine());

const textsOf = (findings: readonly Finding[], kind: Finding['kind']): string[] =>
  findings.filter((finding) => finding.kind === kind).map(({ text }) => text);

async function runOn(url: string, ...statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

test('a database with all that a server needs lacks nothing, and is as empty afterwards', async () => {
  await using database = await createTestDatabase({ empty: true });
  const findings = await examine(database.url);
  expect(textsOf(findings, 'lacks')).toEqual([]);
  expect(textsOf(findings, 'history')).toEqual([]);
  expect(textsOf(findings, 'fine').join('\n')).toContain(
    'there is no cluster here yet: the first server makes it',
  );
  expect(
    await database.query("SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace"),
  ).toEqual([]);
});

test('the history of a cluster is measured by resource, and what it will take is extrapolated to the window', async () => {
  await using database = await createTestDatabase();
  await database.query("UPDATE compaction SET history_window = '1 day'");
  await database.query(`SELECT set_shorter_histories('{"leases.coordination.k8s.io": 3600}')`);
  const write = (group: string, resource: string, times: number, age = '0 s'): Promise<unknown> =>
    database.query(
      `INSERT INTO revisions (revision, api_group, resource, namespace, name, uid, verb, object, committed_at, write_id,
         follows_revision, username, user_agent, source_address, request_id, field_manager)
       SELECT nextval('revisions_revision_seq'), $1, $2, 'default', 'a-' || i, gen_random_uuid()::text, 'create',
         json_build_object('data', repeat('x', 300)), clock_timestamp() - $4::interval, gen_random_uuid(), 0, '', '', '', '', ''
       FROM generate_series(1, $3::int) i`,
      [group, resource, times, age],
    );
  await write('', 'pods', 1);
  expect(textsOf(await examine(database.url), 'history')).toEqual([
    expect.stringMatching(/^all: \d.* on disk; what it will take can be seen once it is an hour old$/),
    expect.stringMatching(/^pods: \d+ kB$/),
  ]);
  await database.query("UPDATE revisions SET committed_at = committed_at - interval '2 hours'");
  await write('', 'pods', 300, '90 min');
  await write('', 'pods', 300);
  await write('coordination.k8s.io', 'leases', 100);
  const [all = '', ...others] = textsOf(await examine(database.url), 'history');
  expect(all).toMatch(
    /^all: \d.* on disk; at the rate of the last hour about .* are written a day, and .* kept in the end$/,
  );
  expect(others).toEqual([
    expect.stringMatching(/^pods: .*; about [\d.]+ MB a day, and [\d.]+ MB kept for the window of 1d$/),
    expect.stringMatching(
      /^leases\.coordination\.k8s\.io: .*; about .* a day, and .* kept for the window of 1h$/,
    ),
  ]);
});

/** In bytes, of `1.5 MB`. */
const toBytes = (text = ''): number => {
  const [value, unit = 'B'] = text.split(' ');
  return Number(value) * 1000 ** ['B', 'kB', 'MB', 'GB'].indexOf(unit);
};

/** What is said of one resource, or of all. */
async function predicted(url: string, resource: string): Promise<{ day: number; kept: number }> {
  const line = textsOf(await examine(url), 'history').find((text) => text.startsWith(`${resource}:`)) ?? '';
  const [, day, kept] = /about (\S+ \S+) (?:are written )?a day, and (\S+ \S+) kept/.exec(line) ?? [];
  return { day: toBytes(day), kept: toBytes(kept) };
}

test('of a resource with a shorter history, what is kept in the end is two of its windows and a partition, where thinning is worth it', async () => {
  await using database = await createTestDatabase();
  await database.query("UPDATE compaction SET history_window = '10 days'");
  await database.query(`SELECT set_shorter_histories('{"events": 7200}')`);
  const write = (resource: string, times: number, age: string): Promise<unknown> =>
    database.query(
      `INSERT INTO revisions (revision, api_group, resource, namespace, name, uid, verb, object, committed_at, write_id,
         follows_revision, username, user_agent, source_address, request_id, field_manager)
       SELECT nextval('revisions_revision_seq'), '', $1, 'default', 'a-' || i, gen_random_uuid()::text, 'create',
         json_build_object('data', repeat('x', 300)), clock_timestamp() - $3::interval, gen_random_uuid(), 0, '', '', '', '', ''
       FROM generate_series(1, $2::int) i`,
      [resource, times, age],
    );
  await database.query('SELECT make_partition(0) FROM generate_series(1, 3)');
  await write('pods', 1, '2 hours');
  // A partition has 10,000 rows, which are written in an hour; a thirtieth of the window is more: eight hours.
  await write('events', 9000, '1 min');
  await write('pods', 1000, '1 min');
  const events = await predicted(database.url, 'events');
  expect(events.kept / events.day).toBeCloseTo((2 * 2 + 8) / 24, 1);
  const pods = await predicted(database.url, 'pods');
  expect(pods.kept / pods.day).toBeCloseTo(10 + 8 / 24, 0);
  expect(events.day / pods.day).toBeCloseTo(9, 0);
  // All that is on disk was written in the last hour.
  const [size] = await database.query<{ bytes: number }>(
    'SELECT sum(pg_total_relation_size(p.partition))::float8 AS bytes FROM log_partitions() p',
  );
  const all = await predicted(database.url, 'all');
  expect(all.day / (24 * (size?.bytes ?? 0))).toBeCloseTo(1, 1);
  // Less than half of a partition would go: it is not written anew for that.
  await write('pods', 9000, '1 min');
  const unthinned = await predicted(database.url, 'events');
  expect(unthinned.kept / unthinned.day).toBeCloseTo(10 + 8 / 24, 0);
});

test('what a user may not do is missing or a warning, by whether a server can live without it', async () => {
  await using database = await createTestDatabase({ empty: true });
  await using roles = new TestRoles(database);
  await database.query('REVOKE CREATE ON SCHEMA public FROM PUBLIC');
  const url = await roles.make('guest', 'CONNECTION LIMIT 9');
  const findings = await examine(url);
  expect(textsOf(findings, 'lacks')).toEqual([
    expect.stringContaining(`GRANT CREATE ON SCHEMA "public" TO "${roles.nameOf('guest')}"`),
  ]);
  const warnings = textsOf(findings, 'warning');
  expect(warnings).toContainEqual(
    expect.stringContaining(`ALTER ROLE "${roles.nameOf('guest')}" REPLICATION`),
  );
  expect(warnings).toContain('the user has CONNECTION LIMIT 9: a server opens 15');
});

test('an old schema of another owner is missing what the owner has to migrate', async () => {
  await using database = await createTestDatabase();
  await using roles = new TestRoles(database);
  const url = await roles.make('server');
  await database.query(`SELECT grant_server('${roles.nameOf('server')}')`);
  expect(textsOf(await examine(url), 'fine')).toContain('all migrations were applied');
  await database.query('DELETE FROM schema_migrations');
  expect(textsOf(await examine(url), 'lacks')).toEqual([
    expect.stringMatching(
      /^the database lacks migration 64 \(baseline\) and \d+ more: run pg-apiserver migrate as /,
    ),
  ]);
});

test('settings that were taken away are found, each with what to change', async () => {
  await using postgres = await startPrivatePostgres({
    empty: true,
    settings: [
      'wal_level=replica',
      'max_connections=20',
      'max_replication_slots=1',
      'synchronous_commit=off',
      'default_transaction_isolation=serializable',
    ],
  });
  await runOn(postgres.url, "SELECT pg_create_physical_replication_slot('held')");
  const findings = await examine(postgres.url);
  expect(textsOf(findings, 'lacks')).toEqual([
    expect.stringMatching(/^wal_level is replica: set wal_level = logical and restart PostgreSQL /),
    'max_connections is 20: set max_connections = 40 or more and restart PostgreSQL.',
  ]);
  const warnings = textsOf(findings, 'warning');
  for (const beginning of [
    'default_transaction_isolation is serializable',
    'an acknowledged write is in memory alone: fsync is off',
    'synchronous_commit is off',
    'replication slots: 0 of 1 are free',
  ])
    expect(warnings).toContainEqual(expect.stringContaining(beginning));
});

/** What only these services have, and the words in which their customers change wal_level. */
const SERVICES = [
  ['Amazon RDS', 'CREATE ROLE rds_superuser', 'in the DB parameter group and reboot'],
  [
    'Amazon Aurora',
    "CREATE FUNCTION aurora_version() RETURNS text LANGUAGE sql RETURN '16.1'",
    'in the DB cluster parameter group',
  ],
  ['Cloud SQL', 'CREATE ROLE cloudsqlsuperuser', 'the database flag cloudsql.logical_decoding = on'],
  ['AlloyDB', 'CREATE ROLE alloydbsuperuser', 'the database flag alloydb.logical_decoding = on'],
  ['Azure Database for PostgreSQL', 'CREATE ROLE azure_pg_admin', 'under server parameters'],
  ['Neon', 'CREATE ROLE neon_superuser', 'in the settings of the project'],
  ['Supabase', 'CREATE ROLE supabase_admin', 'rather than to a pooler'],
  [
    'Citus',
    "CREATE FUNCTION citus_version() RETURNS text LANGUAGE sql RETURN '13.0'",
    'on the coordinator and restart it',
    'tables of a cluster stay on the coordinator',
  ],
  [
    'YugabyteDB',
    "CREATE FUNCTION yb_servers() RETURNS text LANGUAGE sql RETURN 'a'",
    'a user without REPLICATION',
    'commits need LOCK TABLE',
  ],
] as const;

test('a managed PostgreSQL is known by what only its service has, and described in its words', async () => {
  await using postgres = await startPrivatePostgres({ empty: true, settings: ['wal_level=replica'] });
  for (const [name, made, words, caveat = ''] of SERVICES) {
    await runOn(postgres.url, made);
    const findings = await examine(postgres.url);
    expect(findings[0]?.text).toContain(` of ${name}, database `);
    const missing = textsOf(findings, 'lacks');
    expect(missing).toEqual([expect.stringMatching(/^wal_level is replica: /)]);
    expect(missing[0]).toContain(words);
    const caveats = textsOf(findings, 'warning').filter((text) => text.startsWith(`this is ${name}`));
    expect(caveats).toEqual(caveat === '' ? [] : [expect.stringContaining(caveat)]);
    expect(missing[0]).not.toContain('Amazon RDS and Aurora');
    await runOn(postgres.url, made.replace(/^CREATE (\w+ \w+)(.*)$/, 'DROP $1'));
  }
  await runOn(
    postgres.url,
    'CREATE ROLE rds_superuser; CREATE ROLE rds_replication; CREATE ROLE guest LOGIN',
  );
  await runOn(postgres.url, "ALTER ROLE guest PASSWORD 'secret'; GRANT CREATE ON SCHEMA public TO guest");
  const url = new URL(postgres.url);
  [url.username, url.password] = ['guest', 'secret'];
  expect(textsOf(await examine(url.href), 'warning')).toContainEqual(
    expect.stringContaining('GRANT rds_replication TO "guest"'),
  );
});
