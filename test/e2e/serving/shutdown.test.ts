// @module-tag long
import { Agent, request as httpsRequest } from 'node:https';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../../kit/cluster.ts';
import { adminTls, eventually, later } from '../../kit/connections.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(async () => {
  await database.drop();
});

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

test('during the delay readiness fails and all else is served; the exit is clean', async () => {
  await using cluster = await startCluster(database.url, ['--shutdown-delay-duration=5s', '-v=1']);
  const url = { host: '127.0.0.1', port: cluster.port };
  const agent = new Agent({ ...adminTls(cluster), keepAlive: true });
  const ask = (path: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const asking = httpsRequest({ ...url, path, agent }, (response) => {
        response.resume();
        response.once('end', () => resolve(response.statusCode ?? 0));
      });
      asking.once('error', reject);
      asking.end();
    });
  expect(await ask('/readyz')).toBe(200);
  const begun = Date.now();
  const ended = cluster.stop();
  await eventually(async () => expect(await ask('/readyz')).toBe(500));
  expect(await ask('/livez')).toBe(200);
  expect(await ask('/healthz')).toBe(200);
  expect(await ask(CONFIG_MAPS)).toBe(200);
  expect(await ended).toBe(0);
  expect(Date.now() - begun).toBeGreaterThanOrEqual(4950);
  agent.destroy();
  expect(cluster.output.stderr).toContain('name="ShutdownInitiated"');
});

test('watches end one by one within their grace period, without an error', async () => {
  await using cluster = await startCluster(database.url, ['--shutdown-watch-termination-grace-period=2s']);
  const watches = Array.from({ length: 5 }, () => cluster.watch(`${CONFIG_MAPS}?watch=1`));
  await cluster.request('POST', CONFIG_MAPS, { metadata: { name: 'seen' } });
  await Promise.all(watches.map((watch) => watch.reached(1)));
  const agentEnds = Promise.all(watches.map((watch) => watch.ended));
  const begun = Date.now();
  const ended = cluster.stop();
  await agentEnds;
  expect(await ended).toBe(0);
  expect(Date.now() - begun).toBeLessThan(30_000);
  expect(watches.flatMap(({ events }) => events.filter(({ type }) => type === 'ERROR'))).toEqual([]);
});

/** What a careful client does: waits as long as Retry-After says, and asks another server when one is not there. */
class Client {
  readonly #agents: readonly Agent[];
  readonly #ports: readonly number[];
  #at = 0;
  retries = 0;

  constructor(servers: readonly Cluster[]) {
    this.#ports = servers.map(({ port }) => port);
    this.#agents = servers.map(
      (server) =>
        new Agent({ ...adminTls(server), keepAlive: true, maxSockets: 4, rejectUnauthorized: false }),
    );
  }

  /** @throws Error for what no waiting helps against */
  async ask(method: string, path: string, body?: unknown): Promise<number> {
    for (let attempt = 0; attempt < 100; attempt += 1) {
      const at = this.#at;
      const { code, retryAfter } = await this.#once(at, method, path, body);
      if (code !== undefined && retryAfter === undefined) return code;
      this.retries += 1;
      // Leaves the server that refused, unless another request has left it.
      if (this.#at === at) this.#at = (at + 1) % this.#ports.length;
      await later(code === undefined ? 20 : Math.min((retryAfter ?? 0) * 1000, 50));
    }
    throw new Error(`${path}: gave up`);
  }

  #once(
    at: number,
    method: string,
    path: string,
    body: unknown,
  ): Promise<{ code?: number; retryAfter?: number }> {
    return new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port: this.#ports[at], method, path, agent: this.#agents[at] };
      const headers = body === undefined ? {} : { 'content-type': 'application/json' };
      const asking = httpsRequest({ ...options, headers }, (response) => {
        response.resume();
        response.once('error', reject);
        response.once('end', () => {
          const after = response.headers['retry-after'];
          resolve({
            code: response.statusCode ?? 0,
            ...(after === undefined ? {} : { retryAfter: Number(after) }),
          });
        });
      });
      asking.once('error', (error: Error & { code?: string }) => {
        // There was no connection, or no handshake on it: the request was never sent. Else it may have been: it counts as failed.
        const { secureConnecting } = (asking.socket ?? {}) as { secureConnecting?: boolean };
        const isUnsent = ('syscall' in error && error.syscall === 'connect') || secureConnecting === true;
        if (isUnsent) resolve({});
        else reject(error);
      });
      asking.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  close(): void {
    for (const agent of this.#agents) agent.destroy();
  }
}

/** Four servers start one after the other. */
const RESTARTS_MS = 300_000;

test('a rolling restart of two servers under load fails no request of a client that follows Retry-After', {
  timeout: RESTARTS_MS,
}, async () => {
  const flags = ['--shutdown-send-retry-after', '--shutdown-delay-duration=500ms'];
  await using first = await startCluster(database.url, flags);
  await using second = await startCluster(database.url, flags);
  const client = new Client([first, second]);
  let running = true;
  const failed: unknown[] = [];
  const answers = new Map<number, number>();
  const workers = Array.from({ length: 8 }, async (_, worker) => {
    for (let n = 0; running; n += 1) {
      try {
        const write = n % 4 === 0;
        const name = `rolling-${worker}-${n}`;
        const code = write
          ? await client.ask('POST', CONFIG_MAPS, { metadata: { name } })
          : await client.ask('GET', `${CONFIG_MAPS}?limit=5`);
        answers.set(code, (answers.get(code) ?? 0) + 1);
        if (code !== (write ? 201 : 200)) failed.push(`${code}`);
      } catch (error) {
        failed.push(error);
      }
      await later(5);
    }
  });
  /** Until so many more requests have been answered. */
  const more = async (count: number): Promise<void> => {
    const total = (): number => [...answers.values()].reduce((sum, one) => sum + one, 0);
    const enough = total() + count;
    await expect.poll(total).toBeGreaterThan(enough);
  };
  await more(200);
  for (const server of [first, second]) {
    expect(await server.stop()).toBe(0);
    await more(50);
    await server.start();
    await more(50);
  }
  running = false;
  await Promise.all(workers);
  client.close();
  expect(failed).toEqual([]);
  expect(client.retries).toBeGreaterThan(0);
  expect(answers.get(201) ?? 0).toBeGreaterThan(50);
});
