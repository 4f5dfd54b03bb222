// @module-tag long
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { startCluster } from '../kit/cluster.ts';
import { runMigrate, TestRoles } from '../kit/roles.ts';
import { createTestDatabase } from '../postgres.ts';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const FLAGS = ['--history-window=1s', '--kvstore-compaction-interval=1s', '--authorization-mode=RBAC'];

/** A command of the program that is built. */
const run = (url: string, ...args: string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    execFile(process.execPath, [MAIN, ...args, `--kvstore-servers=${url}`], (error, stdout) =>
      error === null ? resolve(stdout) : reject(error),
    );
  });

test('a server lives its whole life as a role that may create nothing in schema and database', async () => {
  await using database = await createTestDatabase({ empty: true });
  await using roles = new TestRoles(database);
  const made = await runMigrate(database.url, `--roles=${roles.prefix}`);
  expect([made.code, made.stderr]).toEqual([0, '']);
  expect(made.lines.at(-1)).toMatch(/^applied baseline, /);
  const again = await runMigrate(database.url, `--roles=${roles.prefix}`);
  expect(again.lines.at(-1)).toBe('the database is up to date');

  const url = await roles.urlOf('server');
  const server = roles.nameOf('server');
  const name = new URL(url).pathname.slice(1);
  expect(
    await database.query(
      `SELECT has_schema_privilege('${server}', 'public', 'CREATE') AS schema, has_database_privilege('${server}', '${name}', 'CREATE') AS database`,
    ),
  ).toEqual([{ schema: false, database: false }]);
  await using cluster = await startCluster(url, FLAGS);
  const create = async (object: string): Promise<number> =>
    (await cluster.request('POST', CONFIG_MAPS, { metadata: { name: object } })).code;
  const watch = cluster.watch(`${CONFIG_MAPS}?watch=true`);
  expect(await create('a')).toBe(201);
  const service = await cluster.request('POST', '/api/v1/namespaces/default/services', {
    metadata: { name: 'web' },
    spec: { ports: [{ port: 80 }] },
  });
  expect(service.json.spec.clusterIP).toMatch(/^\d/);
  await expect
    .poll(async () => (await cluster.request('GET', '/readyz?verbose')).text)
    .toContain('readyz check passed');
  expect((await cluster.request('GET', '/metrics')).text).toMatch(
    /pg_apiserver_tail_mode\{mode="streaming"\} 1/,
  );

  // What fills a partition.
  const [{ first } = { first: '' }] = await database.query<{ first: string }>(
    'SELECT partition::text AS first FROM log_partitions() LIMIT 1',
  );
  await database.query(
    "SELECT setval('revisions_revision_seq', (SELECT min(high) - 1 FROM log_partitions()))",
  );
  for (const object of ['b', 'c']) expect(await create(object)).toBe(201);
  await watch.reached(3);
  await expect
    .poll(async () => {
      // The newest revision is never behind the window.
      await cluster.request(
        'PATCH',
        `${CONFIG_MAPS}/c`,
        {},
        { 'content-type': 'application/merge-patch+json' },
      );
      return (await database.query(`SELECT to_regclass('${first}') AS left`))[0];
    })
    .toEqual({ left: null });

  expect(await run(url, 'rotate-signing-key', '0s')).toMatch(/signs/);
  expect(await run(url, 'begin-epoch', 'a restore')).toMatch(
    /^the history begins anew after revision \d{10,}\n$/,
  );
  await expect.poll(() => JSON.stringify(watch.events.at(-1)), { timeout: 60_000 }).toContain('"code":410');
  watch.stop();

  await cluster.stop();
  await database.query("UPDATE epochs SET timeline = 'of before the promotion'");
  await cluster.start();
  const [{ epoch } = { epoch: '' }] = await database.query<{ epoch: string }>(
    'SELECT max(epoch) AS epoch FROM epochs',
  );
  expect(BigInt(epoch)).toBeGreaterThan(1_000_000_000n);
  const after = await cluster.request('POST', CONFIG_MAPS, { metadata: { name: 'd' } });
  expect(BigInt(after.json.metadata.resourceVersion)).toBeGreaterThan(BigInt(epoch));
  const { items } = (await cluster.request('GET', CONFIG_MAPS)).json;
  expect(items.map((item: { metadata: { name: string } }) => item.metadata.name)).toEqual([
    ...['a', 'b', 'c', 'd'],
    'kube-root-ca.crt',
  ]);
  expect(cluster.output.stderr + cluster.output.stdout).not.toMatch(/permission denied|must be owner/);
}, 180_000);

test('a server role on a database that was not migrated gets one line that says what to run', async () => {
  await using database = await createTestDatabase({ empty: true });
  await using roles = new TestRoles(database);
  await database.query('REVOKE CREATE ON SCHEMA public FROM PUBLIC');
  const url = await roles.make('server', 'REPLICATION');
  await expect(startCluster(url)).rejects.toThrow(
    /\npg-apiserver: the database was not migrated yet, which this user may not do: run pg-apiserver migrate as a user who may, or GRANT [^\n]*\n$/,
  );
});

test('migrate says in one line what is wrong with --roles', async () => {
  await using database = await createTestDatabase({ empty: true });
  await using roles = new TestRoles(database);
  const cases: [string[], RegExp][] = [
    [['--roles='], /^pg-apiserver: --roles: "" is neither what the names begin with/],
    [['--roles=pg_mine'], /^pg-apiserver: --roles: "pg_mine" is neither/],
    [['--roles=a,b'], /^pg-apiserver: --roles: "a,b" is neither/],
    [['--roles=a,b,a'], /^pg-apiserver: --roles: "a,b,a" is neither/],
    [['--roles', '--list'], /^pg-apiserver: --roles applies all migrations: it goes with none of/],
    [['--roles', '--to=31'], /^pg-apiserver: --roles applies all migrations/],
  ];
  for (const [args, message] of cases) {
    const outcome = await runMigrate(database.url, ...args);
    expect([outcome.code, outcome.stderr.trimEnd()], args.join(' ')).toEqual([
      2,
      expect.stringMatching(message),
    ]);
  }
  const url = await roles.make('nobody', 'REPLICATION');
  const refused = await runMigrate(url, `--roles=${roles.prefix}`);
  expect([refused.code, refused.stderr.trimEnd()]).toEqual([
    1,
    expect.stringMatching(/^pg-apiserver: --roles: the user ".*" needs CREATEROLE, because [^\n]*$/),
  ]);
});
