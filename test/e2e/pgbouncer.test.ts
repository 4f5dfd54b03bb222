import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../kit/cluster.ts';
import { eventually } from '../kit/connections.ts';
import { findPgBouncer, startPgBouncer } from '../kit/pgbouncer.ts';
import { createTestDatabase } from '../postgres.ts';

/** Servers that reach their database by way of PgBouncer in transaction mode, which has few sessions for all of them. */

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const PATH = '/api/v1/namespaces/default/configmaps';
const binary = findPgBouncer();
if (binary === undefined) console.log('PgBouncer is not installed here: its tests are skipped');

async function startPair() {
  const database = await createTestDatabase({ empty: true });
  const pooler = await startPgBouncer(binary ?? '', database.url);
  const flags = ['--authorization-mode=RBAC', '--kvstore-compaction-interval=1s'];
  const servers = [await startCluster(pooler.url, flags), await startCluster(pooler.url, flags)];
  return {
    database,
    pooler,
    server: (index: number): Cluster => servers[index % servers.length] as Cluster,
    [Symbol.asyncDispose]: async () => {
      for (const server of servers) await server[Symbol.asyncDispose]();
      await pooler[Symbol.asyncDispose]();
      await database.drop();
    },
  };
}

/** Adds one to what the object says, as often as it takes to be the one who did. */
async function countUp(cluster: Cluster, times: number): Promise<void> {
  for (let done = 0; done < times; ) {
    const { json } = await cluster.request('GET', `${PATH}/counter`);
    json.data.n = String(Number(json.data.n) + 1);
    const { code, text } = await cluster.request('PUT', `${PATH}/counter`, json);
    if (code === 200) done += 1;
    else if (code !== 409) throw new Error(`${code} ${text}`);
  }
}

describe.skipIf(binary === undefined)('behind PgBouncer in transaction mode', () => {
  test('two servers migrate, write, read and watch, and a pooler that ends and comes back loses nothing', async () => {
    await using pair = await startPair();
    const { server, database, pooler } = pair;
    const first = await server(0).request('POST', PATH, { metadata: { name: 'counter' }, data: { n: '0' } });
    expect(first.code).toBe(201);
    const watch = server(1).watch(`${PATH}?watch=1&resourceVersion=${first.json.metadata.resourceVersion}`);
    await Promise.all(Array.from({ length: 6 }, (_, n) => countUp(server(n), 10)));
    await watch.reached(60);

    await pooler.kill();
    const waiting = server(0).request('PATCH', `${PATH}/counter`, '{"data":{"m":"1"}}', {
      'content-type': 'application/merge-patch+json',
    });
    await pooler.start();
    expect((await waiting).code).toBe(200);
    await watch.reached(61);
    watch.stop();
    const rows = await database.query<{ revision: string }>(
      "SELECT revision FROM revisions WHERE name = 'counter' ORDER BY revision",
    );
    const seen = watch.events.map(({ object }) => object.metadata.resourceVersion);
    expect(seen).toEqual(rows.slice(1).map(({ revision }) => revision));
    const { json } = await server(1).request('GET', `${PATH}/counter`);
    expect(json.data).toEqual({ n: '60', m: '1' });
  });

  test('changes come by polling, which metrics show and the log explains, and servers are ready', async () => {
    await using pair = await startPair();
    const { server } = pair;
    await eventually(async () => {
      const { text } = await server(0).request('GET', '/metrics');
      expect(text).toMatch(/\{mode="polling"\} 1$/m);
    });
    const { stdout, stderr } = server(0).output;
    expect(stdout + stderr).toMatch(/unsupported startup parameter|replication/);
    const { code } = await server(0).request('GET', '/readyz');
    expect(code).toBe(200);
  });

  test('no session keeps what one transaction has set or locked for the next one', async () => {
    await using pair = await startPair();
    const { server, database, pooler } = pair;
    const { json } = await server(0).request('POST', PATH, {
      metadata: { name: 'counter' },
      data: { n: '0' },
    });
    expect(json.metadata.name).toBe('counter');
    const args = [MAIN, 'rotate-signing-key', `--kvstore-servers=${pooler.url}`];
    const rotation = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
    const [rotated] = await Promise.all([
      once(rotation, 'close'),
      countUp(server(0), 10),
      countUp(server(1), 10),
    ]);
    expect(rotated[0]).toBe(0);
    await eventually(async () => {
      const held = await database.query(
        "SELECT locktype FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
      );
      expect(held).toEqual([]);
    });
    const prepared = await database.query<{ count: string }>(
      'SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE $1',
      ['idle in transaction%'],
    );
    expect(prepared).toEqual([{ count: '0' }]);
  });
});
