// @module-tag long
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Cluster, startCluster } from '../kit/cluster.ts';
import { accept, type RemoteWebhook, type Respond, startWebhook } from '../kit/webhook-server.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

const HEAD = 'apiVersion: audit.k8s.io/v1\nkind: Policy\n';
const MAPS = '/api/v1/namespaces/default/configmaps';
const PREFIX = '--audit-webhook';

vi.setConfig({ testTimeout: 120_000 });

let database: TestDatabase;
let folder: string;
let webhook: RemoteWebhook;

beforeAll(async () => {
  database = await createTestDatabase();
  folder = mkdtempSync(join(tmpdir(), 'audit-backends-'));
  writeFileSync(
    join(folder, 'metadata.yaml'),
    `${HEAD}omitStages: [RequestReceived]\nrules: [{level: Metadata}]`,
  );
  writeFileSync(join(folder, 'all.yaml'), `${HEAD}rules: [{level: RequestResponse}]`);
  webhook = await startWebhook();
});

afterAll(async () => {
  await webhook[Symbol.asyncDispose]();
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

/** Seven other suites may be running. */
const eventually = <T>(look: () => T) => expect.poll(look);

const start = (policy: string, ...flags: string[]): Promise<Cluster> =>
  startCluster(database.url, [`--audit-policy-file=${join(folder, policy)}`, ...flags]);

const idsReceived = (): string[] =>
  webhook.received.flatMap(({ items }) => items.map(({ auditID }: { auditID: string }) => auditID));

async function get(cluster: Cluster): Promise<string> {
  const answer = await cluster.request('GET', `${MAPS}/kube-root-ca.crt`);
  expect([200, 404]).toContain(answer.code);
  return String(answer.headers['audit-id']);
}

async function timed<T>(work: Promise<T>): Promise<[T, number]> {
  const begun = performance.now();
  const result = await work;
  return [result, performance.now() - begun];
}

test('a batching webhook gets every event in lists of its size, however it behaves, and no request waits for it', async () => {
  webhook.received.length = 0;
  await using cluster = await start(
    'metadata.yaml',
    `${PREFIX}-config-file=${webhook.kubeconfig({}, { token: 'audit-token' })}`,
    `${PREFIX}-batch-max-size=3`,
    `${PREFIX}-batch-max-wait=2s`,
    `${PREFIX}-initial-backoff=100ms`,
    `${PREFIX}-version=audit.k8s.io/v1`,
  );
  const sent = [await get(cluster), await get(cluster), await get(cluster), await get(cluster)];
  await eventually(idsReceived).toEqual(sent);
  expect(webhook.received.map(({ items }) => items.length)).toEqual([3, 1]);
  expect(webhook.received[0]).toMatchObject({ kind: 'EventList', apiVersion: 'audit.k8s.io/v1' });
  expect(webhook.requests.at(-1)?.headers.authorization).toBe('Bearer audit-token');

  const release = Promise.withResolvers<void>();
  webhook.respond = (request, response) => void release.promise.then(() => accept(request, response, ''));
  const slow = await Promise.all([get(cluster), get(cluster), get(cluster)]);
  await eventually(() => idsReceived().length).toBe(7);
  release.resolve();

  const lies: Record<string, Respond> = {
    'no JSON': (_request, response) => void response.writeHead(200).end('}{'),
    oversized: (_request, response) => void response.writeHead(200).end('x'.repeat(5_000_000)),
    dripping: (_request, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write('x'), 50);
      response.once('close', () => clearInterval(timer));
    },
  };
  for (const [name, respond] of Object.entries(lies)) {
    webhook.respond = respond;
    const before = idsReceived().length;
    const ids = await Promise.all([get(cluster), get(cluster), get(cluster)]);
    await eventually(() => ({ name, ids: idsReceived().slice(before).sort() })).toEqual({
      name,
      ids: ids.sort(),
    });
  }

  const before = idsReceived().length;
  const refusals: Respond[] = [
    (_request, response) => void response.writeHead(500).end(),
    (request) => void request.socket.destroy(),
    (_request, response) => void response.writeHead(307, { location: 'https://127.0.0.1:1/' }).end(),
  ];
  webhook.respond = (...exchange) => (refusals.shift() ?? accept)(...exchange);
  const ids = await Promise.all([get(cluster), get(cluster), get(cluster)]);
  // Three posts were refused, so at least one list came more than once.
  await eventually(() => refusals.length).toBe(0);
  await eventually(() => new Set(idsReceived().slice(before))).toEqual(new Set(ids));
  await eventually(() => idsReceived().length - before).toBeGreaterThan(ids.length);

  await webhook.stop();
  webhook.respond = accept;
  const late = await Promise.all([get(cluster), get(cluster), get(cluster)]);
  await webhook.start();
  await eventually(idsReceived).toEqual(expect.arrayContaining(late));
  expect(idsReceived()).toEqual(expect.arrayContaining(slow));

  const last = await get(cluster);
  await cluster.stop();
  expect(idsReceived()).toContain(last);
});

test('a webhook that stays dead loses events, which is counted, and the server serves and ends all the same', async () => {
  await webhook.stop();
  await using cluster = await start(
    'metadata.yaml',
    `${PREFIX}-config-file=${webhook.kubeconfig()}`,
    `${PREFIX}-batch-max-size=1`,
    `${PREFIX}-initial-backoff=1ms`,
  );
  await get(cluster);
  const metrics = async (): Promise<string> => (await cluster.request('GET', '/metrics')).text;
  await eventually(metrics).toContain('apiserver_audit_error_total{plugin="webhook"} 1');
  expect(await cluster.stop()).toBe(0);
  await webhook.start();
});

test('a webhook with a certificate of another authority gets nothing', async () => {
  webhook.received.length = 0;
  await using cluster = await start(
    'metadata.yaml',
    `${PREFIX}-config-file=${webhook.kubeconfig({ 'certificate-authority-data': undefined })}`,
    `${PREFIX}-batch-max-size=1`,
    `${PREFIX}-initial-backoff=1ms`,
  );
  await get(cluster);
  const metrics = async (): Promise<string> => (await cluster.request('GET', '/metrics')).text;
  await eventually(metrics).toContain('apiserver_audit_error_total{plugin="webhook"} 1');
  expect(webhook.received).toEqual([]);
});

test('a blocking webhook holds requests up and fails none; a strict one fails them with 500 and does nothing', async () => {
  webhook.received.length = 0;
  webhook.respond = (request, response) => void setTimeout(() => accept(request, response, ''), 150);
  const flags = [`${PREFIX}-config-file=${webhook.kubeconfig()}`, `${PREFIX}-initial-backoff=10ms`];
  {
    await using cluster = await start('all.yaml', `${PREFIX}-mode=blocking`, ...flags);
    const [id, ms] = await timed(get(cluster));
    expect(ms).toBeGreaterThan(290);
    expect(idsReceived()).toEqual([id, id]);
    await webhook.stop();
    await get(cluster);
  }
  await using cluster = await start('all.yaml', `${PREFIX}-mode=blocking-strict`, ...flags);
  const refused = await cluster.request('POST', MAPS, { metadata: { name: 'unrecorded' } });
  expect(refused.json).toMatchObject({
    kind: 'Status',
    code: 500,
    reason: 'InternalError',
    message: 'Internal error occurred: failed to store audit event',
  });
  const rows = await database.query("SELECT 1 FROM revisions WHERE name = 'unrecorded'");
  expect(rows).toEqual([]);
  await webhook.start();
  webhook.respond = accept;
  const metrics = (await cluster.request('GET', '/metrics')).text;
  expect(metrics).toContain('apiserver_audit_requests_rejected_total 1');
  expect((await cluster.request('POST', MAPS, { metadata: { name: 'recorded' } })).code).toBe(201);
});

test('a strict log on a full disk fails requests, a blocking one does not', async () => {
  {
    await using cluster = await start(
      'all.yaml',
      '--audit-log-path=/dev/full',
      '--audit-log-mode=blocking-strict',
    );
    expect((await cluster.request('GET', MAPS)).code).toBe(500);
  }
  await using cluster = await start('all.yaml', '--audit-log-path=/dev/full');
  expect((await cluster.request('GET', MAPS)).code).toBe(200);
});

test('log and webhook each have their own version, format and limits of size', async () => {
  webhook.received.length = 0;
  webhook.respond = accept;
  const path = join(folder, 'legacy.log');
  await using cluster = await start(
    'all.yaml',
    `--audit-log-path=${path}`,
    '--audit-log-format=legacy',
    '--audit-log-mode=batch',
    '--audit-log-batch-max-size=10',
    '--audit-log-batch-max-wait=50ms',
    `${PREFIX}-config-file=${webhook.kubeconfig()}`,
    `${PREFIX}-batch-max-wait=50ms`,
    `${PREFIX}-truncate-enabled`,
    `${PREFIX}-truncate-max-event-size=2000`,
    `${PREFIX}-truncate-max-batch-size=2000`,
  );
  const big = { metadata: { name: 'large' }, data: { x: 'x'.repeat(5000) } };
  const answer = await cluster.request('POST', MAPS, big);
  const id = String(answer.headers['audit-id']);
  await eventually(idsReceived).toEqual([id, id]);
  const [received, complete] = webhook.received.flatMap(({ items }) => items);
  expect(received).toMatchObject({ stage: 'RequestReceived' });
  expect(received).not.toHaveProperty('annotations');
  expect(complete).toMatchObject({
    stage: 'ResponseComplete',
    responseStatus: { code: 201 },
    annotations: { 'audit.k8s.io/truncated': 'true' },
  });
  expect(complete).not.toHaveProperty('requestObject');
  expect(webhook.received[0]).toMatchObject({ apiVersion: 'audit.cluster.io/v1' });
  await eventually(() => existsSync(path) && readFileSync(path, 'utf8').trim().split('\n').length).toBe(2);
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  expect(lines[1]).toMatch(
    new RegExp(
      `AUDIT: id="${id}" stage="ResponseComplete" ip="127.0.0.1" method="create" .* response="201"$`,
    ),
  );
});

test('without a policy nothing is recorded', async () => {
  const path = join(folder, 'nothing.log');
  await using cluster = await startCluster(database.url, [`--audit-log-path=${path}`]);
  expect((await cluster.request('GET', MAPS)).code).toBe(200);
  expect(existsSync(path)).toBe(false);
});

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

test.each([
  ['a policy with an unknown level', 'rules: [{level: All}]', [], 'rules[0].level: Unsupported value: "All"'],
  [
    'a policy with an unknown field',
    'rules: [{level: None, verb: [get]}]',
    [],
    'rules[0].verb: unknown field',
  ],
  [
    'a missing kubeconfig',
    'rules: [{level: None}]',
    [`${PREFIX}-config-file=/nowhere`],
    '/nowhere: there is no such file',
  ],
  ['a log that cannot be', 'rules: [{level: None}]', ['--audit-log-path=/dev/null/x'], '/dev/null'],
])('%s ends the start with one line', (_what, policy, flags, message) => {
  const file = join(folder, 'bad.yaml');
  writeFileSync(file, HEAD + policy);
  const { status, stderr } = spawnSync(
    process.execPath,
    [
      MAIN,
      `--data-dir=${join(folder, 'data')}`,
      `--kvstore-servers=${database.url}`,
      '--bind-address=127.0.0.1',
      `--audit-policy-file=${file}`,
      ...flags,
    ],
    { encoding: 'utf8', timeout: 60_000 },
  );
  expect(status).toBe(1);
  expect(stderr).toContain(message);
  expect(stderr.trim().split('\n')).toHaveLength(1);
});
