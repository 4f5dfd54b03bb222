// @module-tag long
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request as plainRequest } from 'node:http';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Cluster, startCluster } from '../../kit/cluster.ts';
import { END_A_THREAD, HANG_A_THREAD } from '../../kit/ending-thread.ts';
import { answerDiscovery, startExtension } from '../../kit/extension-server.ts';
import { PATIENCE } from '../../kit/patience.ts';
import { type RemoteWebhook, startWebhook } from '../../kit/webhook-server.ts';
import { createTestDatabase } from '../../postgres.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let cluster: Cluster;
let folder: string;
let authorizer: RemoteWebhook;

const LIMITED_EVENTS = 5;

beforeAll(async () => {
  database = await createTestDatabase();
  const preload = fileURLToPath(new URL('../../kit/ending-thread.ts', import.meta.url));
  folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-threads-'));
  const limits = [{ type: 'Namespace', qps: 1, burst: LIMITED_EVENTS }];
  const configuration = {
    ...{ apiVersion: 'eventratelimit.admission.k8s.io/v1alpha1', kind: 'Configuration', limits },
  };
  const plugins = [{ name: 'EventRateLimit', configuration }];
  const file = join(folder, 'admission.yaml');
  const kind = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AdmissionConfiguration' };
  writeFileSync(file, JSON.stringify({ ...kind, plugins }));
  authorizer = await startWebhook();
  const tokens = join(folder, 'tokens.csv');
  writeFileSync(tokens, 'alice-token,alice,1');
  const flags = [
    '--serving-threads=3',
    '--authorization-mode=RBAC,Webhook',
    `--authorization-webhook-config-file=${authorizer.kubeconfig()}`,
    `--token-auth-file=${tokens}`,
    '--enable-logs-handler',
    `--debug-socket-path=${join(folder, 'debug.sock')}`,
    '--enable-admission-plugins=EventRateLimit',
    `--admission-control-config-file=${file}`,
  ];
  cluster = await startCluster(database.url, flags, { preload });
}, 120_000);

afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]();
  await authorizer?.[Symbol.asyncDispose]();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const toConfigMap = (name: string, value = '') => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { value } },
});

/** Over a connection of its own, which any thread may get. */
function anew(
  method: string,
  path: string,
  body?: unknown,
  accept = 'application/json',
): Promise<{ code: number; text: string }> {
  const read = (name: string): Buffer => readFileSync(join(cluster.folder, 'certificates', name));
  const tls = { ca: read('ca.crt'), cert: read('admin.crt'), key: read('admin.key'), agent: false as const };
  const headers = { 'content-type': 'application/json', accept };
  return new Promise((resolve, reject) => {
    const sent = request(
      { ...tls, host: '127.0.0.1', port: cluster.port, method, path, headers },
      (response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += String(chunk);
        });
        response.on('end', () => resolve({ code: response.statusCode ?? 0, text }));
        response.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function metric(name: string): Promise<number> {
  const { text } = await anew('GET', '/metrics');
  const lines = text.split('\n').filter((line) => line.startsWith(name));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

test('a read in any thread shows what another one acknowledged before', async () => {
  expect(await anew('POST', CONFIG_MAPS, toConfigMap('fresh'))).toMatchObject({ code: 201 });
  for (let round = 0; round < 8; round += 1) {
    const value = `round ${round}`;
    expect(await anew('PUT', `${CONFIG_MAPS}/fresh`, toConfigMap('fresh', value))).toMatchObject({
      code: 200,
    });
    const reads = await Promise.all(Array.from({ length: 6 }, () => anew('GET', `${CONFIG_MAPS}/fresh`)));
    expect(reads.map(({ text }) => JSON.parse(text).data.value)).toEqual(reads.map(() => value));
  }
});

test('an update without changes writes nothing, in any thread', async () => {
  const { text } = await anew('POST', CONFIG_MAPS, toConfigMap('same'));
  const updates = Array.from({ length: 12 }, () => anew('PUT', `${CONFIG_MAPS}/same`, JSON.parse(text)));
  const answers = await Promise.all(updates);
  expect(answers.map((answer) => answer.text)).toEqual(answers.map(() => text));
});

test('metrics are of all threads, health is of the server, and errors of writes are the same', async () => {
  const counted = 'apiserver_request_total{verb="GET",dry_run="",group="",version="v1",resource="secrets"';
  const before = await metric(counted);
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => anew('GET', '/api/v1/namespaces/default/secrets/none')),
  );
  expect(answers.map(({ code }) => code)).toEqual(answers.map(() => 404));
  expect(await metric(counted)).toBe(before + 12);
  expect(await metric('pg_apiserver_serving_threads ')).toBe(3);
  const { text: health } = await anew('GET', '/readyz?verbose');
  expect(health).toContain('[+]tail ok');
  expect(health).toContain('[+]serving-threads-readiness ok');
  expect((await anew('GET', '/debug/pprof/cmdline')).text).toContain('--serving-threads=3');
  expect(await anew('POST', CONFIG_MAPS, toConfigMap('fresh'))).toMatchObject({ code: 409 });
});

test('a limit of events is one for all threads that events reach', async () => {
  const sent = Array.from({ length: 4 * LIMITED_EVENTS }, (_, at) =>
    anew('POST', '/api/v1/namespaces/default/events', {
      metadata: { name: `event-${at}` },
      involvedObject: { kind: 'Pod', namespace: 'default', name: 'one' },
    }),
  );
  const startedMs = performance.now();
  const codes = (await Promise.all(sent)).map(({ code }) => code);
  const refilled = Math.ceil((performance.now() - startedMs) / 1000);
  expect(codes.filter((code) => code !== 201 && code !== 429)).toEqual([]);
  const taken = codes.filter((code) => code === 201).length;
  expect(taken).toBeGreaterThanOrEqual(LIMITED_EVENTS);
  expect(taken).toBeLessThanOrEqual(LIMITED_EVENTS + refilled);
});

test('a webhook is asked once by all threads for the same right', async () => {
  authorizer.respond = (_request, response, body) => {
    const { verb } = JSON.parse(body).spec.resourceAttributes;
    response
      .writeHead(200)
      .end(JSON.stringify({ ...JSON.parse(body), status: { allowed: verb === 'list' } }));
  };
  // Each over a connection of its own.
  const ask = (method: string, path: string) => cluster.bearer('alice-token', method, path);
  expect((await ask('GET', CONFIG_MAPS)).code).toBe(200);
  const answers = await Promise.all(Array.from({ length: 12 }, () => ask('GET', CONFIG_MAPS)));
  expect(answers.map(({ code }) => code)).toEqual(answers.map(() => 200));
  expect(authorizer.received).toHaveLength(1);
  expect(authorizer.received[0].spec).toMatchObject({ user: 'alice', resourceAttributes: { verb: 'list' } });
  expect((await ask('DELETE', `${CONFIG_MAPS}/fresh`)).code).toBe(403);
});

test('another API server is asked once what it serves, and all threads say so', async () => {
  const things = [{ name: 'things', singularName: 'thing', namespaced: true, kind: 'Thing', verbs: ['get'] }];
  const versions = { 'one.example.com/v1': things };
  await using extension = await startExtension({ names: ['localhost'], host: '127.0.0.1', versions });
  const asked: string[] = [];
  extension.answer = (seen, response) => {
    asked.push(seen.url);
    answerDiscovery(versions, seen, response);
  };
  const { port } = extension;
  await anew('POST', '/api/v1/namespaces/default/services', {
    metadata: { name: 'one' },
    spec: { type: 'ExternalName', externalName: 'localhost', ports: [{ port }] },
  });
  const service = { namespace: 'default', name: 'one', port };
  await anew('POST', '/apis/apiregistration.k8s.io/v1/apiservices', {
    metadata: { name: 'v1.one.example.com' },
    spec: {
      ...{ group: 'one.example.com', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 15 },
      ...{ service, insecureSkipTLSVerify: true },
    },
  });
  const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  await vi.waitFor(async () => {
    const answers = await Promise.all(
      Array.from({ length: MANY }, () => anew('GET', '/apis', undefined, aggregated)),
    );
    expect(answers.filter(({ text }) => !text.includes('"resource":"things"'))).toEqual([]);
  }, PATIENCE);
  expect(asked.filter((url) => url === '/apis')).toHaveLength(1);
  await anew('DELETE', '/apis/apiregistration.k8s.io/v1/apiservices/v1.one.example.com');
});

/** Connections of which each thread gets one, but for one time in a million. */
const MANY = 36;

/** Has all threads write a line for a request, and waits for all of them. Numbers from `first` on tell the requests apart. */
async function eachWrites(first: number): Promise<void> {
  const paths = Array.from({ length: MANY }, (_, at) => `/version?limit=${first + at}`);
  await Promise.all(paths.map((path) => anew('GET', path)));
  await vi.waitFor(() => {
    for (const path of paths) expect(cluster.output.stderr).toContain(`URI="${path}"`);
  }, PATIENCE);
}

/** A file of this machine's logs, where it has one. */
const LOG_FILE = readdirSync('/var/log', { withFileTypes: true }).find((one) => one.isFile())?.name;

test.skipIf(LOG_FILE === undefined)('a file of the logs comes from any thread', async () => {
  const answers = await Promise.all(Array.from({ length: 12 }, () => anew('GET', `/logs/${LOG_FILE}`)));
  expect(answers.map(({ code }) => code)).toEqual(answers.map(() => 200));
});

/** From the debug socket. */
const debug = (path: string): Promise<{ code: number; text: string }> =>
  new Promise((resolve, reject) => {
    const asked = plainRequest({ socketPath: join(folder, 'debug.sock'), path, agent: false }, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        if (text.length < 10_000) text += String(chunk);
      });
      response.on('end', () => resolve({ code: response.statusCode ?? 0, text }));
      response.on('error', reject);
    });
    asked.on('error', reject);
    asked.end();
  });

test('the debug socket shows each thread that is named, and else the one that follows the database', async () => {
  // The socket itself is a pipe of the main thread, and serving threads have none.
  for (const path of ['/debug/pprof/goroutine', '/debug/pprof/goroutine?thread=0'])
    expect((await debug(path)).text).toContain('PipeWrap');
  const ofThread = await debug('/debug/pprof/goroutine?thread=2');
  expect(ofThread.code).toBe(200);
  expect(ofThread.text).toContain('MessagePort');
  expect(ofThread.text).not.toContain('PipeWrap');
  const snapshot = await debug('/debug/heapsnapshot?thread=2');
  expect(snapshot.code).toBe(200);
  expect(snapshot.text).toMatch(/^\{"snapshot"/);
  for (const path of ['/debug/pprof/goroutine', '/debug/heapsnapshot'])
    expect(await debug(`${path}?thread=4`)).toEqual({ code: 404, text: 'no thread 4 serves\n' });
  const ofPort = (thread: number) => anew('GET', `/debug/pprof/goroutine?thread=${thread}`);
  expect(await ofPort(4)).toMatchObject({ code: 404, text: 'no thread 4 serves\n' });
  expect((await ofPort(0)).text).toContain('PipeWrap');
  expect(await ofPort(2)).toMatchObject({ code: 200, text: expect.not.stringContaining('PipeWrap') });
});

test('the verbosity is that of all threads once it is set', async () => {
  expect(await anew('PUT', '/debug/flags/v', 3)).toMatchObject({ code: 200 });
  await eachWrites(1000);
});

test('a thread that ends is replaced: its watches end, and those of other threads go on', async () => {
  const watched = 'pg_apiserver_watchers{resource="configmaps"}';
  const before = await metric(watched);
  const watches = Array.from({ length: 9 }, () => cluster.watch(`${CONFIG_MAPS}?watch=true`));
  await Promise.all(watches.map((watch) => watch.reached(1)));
  expect(await metric(watched)).toBe(before + watches.length);
  const ended = watches.map(() => false);
  for (const [at, { ended: end }] of watches.entries())
    end
      .catch(() => {})
      .finally(() => {
        ended[at] = true;
      });
  writeFileSync(join(cluster.folder, END_A_THREAD), '');
  await vi.waitFor(async () => {
    expect(await metric('pg_apiserver_serving_threads_ended_total')).toBe(1);
    expect(await metric('pg_apiserver_serving_threads ')).toBe(3);
  }, PATIENCE);
  expect(await anew('POST', CONFIG_MAPS, toConfigMap('after'))).toMatchObject({ code: 201 });
  const left = watches.filter((_, at) => ended[at] === false);
  expect(left.length).toBeGreaterThan(0);
  await vi.waitFor(() => {
    for (const { events } of left) expect(events.at(-1)?.object.metadata.name).toBe('after');
  }, PATIENCE);
  expect(cluster.output.stderr).toContain('this thread was made to end');
  await eachWrites(2000);
  for (const watch of watches) watch.stop();
});

test('a thread that hangs is replaced, and the server stays well meanwhile', async () => {
  const ended = await metric('pg_apiserver_serving_threads_ended_total');
  writeFileSync(join(cluster.folder, HANG_A_THREAD), '');
  await vi.waitFor(() => expect(cluster.output.stderr).toContain('no answer for 15 s'), PATIENCE);
  await vi.waitFor(async () => {
    expect(await metric('pg_apiserver_serving_threads_ended_total')).toBe(ended + 1);
    expect(await metric('pg_apiserver_serving_threads ')).toBe(3);
  }, PATIENCE);
  expect((await anew('GET', '/livez')).code).toBe(200);
  const answers = await Promise.all(Array.from({ length: 12 }, () => anew('GET', CONFIG_MAPS)));
  expect(answers.map(({ code }) => code)).toEqual(answers.map(() => 200));
});

test('a server that is stopped ends the requests of all threads in order', async () => {
  const watches = Array.from({ length: 6 }, () => cluster.watch(`${CONFIG_MAPS}?watch=true`));
  await Promise.all(watches.map((watch) => watch.reached(1)));
  expect(await cluster.stop()).toBe(0);
  await Promise.all(watches.map(({ ended }) => ended));
});

test('threads of a server that refuses requests until it is ready serve', async () => {
  await using other = await createTestDatabase();
  const flags = ['--emulated-version=1.32', '--send-retry-after-while-not-ready-once', '--serving-threads=2'];
  await using patient = await startCluster(other.url, flags);
  for (let time = 0; time < 10; time += 1)
    expect((await patient.kubectl('get namespace default -o name')).stdout.trim()).toBe('namespace/default');
});

test('without the number of serving threads a server leaves one core for the others', async () => {
  await using other = await createTestDatabase();
  const preload = fileURLToPath(new URL('../../kit/four-cores.ts', import.meta.url));
  await using server = await startCluster(other.url, ['--serving-threads=0'], { preload });
  expect((await server.request('GET', '/metrics')).text).toContain('\npg_apiserver_serving_threads 3\n');
});
