import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { readMigrations } from '../../../src/storage/postgres/migration/migration.ts';
import { migrate } from '../../../src/storage/postgres/migration/run-migrations.ts';
import { setUpDatabase } from '../../../src/storage/postgres/setup.ts';
import { NO_REVISION, type Revision } from '../../../src/storage/revision.ts';
import type { Write, WriteVerb } from '../../../src/storage/revision-log.ts';
import { type Block, blocksOf, OPERATORS, PAGES, withMoment } from '../../kit/pages.ts';
import { TestRoles } from '../../kit/roles.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';
import { beginPartition, keepHistory, openLog, Recorder, write } from './kit.ts';

const PATIENCE = { timeout: 60_000, interval: 20 };
const never = new AbortController().signal;
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** What `migrate --roles` says. */
async function makeRoles(url: string, { prefix }: TestRoles): Promise<string[]> {
  const said: string[] = [];
  const names = { migrator: `${prefix}_migrator`, server: `${prefix}_server`, reader: `${prefix}_reader` };
  await setUpDatabase({ urls: [url], poolSize: 1 }, (database) =>
    database.makeRoles(names, { say: (line) => said.push(line) }),
  );
  return said;
}

interface Client extends AsyncDisposable {
  /** All that PostgreSQL sent besides answers. */
  readonly notices: readonly string[];
  query<Row extends pg.QueryResultRow>(text: string): Promise<Row[]>;
  /** SQLSTATE, or 'allowed'. */
  attempt(text: string): Promise<string>;
}

async function connectAs(url: string): Promise<Client> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  const notices: string[] = [];
  client.on('notice', (notice) =>
    notices.push(`${notice.message} ${notice.detail ?? ''} ${notice.where ?? ''}`),
  );
  await client.connect();
  return {
    notices,
    query: async <Row extends pg.QueryResultRow>(text: string) => (await client.query<Row>(text)).rows,
    attempt: (text) =>
      client.query(text).then(
        () => 'allowed',
        (error: unknown) => (error instanceof pg.DatabaseError ? (error.code ?? '') : String(error)),
      ),
    [Symbol.asyncDispose]: () => client.end(),
  };
}

/** A printed plan has a value as decimal bytes: `[ 104 117 115 104 ]`. */
const withBytesAsText = (printed: string): string =>
  printed + printed.replace(/-?\b\d+\b ?/g, (byte) => String.fromCharCode(Number(byte) & 255));

const DENIED = '42501';
/** Of a view that is a union. */
const NOT_UPDATABLE = '55000';

/** A Secret with the word `hush` in all places where one may be hidden. */
function secret(verb: WriteVerb, name: string, expected?: Revision, more = ''): Write {
  const object = {
    kind: 'Secret',
    apiVersion: 'v1',
    metadata: {
      name,
      namespace: 'default',
      labels: { app: 'web' },
      annotations: { [LAST_APPLIED]: '{"data":{"key":"hush"}}', note: `shown${more}` },
    },
    data: { key: `hush${more}` },
    stringData: { other: `hush${more}` },
  };
  return {
    ...write(verb, name, expected),
    key: { group: '', resource: 'secrets', namespace: 'default', name },
    json: Buffer.from(JSON.stringify(object)),
  };
}

const VIEWS = ['history', 'history_jsonb', 'current_objects', 'objects_jsonb', 'superseded_objects'];
const VIEWS_WITHOUT_OBJECTS = ['changes', 'labels', 'conditions'];

const SQL = PAGES.flatMap(blocksOf).filter(({ language }) => language === 'sql');

const statementsOf = (text: string): string[] =>
  text.split(';').filter((statement) => statement.replaceAll(/--.*$/gm, '').trim() !== '');

/** What the pages ask as a reader. All else in them is what an operator does. */
const isForReaders = ({ page, text }: Block): boolean =>
  page !== OPERATORS && statementsOf(text).every((one) => /^(--.*\n|\s)*SELECT\b/.test(one));

const READS_OF_VIEWS = VIEWS.map((view) => `SELECT v::text AS row FROM ${view} v`);
const ALL_READS = [
  ...READS_OF_VIEWS,
  'SELECT c::text AS row FROM cluster_at((SELECT max(revision) FROM history)) c',
  'SELECT c::text AS row FROM cluster_at((SELECT revision FROM compaction)) c',
  'SELECT c::text AS row FROM cluster_at(now()) c',
  "SELECT c::text AS row FROM cluster_at((SELECT max(revision) FROM history), of_namespace => 'default') c",
  "SELECT c::text AS row FROM cluster_at((SELECT revision FROM compaction), 'default', 'secrets') c",
  "SELECT c::text AS row FROM cluster_at(now(), of_namespace => 'default', of_resource => 'secrets', of_group => '') c",
  "SELECT object_at('', 'secrets', 'default', name, r)::text AS row FROM current_objects, (SELECT max(revision) AS r FROM history) h",
  "SELECT object_at('', 'secrets', 'default', 'kept', now())::text AS row",
  "SELECT object_at('', 'secrets', 'default', 'kept', revision)::text AS row FROM compaction",
  'SELECT c::text AS row FROM changes c',
  'SELECT d::text AS row FROM deleted d RIGHT JOIN compaction ON true',
  "SELECT c::text AS row FROM changes_of('', 'secrets', 'default', 'kept') c",
  "SELECT b::text AS row FROM blame_of('', 'secrets', 'default', 'kept') b",
  "SELECT t::text AS row FROM timeline('default') t",
  'SELECT d::text AS row FROM cluster_diff((SELECT revision FROM compaction), (SELECT max(revision) FROM history)) d',
  'SELECT i::text AS row FROM images_at(now()) i RIGHT JOIN compaction ON true',
];

/** All that a reader is shown, as text. */
async function readAll(reader: Client, queries = ALL_READS): Promise<string> {
  let shown = '';
  for (const query of queries) {
    const rows = await reader.query<{ row: string | null }>(query);
    expect(rows.length, query).toBeGreaterThan(0);
    shown += rows.map(({ row }) => row).join('\n');
  }
  return shown;
}

/** Secrets in the log, among the objects, and kept beside the log. */
async function fill(database: TestDatabase, url: string): Promise<void> {
  const log = openLog(url);
  const kept = await log.committer.commit(secret('create', 'kept'));
  await log.committer.commit(secret('create', 'odd', undefined, ' \0 \ud800'));
  await log.committer.commit(write('create', 'plain', undefined, 'in plain sight'));
  await keepHistory(database, '0');
  await beginPartition(database);
  await log.committer.commit(write('create', 'edge'));
  await log.committer.commit(write('create', 'next'));
  await log.compactor.compact(never);
  await keepHistory(database, '1 hour');
  await log.committer.commit(secret('update', 'kept', kept, ' again'));
  await log.committer.commit(secret('create', 'fresh'));
  await log.close();
}

test('a database that one user made is given to the migrator, whole; doing it again changes nothing', async () => {
  await using database = await createTestDatabase();
  await using roles = new TestRoles(database);
  const said = await makeRoles(database.url, roles);
  expect(said.slice(0, 3)).toEqual(
    ['migrator', 'server', 'reader'].map(
      (role) =>
        `made the role ${roles.nameOf(role)}, without a password: \\password ${roles.nameOf(role)} in psql sets one`,
    ),
  );
  expect(said).toContainEqual(
    expect.stringMatching(`^gave the schema to ${roles.nameOf('migrator')}: \\d+ tables`),
  );
  expect(said.slice(-2)).toEqual([
    `${roles.nameOf('server')} may serve`,
    expect.stringMatching(`^${roles.nameOf('reader')} may read, but not what Secrets hold`),
  ]);
  const owners = await database.query(`
    SELECT DISTINCT pg_get_userbyid(owner) AS owner
    FROM (
      SELECT relowner AS owner FROM pg_class WHERE relnamespace = 'public'::regnamespace
      UNION ALL SELECT proowner FROM pg_proc WHERE pronamespace = 'public'::regnamespace
      UNION ALL SELECT pubowner FROM pg_publication
    ) of`);
  expect(owners).toEqual([{ owner: roles.nameOf('migrator') }]);
  const rights = (): Promise<unknown> =>
    database.query(`
      SELECT relname, relacl::text FROM pg_class WHERE relnamespace = 'public'::regnamespace
      UNION ALL SELECT proname, proacl::text FROM pg_proc WHERE pronamespace = 'public'::regnamespace
      ORDER BY 1, 2`);
  const before = await rights();
  expect(await makeRoles(database.url, roles)).toEqual([
    ...['migrator', 'server', 'reader'].map((role) => `the role ${roles.nameOf(role)} is there`),
    ...said.slice(-2),
  ]);
  expect(await rights()).toEqual(before);
});

test('nothing is granted to everybody', async () => {
  await using database = await createTestDatabase();
  const open = await database.query(`
    SELECT of FROM (
      SELECT relname::text AS of, coalesce(relacl, acldefault('r', relowner)) AS acl
      FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'S')
      UNION ALL
      SELECT oid::regprocedure::text, coalesce(proacl, acldefault('f', proowner))
      FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    ) o
    WHERE EXISTS (SELECT FROM aclexplode(acl) a WHERE a.grantee = 0)`);
  expect(open).toEqual([]);
});

/** What a reader may make or set in a session of its own to be handed a value that PostgreSQL works with. */
const TRAPS: Record<string, string> = {
  'domains in pg_temp with the names of types': `
    CREATE FUNCTION pg_temp.note(value text) RETURNS boolean LANGUAGE plpgsql AS
      $$ BEGIN RAISE WARNING 'seen: %', value; RETURN true; END $$;
    DO $$ DECLARE of text; BEGIN
      FOREACH of IN ARRAY '{json,jsonb,text,bytea,name,regclass,numeric}'::text[] LOOP
        EXECUTE format('CREATE DOMAIN pg_temp.%I AS pg_catalog.%1$I CHECK (pg_temp.note(VALUE::pg_catalog.text))', of);
        EXECUTE format('CREATE DOMAIN pg_temp.%I AS pg_catalog.%I[] CHECK (pg_temp.note(VALUE::pg_catalog.text))', '_' || of, of);
      END LOOP;
    END $$`,
  'plans that are printed to the client': `
    SET client_min_messages = log; SET debug_print_plan = on; SET debug_print_parse = on; SET debug_print_rewritten = on`,
  'strings with escapes, and equality with null':
    'SET standard_conforming_strings = off; SET transform_null_equals = on',
  'functions and operators that fit literals better': `
    CREATE FUNCTION own.note(value jsonb, other jsonb) RETURNS jsonb LANGUAGE plpgsql AS
      $$ BEGIN RAISE WARNING 'seen: %', value; RETURN value; END $$;
    CREATE OPERATOR own.- (FUNCTION = own.note, LEFTARG = jsonb, RIGHTARG = jsonb);
    CREATE OPERATOR own.#- (FUNCTION = own.note, LEFTARG = jsonb, RIGHTARG = jsonb);
    CREATE OPERATOR own.-> (FUNCTION = own.note, LEFTARG = jsonb, RIGHTARG = jsonb);
    SET search_path = own, pg_temp, pg_catalog, public`,
  'a search path that begins with pg_temp': 'SET search_path = pg_temp, public, pg_catalog',
  'every message that PostgreSQL has': 'SET client_min_messages = debug5',
};

describe('a reader', () => {
  let database: TestDatabase;
  let roles: TestRoles;

  beforeAll(async () => {
    database = await createTestDatabase();
    roles = new TestRoles(database);
    await makeRoles(database.url, roles);
    await fill(database, await roles.urlOf('server'));
    // As on a database whose owner did not run --roles.
    const name = new URL(database.url).pathname.slice(1);
    await database.query(`GRANT TEMPORARY ON DATABASE ${name} TO ${roles.nameOf('reader')}`);
  });

  afterAll(async () => {
    await roles[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });

  /** The schema `own`, in which the reader may make what it likes, for the time of a test. */
  async function ownSchema(): Promise<AsyncDisposable> {
    await database.query(`CREATE SCHEMA own AUTHORIZATION ${roles.nameOf('reader')}`);
    return { [Symbol.asyncDispose]: async () => void (await database.query('DROP SCHEMA own CASCADE')) };
  }

  test('can run every query of the pages', async () => {
    await using reader = await connectAs(await roles.urlOf('reader'));
    // A moment of now, which history has, without a type, as the pages write it.
    const queries = SQL.filter(isForReaders).flatMap(({ text }) => statementsOf(withMoment(text, 'now')));
    expect(queries.length).toBeGreaterThanOrEqual(15);
    for (const query of queries) expect(await reader.attempt(query), query).toBe('allowed');
  });

  test('is not shown what Secrets hold, anywhere, until secret_data is granted', async () => {
    await using reader = await connectAs(await roles.urlOf('reader'));
    // What the reader makes does not stand for the view.
    await reader.query('CREATE TEMPORARY TABLE secret_data (only_mine int)');
    const hidden = await readAll(reader);
    expect(hidden).not.toContain('hush');
    const ofSecrets = await reader.query(
      "SELECT path, old, new FROM changes WHERE resource = 'secrets' AND verb = 'update'",
    );
    expect(ofSecrets).toContainEqual({ path: 'data.key', old: null, new: null });
    expect(hidden).not.toContain(LAST_APPLIED);
    expect(hidden).toContain('shown');
    expect(hidden).toContain('in plain sight');
    expect(await reader.attempt('SELECT FROM public.secret_data')).toBe(DENIED);
    await database.query(`GRANT SELECT ON secret_data TO ${roles.nameOf('reader')}`);
    await using _revoked = {
      [Symbol.asyncDispose]: () =>
        database.query(`REVOKE SELECT ON secret_data FROM ${roles.nameOf('reader')}`).then(() => {}),
    };
    const shown = await readAll(reader);
    for (const view of VIEWS) {
      const rows = await reader.query<{ row: string }>(
        `SELECT v::text AS row FROM ${view} v WHERE object::text LIKE '%hush%'`,
      );
      expect(rows.length, view).toBeGreaterThan(0);
    }
    expect(shown).toContain(LAST_APPLIED);
    expect(
      await reader.query(
        "SELECT name FROM public.secret_data WHERE object::text LIKE '%hush%' ORDER BY name",
      ),
    ).toEqual([{ name: 'fresh' }, { name: 'kept' }, { name: 'odd' }]);
  });

  test('what a reader has on the search path is not handed what Secrets hold', async () => {
    await using _own = await ownSchema();
    await using reader = await connectAs(await roles.urlOf('reader'));
    await reader.query(`
      CREATE FUNCTION own.keep(object jsonb, left_out text[]) RETURNS jsonb LANGUAGE sql IMMUTABLE AS 'SELECT object';
      CREATE OPERATOR own.- (FUNCTION = own.keep, LEFTARG = jsonb, RIGHTARG = text[]);
      SET search_path = own, pg_catalog, public`);
    expect(await readAll(reader)).not.toContain('hush');
  });

  test.each(Object.keys(TRAPS))('is handed no Secret by %s', async (trap) => {
    await using _own = await ownSchema();
    await using reader = await connectAs(await roles.urlOf('reader'));
    await reader.query(TRAPS[trap] ?? '');
    // The other reads work on what the views show already, where a trap may catch what it likes, or end them.
    expect(await readAll(reader, READS_OF_VIEWS)).not.toContain('hush');
    for (const query of ALL_READS) await reader.attempt(query);
    expect(withBytesAsText(reader.notices.join('\n'))).not.toContain('hush');
  });

  test('what views hand a Secret to finds nothing that a reader made, and prints no plan', async () => {
    const open = await database.query(`
      WITH called AS (
        SELECT DISTINCT p.oid, p.proname AS name, p.proconfig AS settings
        FROM pg_depend reads
        JOIN pg_depend calls ON calls.classid = reads.classid AND calls.objid = reads.objid
        JOIN pg_proc p ON calls.refclassid = 'pg_proc'::regclass AND calls.refobjid = p.oid
        WHERE reads.classid = 'pg_rewrite'::regclass AND reads.refclassid = 'pg_class'::regclass
          AND reads.refobjid IN ('revisions'::regclass, 'objects'::regclass, 'superseded'::regclass, 'objects_with_bytes'::regclass)
          AND p.pronamespace = 'public'::regnamespace
          -- These compare states that the view history shows.
          AND p.proname NOT IN ('as_jsonb', 'changes_between')
      )
      SELECT name FROM called
      WHERE NOT coalesce(settings @> ARRAY[
        'search_path=pg_catalog, pg_temp', 'standard_conforming_strings=on',
        'debug_print_parse=off', 'debug_print_rewritten=off', 'debug_print_plan=off'
      ], false)`);
    expect(open).toEqual([]);
    const early = await database.query(`
      SELECT p.proname, s.setting
      FROM pg_proc p, unnest(p.proconfig) AS s (setting)
      WHERE p.pronamespace = 'public'::regnamespace AND s.setting LIKE 'search_path=%' AND s.setting NOT LIKE '%, pg_temp'`);
    expect(early).toEqual([]);
  });

  test('reads no table with objects or keys, writes nothing, and stops no server', async () => {
    await using reader = await connectAs(await roles.urlOf('reader'));
    const tables = await database.query<{ name: string }>(
      "SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v')",
    );
    const allowed = new Set([
      ...VIEWS,
      ...VIEWS_WITHOUT_OBJECTS,
      'deleted',
      'compaction',
      'epochs',
      'log_bounds',
    ]);
    for (const { name } of tables) {
      const outcome = allowed.has(name) ? 'allowed' : DENIED;
      expect(await reader.attempt(`SELECT * FROM ${name}`), name).toBe(outcome);
      expect([DENIED, NOT_UPDATABLE], name).toContain(await reader.attempt(`DELETE FROM ${name}`));
      expect(await reader.attempt(`BEGIN; LOCK TABLE ${name} IN ROW EXCLUSIVE MODE`), name).toBe(DENIED);
      await reader.query('ROLLBACK');
    }
    const attempts = [
      'SELECT object FROM revisions',
      'CREATE TABLE mine (x int)',
      "CREATE FUNCTION cardinality(text[]) RETURNS int LANGUAGE sql AS 'SELECT 1'",
      "SELECT nextval('revisions_revision_seq')",
      'SELECT make_partition(1)',
      "SELECT drop_partition('0')",
      'SELECT leave_partition()',
      'SELECT await_commits()',
      "SELECT grant_server('x')",
      'INSERT INTO history (revision) VALUES (1)',
      "UPDATE current_objects SET name = 'x'",
      'CREATE PUBLICATION mine FOR TABLE revisions',
    ];
    for (const attempt of attempts) expect(await reader.attempt(attempt), attempt).not.toBe('allowed');
  });

  test('cannot hold a transaction open for ever', async () => {
    await using reader = await connectAs(await roles.urlOf('reader'));
    expect(await reader.query('SHOW idle_in_transaction_session_timeout')).toEqual([
      { idle_in_transaction_session_timeout: '10min' },
    ]);
  });
});

test('a server role does all that a server does, and cannot change a table', async () => {
  await using database = await createTestDatabase();
  await using roles = new TestRoles(database);
  await makeRoles(database.url, roles);
  const url = await roles.urlOf('server');
  const troubles: string[] = [];
  const log = openLog(url, { onTrouble: (message) => troubles.push(message) });
  const recorder = new Recorder();
  const stop = new AbortController();
  const tail = log.feed.run(NO_REVISION, recorder, stop.signal);
  await vi.waitFor(() => expect(log.feed.state.mode).toBe('streaming'), PATIENCE);
  await keepHistory(database, '0');
  const created = await log.committer.commit(write('create', 'a'));
  await beginPartition(database);
  await log.committer.commit(write('create', 'edge'));
  const updated = await log.committer.commit(write('update', 'a', created));
  await database.query("UPDATE revisions SET committed_at = now() + interval '1 year' WHERE revision = $1", [
    updated.toString(),
  ]);
  expect(await log.compactor.indexRequests(never)).toBe(1);
  expect(await log.compactor.compact(never)).toBe(1);
  await database.query("UPDATE objects SET expires_at = now() - interval '1 s' WHERE name = 'edge'");
  expect(await log.expirer.expire()).toBe(1);
  expect(await log.workLeases.take('upkeep', 'this', undefined)).toBe(true);
  expect(await log.workLeases.renew('upkeep', 'this')).toBe(true);
  // A timeline that has changed is what a promotion leaves.
  await database.query("UPDATE epochs SET timeline = 'other'");
  const later = await log.committer.commit(write('create', 'later'));
  expect(later).toBeGreaterThan(updated + 1_000_000n);
  await recorder.reached(updated);
  expect(troubles.filter((line) => /permission|denied|owner/.test(line))).toEqual([]);
  stop.abort();
  await tail;
  await log.close();
  await using server = await connectAs(url);
  const attempts = [
    'CREATE TABLE mine (x int)',
    'CREATE SCHEMA mine',
    'ALTER TABLE objects ADD COLUMN x int',
    'DROP TABLE epochs',
    'TRUNCATE revisions',
    'DELETE FROM revisions',
    "UPDATE revisions SET name = 'x'",
  ];
  for (const attempt of attempts) expect(await server.attempt(attempt), attempt).toBe(DENIED);
});

test('migrations that wait are left to the migrator by a server that may not, which says so once', async () => {
  await using database = await createTestDatabase();
  await using roles = new TestRoles(database);
  await makeRoles(database.url, roles);
  const url = await roles.urlOf('server');
  await database.query('DELETE FROM schema_migrations WHERE id = 77');
  const troubles: string[] = [];
  const log = openLog(url, { onTrouble: (message) => troubles.push(message) });
  const left = `left to the owner of the schema: migration 77 (commits_ring_for_pollers): run pg-apiserver migrate as "${roles.nameOf('migrator')}", which "${roles.nameOf('server')}" may not do`;
  for (let time = 0; time < 3; time += 1) await log.compactor.compact(never);
  expect(troubles).toEqual([left]);
  await log.close();
  const start = (): Promise<string[]> => {
    const said: string[] = [];
    const options = { say: (line: string) => void said.push(line) };
    return setUpDatabase({ urls: [url], poolSize: 1 }, (setup) => setup.migrate(options)).then(() => said);
  };
  expect(await start()).toEqual([left]);
  await database.query('DELETE FROM schema_migrations');
  await expect(start()).rejects.toThrow(
    /^the database lacks migration 64 \(baseline\) and \d+ more: run pg-apiserver migrate as ".*_migrator"/,
  );
});

test('what a migration makes belongs to the owner of the schema, for every member that runs it', async () => {
  await using database = await createTestDatabase();
  await using roles = new TestRoles(database);
  await makeRoles(database.url, roles);
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const sql = 'CREATE VIEW extra AS SELECT 1; CREATE TABLE more (id int)';
  await migrate(client, [...readMigrations(), { id: 9999, name: 'extra', checksum: 'extra', sql }]);
  await client.end();
  const owners = await database.query(
    "SELECT DISTINCT pg_get_userbyid(relowner) AS owner FROM pg_class WHERE relname IN ('extra', 'more')",
  );
  expect(owners).toEqual([{ owner: roles.nameOf('migrator') }]);
  // Who served goes on serving.
  const log = openLog(await roles.urlOf('server'));
  await log.committer.commit(write('create', 'a'));
  await log.close();
});

test('roles that are made by hand, as the page for operators has it, migrate, serve and read, and the other SQL of operators works', async () => {
  await using database = await createTestDatabase({ empty: true });
  await using roles = new TestRoles(database);
  const name = new URL(database.url).pathname.slice(1);
  const [byHand = '', ...others] = SQL.filter((block) => !isForReaders(block)).map(({ text }) =>
    text.replaceAll('kube_', `${roles.prefix}_`).replaceAll('DATABASE kube', `DATABASE ${name}`),
  );
  expect(byHand).toContain('CREATE ROLE');
  const [before = '', after = ''] = byHand.split(/^--.*$/m);
  await database.query(before);
  const migrator = await roles.urlOf('migrator');
  await setUpDatabase({ urls: [migrator], poolSize: 1 }, (setup) => setup.migrate({ serves: false }));
  {
    await using client = await connectAs(migrator);
    await client.query(after);
  }
  await fill(database, await roles.urlOf('server'));
  await using reader = await connectAs(await roles.urlOf('reader'));
  expect(await readAll(reader)).not.toContain('hush');
  expect(await reader.query('SHOW idle_in_transaction_session_timeout')).toEqual([
    { idle_in_transaction_session_timeout: '10min' },
  ]);
  await using owner = await connectAs(migrator);
  for (const block of others)
    for (const statement of statementsOf(block))
      expect(await owner.attempt(statement), block).toBe('allowed');
});

test('a user who may not make roles gets one line that says so, and nothing has changed', async () => {
  await using database = await createTestDatabase({ empty: true });
  await using roles = new TestRoles(database);
  const url = await roles.make('nobody');
  await expect(makeRoles(url, roles)).rejects.toThrow(
    `--roles: the user "${roles.nameOf('nobody')}" needs CREATEROLE, because the role ${roles.nameOf('migrator')} is to be made: ALTER ROLE "${roles.nameOf('nobody')}" CREATEROLE`,
  );
  expect(await database.query("SELECT to_regclass('schema_migrations') AS notes")).toEqual([{ notes: null }]);
});

test('an administrator who is no superuser makes the roles, as a managed service has it', async () => {
  await using database = await createTestDatabase({ empty: true });
  await using roles = new TestRoles(database);
  const url = await roles.make('admin', 'CREATEROLE');
  const name = new URL(database.url).pathname.slice(1);
  await database.query(`ALTER DATABASE ${name} OWNER TO ${roles.nameOf('admin')}`);
  await database.query(`ALTER SCHEMA public OWNER TO ${roles.nameOf('admin')}`);
  const said = await makeRoles(url, roles);
  expect(said).toContain(
    `${roles.nameOf('server')} may not replicate yet, so that it polls: ALTER ROLE "${roles.nameOf('server')}" REPLICATION, as a superuser`,
  );
  expect(said).toContain(`${roles.nameOf('admin')} is a member of ${roles.nameOf('migrator')} now`);
  await database.query(`ALTER ROLE ${roles.nameOf('server')} REPLICATION`);
  const log = openLog(await roles.urlOf('server'));
  await log.committer.commit(write('create', 'a'));
  await log.close();
  await makeRoles(url, roles);
  await database.query(`ALTER DATABASE ${name} OWNER TO CURRENT_USER`);
});

test('a server without rights on a database without a schema gets one line that says what to run', async () => {
  await using database = await createTestDatabase({ empty: true });
  await using roles = new TestRoles(database);
  await database.query('REVOKE CREATE ON SCHEMA public FROM PUBLIC');
  const url = await roles.make('server', 'REPLICATION');
  const start = setUpDatabase({ urls: [url], poolSize: 1 }, (setup) => setup.migrate());
  await expect(start).rejects.toThrow(
    /^the database was not migrated yet, which this user may not do: run pg-apiserver migrate as a user who may, or GRANT [^\n]*$/,
  );
});
