// @module-tag long
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { expect, test } from 'vitest';
import { startCluster } from '../../kit/cluster.ts';
import { eventually } from '../../kit/connections.ts';
import { createTestDatabase, startPrivatePostgres } from '../../postgres.ts';
import { startStandby } from '../../storage/postgres/copies.ts';
import { connect, type Session } from '../../storage/postgres/stalls.ts';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

const configMap = (name: string): unknown => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });

/** As many as there are, but for some. */
async function takeConnections(url: string, left: number): Promise<Disposable & { give(): Promise<void> }> {
  const clients: pg.Client[] = [];
  await using session = await connect(url);
  const [limit] = await session.query<{ max_connections: string }>('SHOW max_connections');
  const [used] = await session.query<{ count: string }>(
    "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'",
  );
  const count = Number(limit?.max_connections) - Number(used?.count) - left + 1;
  for (let n = 0; n < count; n += 1) {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => {});
    await client.connect();
    clients.push(client);
  }
  const give = async (): Promise<void> => {
    for (const client of clients.splice(0)) await client.end();
  };
  return { give, [Symbol.dispose]: () => void give() };
}

/** The log writes a trace in one line, within quotes. */
const STACK = /(^|\\n) +at /m;

/** Resolves when so many more sessions have begun. */
async function visited(session: Session, count: number): Promise<void> {
  const sessions = async (): Promise<number> => {
    const text = 'SELECT sessions FROM pg_stat_database WHERE datname = current_database()';
    return Number((await session.query<{ sessions: string }>(text))[0]?.sessions);
  };
  const before = await sessions();
  await eventually(async () => expect(await sessions()).toBeGreaterThanOrEqual(before + count));
}

test('a server that starts while connections are out waits, says so, and starts when there are some', async () => {
  await using postgres = await startPrivatePostgres({ settings: ['max_connections=40'] });
  // Enough for the first steps of a start, and not for all.
  using others = await takeConnections(postgres.url, 2);
  let isReady = false;
  const starting = startCluster(postgres.url).finally(() => {
    isReady = true;
  });
  const refusals = (): number =>
    readFileSync(join(postgres.folder, 'postgres.log'), 'utf8').split('too many clients').length - 1;
  await eventually(() => expect(refusals()).toBeGreaterThan(10));
  expect(isReady).toBe(false);
  await others.give();
  await using cluster = await starting;
  const { stdout, stderr } = cluster.output;
  expect(stdout + stderr).toContain('sorry, too many clients already');
  expect(stdout + stderr).not.toMatch(STACK);
  expect((await cluster.request('POST', CONFIG_MAPS, configMap('a'))).code).toBe(201);
});

test('a server whose database is read-only waits, says so, and starts when it is not', async () => {
  await using database = await createTestDatabase();
  const name = new URL(database.url).pathname.slice(1);
  await using session = await connect(database.url);
  await session.query('SET default_transaction_read_only = off');
  await session.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
  const starting = startCluster(database.url);
  await visited(session, 2);
  await session.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
  await using cluster = await starting;
  expect(cluster.output.stdout).toMatch(/waiting for the database: \S+ is read-only\n/);
  expect(cluster.output.stdout + cluster.output.stderr).not.toMatch(STACK);
});

test('a server whose only host is a standby waits for its promotion', async () => {
  await using primary = await startPrivatePostgres();
  await using standby = await startStandby(primary);
  const starting = startCluster(standby.url);
  {
    await using session = await connect(standby.url);
    await visited(session, 2);
  }
  await standby.promote();
  await using cluster = await starting;
  expect(cluster.output.stdout).toMatch(/waiting for the database: \S+ is a standby\n/);
  expect(cluster.output.stdout + cluster.output.stderr).not.toMatch(STACK);
});

test('a server starts without a slot, says in readiness that it polls, and takes one when it is free', async () => {
  await using postgres = await startPrivatePostgres({ settings: ['max_replication_slots=1'] });
  await using session = await connect(postgres.url);
  await session.query("SELECT pg_create_physical_replication_slot('others')");
  await using cluster = await startCluster(postgres.url);
  const tail = async (): Promise<string> => {
    const { text } = await cluster.request('GET', '/readyz?verbose');
    return text.split('\n').find((line) => line.includes('tail')) ?? '';
  };
  await eventually(async () =>
    expect(await tail()).toBe('[+]tail ok: changes are polled, because they cannot be streamed'),
  );
  const metrics = await cluster.request('GET', '/metrics');
  expect(metrics.text).toContain('pg_apiserver_tail_mode{mode="polling"} 1');
  const watch = cluster.watch(`${CONFIG_MAPS}?watch=true`);
  const before = watch.events.length;
  await cluster.request('POST', CONFIG_MAPS, configMap('polled'));
  await eventually(() => expect(watch.events.length).toBeGreaterThan(before));
  watch.stop();
  await session.query("SELECT pg_drop_replication_slot('others')");
  await eventually(async () => expect(await tail()).toBe('[+]tail ok'));
});

test('a restart of PostgreSQL is a few lines in the log, and no stack trace', async () => {
  await using postgres = await startPrivatePostgres();
  await using cluster = await startCluster(postgres.url);
  await cluster.request('POST', CONFIG_MAPS, configMap('a'));
  const before = cluster.output.stderr.length;
  await postgres.kill();
  const held = cluster.request('POST', CONFIG_MAPS, configMap('b'));
  expect((await cluster.request('GET', `${CONFIG_MAPS}/a`)).code).toBe(503);
  await new Promise((resolve) => setTimeout(resolve, 6000));
  await postgres.start();
  expect((await held).code).toBe(201);
  await eventually(async () => expect((await cluster.request('GET', '/readyz')).code).toBe(200));
  const logged = cluster.output.stderr.slice(before);
  expect(logged).not.toMatch(STACK);
  expect(logged.split('\n').filter((line) => line !== '').length).toBeLessThan(20);
});

test('an epoch that begins is logged in lines, not in a stack trace for every watch within the server', async () => {
  await using database = await createTestDatabase();
  await using cluster = await startCluster(database.url);
  const before = cluster.output.stderr.length;
  await beginEpoch(database);
  await eventually(
    () => expect(cluster.output.stderr.slice(before)).toContain('history begins anew'),
    30_000,
  );
  await eventually(async () =>
    expect((await cluster.request('POST', CONFIG_MAPS, configMap('a'))).code).toBe(201),
  );
  await eventually(async () => expect((await cluster.request('GET', '/readyz')).code).toBe(200));
  const logged = cluster.output.stderr.slice(before);
  expect(logged).not.toMatch(STACK);
  expect(logged.split('\n').filter((line) => line !== '').length).toBeLessThan(20);
});

async function beginEpoch({ query }: Pick<Session, 'query'>): Promise<void> {
  await query('SELECT keep_epoch((SELECT max(revision) FROM revisions) + 5, gen_random_uuid())');
}
