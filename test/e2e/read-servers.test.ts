// @module-tag long
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test, vi } from 'vitest';
import { freePort } from '../../src/cli/embedded/embedded-postgres.ts';
import { startCluster } from '../kit/cluster.ts';
import { startPrivatePostgres } from '../postgres.ts';
import { startStandby } from '../storage/postgres/copies.ts';
import { connect } from '../storage/postgres/stalls.ts';

const PATH = '/api/v1/namespaces/default/configmaps';
const PATIENCE = { timeout: 60_000, interval: 50 };
const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

test('a server reads history from its read server, and goes on when that is killed and when it is back', async () => {
  await using primary = await startPrivatePostgres();
  await using standby = await startStandby(primary);
  await using cluster = await startCluster(primary.url, [`--kvstore-read-servers=${standby.url}`]);
  const created: string[] = [];
  for (let n = 0; n < 5; n += 1) {
    const { json } = await cluster.request('POST', PATH, { metadata: { name: `n${n}` } });
    created.push(json.metadata.resourceVersion);
  }
  // One that has just begun knows of nothing before it.
  await cluster.stop();
  await cluster.start();
  const [first] = created;

  const resumesFromFirst = async (): Promise<void> => {
    const watch = cluster.watch(`${PATH}?watch=1&resourceVersion=${first}`);
    await watch.reached(created.length - 1);
    watch.stop();
    expect(watch.events.map(({ object }) => object.metadata.resourceVersion)).toEqual(created.slice(1));
  };
  const { host } = new URL(standby.url);
  const readsBy = async (server: string): Promise<number> => {
    const { text } = await cluster.request('GET', '/metrics');
    const [, count] =
      new RegExp(`^pg_apiserver_history_reads_total{server="${server}"} (\\d+)$`, 'm').exec(text) ?? [];
    return Number(count);
  };
  const note = async (): Promise<string> => (await cluster.request('GET', '/readyz?verbose')).text;

  const list = `${PATH}?resourceVersion=${created[1]}&resourceVersionMatch=Exact`;
  const listedNames = async (): Promise<string[]> => {
    const { json } = await cluster.request('GET', list);
    const names = json.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
    return names.filter((name: string) => name.startsWith('n'));
  };
  await resumesFromFirst();
  expect(await listedNames()).toEqual(['n0', 'n1']);
  {
    await using session = await connect(standby.url);
    const ours = await session.query<{ query: string }>(
      "SELECT query FROM pg_stat_activity WHERE application_name LIKE 'pg-apiserver history%'",
    );
    expect(ours.length).toBeGreaterThan(0);
  }
  expect(await readsBy(host)).toBeGreaterThanOrEqual(3);
  expect(await readsBy('primary')).toBe(0);
  expect(await note()).toContain('[+]read-servers ok: 1 of 1 read servers are in service');

  await standby.kill();
  const { json } = await cluster.request('POST', PATH, { metadata: { name: 'n5' } });
  created.push(json.metadata.resourceVersion);
  await cluster.stop();
  await cluster.start();
  await resumesFromFirst();
  expect(await listedNames()).toEqual(['n0', 'n1']);
  expect(await readsBy(host)).toBe(0);
  expect(await readsBy('primary')).toBeGreaterThanOrEqual(3);
  expect(await note()).toContain(
    '[+]read-servers ok: no read server is in service: the primary serves history',
  );

  await standby.start();
  await vi.waitFor(async () => expect(await note()).toContain('1 of 1 read servers'), PATIENCE);
  await vi.waitFor(async () => {
    await listedNames();
    expect(await readsBy(host)).toBeGreaterThan(0);
  }, PATIENCE);
  const { stdout, stderr } = cluster.output;
  expect(stdout + stderr).toMatch(new RegExp(`read server ${host}: lost: .*`));
}, 180_000);

test('where the primary has no slot to give, its read server streams changes, and readiness and metrics say so', async ({
  skip,
}) => {
  await using primary = await startPrivatePostgres({ settings: ['max_replication_slots=1'] });
  await using session = await connect(primary.url);
  const [row] = await session.query<{ version: string }>(
    "SELECT current_setting('server_version_num') AS version",
  );
  if (Number(row?.version) < 160_000) skip('PostgreSQL 16 or newer');
  await using standby = await startStandby(primary);
  await session.query("SELECT pg_create_physical_replication_slot('others')");
  await using cluster = await startCluster(primary.url, [`--kvstore-read-servers=${standby.url}`]);
  const { host } = new URL(standby.url);
  const tail = async (): Promise<string | undefined> => {
    const { text } = await cluster.request('GET', '/readyz?verbose');
    return text.split('\n').find((line) => line.startsWith('[+]tail '));
  };
  const streams = '[+]tail ok: a read server streams changes, because the primary does not';
  await vi.waitFor(async () => expect(await tail()).toBe(streams), PATIENCE);
  expect(cluster.output.stdout + cluster.output.stderr).toContain(`read server ${host} streams changes: `);
  const { text } = await cluster.request('GET', '/metrics');
  expect(text).toContain('pg_apiserver_tail_mode{mode="streaming"} 1');
  expect(text).toContain(`pg_apiserver_tail_source{server="${host}"} 1`);
  expect(text).toContain('pg_apiserver_tail_source{server="primary"} 0');
  const watch = cluster.watch(`${PATH}?watch=1`);
  await cluster.request('POST', PATH, { metadata: { name: 'streamed' } });
  await vi.waitFor(
    () => expect(watch.events.map(({ object }) => object.metadata.name)).toContain('streamed'),
    PATIENCE,
  );
  watch.stop();
}, 180_000);

test('a URL of a read server that cannot be read stops the start with a line that names the flag', async () => {
  await using primary = await startPrivatePostgres();
  const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-e2e-'));
  const flags = [
    '--authorization-mode=RBAC',
    '--bind-address=127.0.0.1',
    `--data-dir=${folder}`,
    `--secure-port=${await freePort()}`,
  ];
  flags.push(`--kvstore-servers=${primary.url}`, '--kvstore-read-servers=postgres://db2:99999/x');
  const server = spawn(process.execPath, [MAIN, ...flags], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  server.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const [code] = await once(server, 'close');
  rmSync(folder, { recursive: true, force: true });
  expect(said).toContain(
    '--kvstore-read-servers: the URL of PostgreSQL cannot be read: its port must be between 1 and 65535',
  );
  expect(code).toBe(1);
});
