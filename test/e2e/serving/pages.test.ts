// @module-tag long

import { mkdtempSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readBuild } from '../../../src/version.ts';
import { type Answer, type Cluster, startCluster } from '../../kit/cluster.ts';
import { askHttp2, eventually, openHttp2 } from '../../kit/connections.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';

let database: TestDatabase;
let cluster: Cluster;
const socketPath = join(mkdtempSync(join(tmpdir(), 'pg-apiserver-socket-')), 'debug.sock');

beforeAll(async () => {
  database = await createTestDatabase();
  cluster = await startCluster(database.url, [
    '--authorization-mode=RBAC',
    '--cors-allowed-origins=^https://(www[.])?example[.]com(:[0-9]+)?$,//other[.]test$',
    '--strict-transport-security-directives=max-age=31536000,includeSubDomains',
    '--goaway-chance=0.02',
    '--max-connection-bytes-per-sec=20000',
    '--request-timeout=5s',
    '--min-request-timeout=1',
    '--contention-profiling',
    '--console=false',
    `--debug-socket-path=${socketPath}`,
    '--version=v1.31.99',
    '-v=3',
    '--vmodule=server=9,front=4',
    '--disabled-metrics=process_cpu_seconds_total,nodejs_version_info',
    "--allow-metric-labels=apiserver_request_total,verb='GET,LIST'",
    '--show-hidden-metrics-for-version=1.30',
    '--kvstore-count-metric-poll-period=200ms',
    '--kvstore-db-metric-poll-interval=200ms',
    '--feature-gates=LoggingAlphaOptions=true',
    '--log-text-split-stream',
    '--log-text-info-buffer-size=1Ki',
    '--log-flush-frequency=100ms',
  ]);
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await database.drop();
});

const get = (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
  cluster.request('GET', path, undefined, headers);
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

/** On a connection of its own: a server that was busy may have closed the last one for being idle. */
function askSocket(path: string, method = 'GET', body = ''): Promise<{ code: number; text: string }> {
  return new Promise((resolve, reject) => {
    const asking = request({ socketPath, path, method, agent: false }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      response.once('end', () => resolve({ code: response.statusCode ?? 0, text }));
    });
    asking.once('error', reject);
    asking.end(body);
  });
}

test('a console that is turned off is not there', async () => {
  for (const path of ['/console', '/console/']) expect((await get(path)).code, path).toBe(404);
});

test('an allowed origin may read answers and ask first; another one may not', async () => {
  const allowed = await get('/version', { origin: 'https://www.example.com:8443' });
  expect(allowed.headers).toMatchObject({
    'access-control-allow-origin': 'https://www.example.com:8443',
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': 'Date',
    vary: 'Origin',
  });
  const preflight = await cluster.request('OPTIONS', CONFIG_MAPS, undefined, { origin: 'http://other.test' });
  expect(preflight.code).toBe(204);
  expect(preflight.headers['access-control-allow-methods']).toBe('POST, GET, OPTIONS, PUT, DELETE, PATCH');
  for (const origin of ['https://example.com.evil.test', 'https://evilexample.com', 'null']) {
    const refused = await get('/version', { origin });
    expect(refused.headers['access-control-allow-origin']).toBeUndefined();
  }
});

test('every response says that the next request is to be encrypted too', async () => {
  for (const path of ['/version', '/nowhere', '/healthz']) {
    const { headers } = await get(path);
    expect(headers['strict-transport-security']).toBe('max-age=31536000; includeSubDomains');
  }
});

test('one in some HTTP/2 requests ends its connection, without harm to what is under way', async () => {
  let gone = 0;
  let sent = 0;
  for (let at = 0; at < 60; at += 1) {
    const session = await openHttp2(cluster);
    session.once('goaway', () => {
      gone += 1;
    });
    for (let n = 0; n < 20 && !session.closed && !session.destroyed; n += 1) {
      expect((await askHttp2(session, '/version')).code).toBe(200);
      sent += 1;
    }
    session.destroy();
  }
  expect(gone).toBeGreaterThan(0);
  expect(gone).toBeLessThan(sent / 10);
});

test('who is not known gets one HTTP/2 request a connection', async () => {
  const session = await openHttp2(cluster, true);
  const away = new Promise((resolve) => session.once('goaway', resolve));
  expect((await askHttp2(session, '/api/v1/secrets')).code).toBe(403);
  await away;
  session.destroy();
});

test('health, metrics and profiles are for whom authorization lets see them', async () => {
  const nobody = async (path: string): Promise<number> => {
    const session = await openHttp2(cluster, true);
    const { code } = await askHttp2(session, path);
    session.destroy();
    return code;
  };
  for (const path of ['/healthz', '/livez', '/readyz', '/version']) expect(await nobody(path)).toBe(200);
  for (const path of [
    '/metrics',
    '/metrics/slis',
    '/debug/pprof/',
    '/debug/pprof/heap',
    '/debug/flags/v',
    '//metrics',
  ])
    expect(await nobody(path), path).toBe(403);
  const verbose = await get('/readyz?verbose');
  expect(verbose.text).toMatch(
    /\[\+\]poststarthook\/generic-apiserver-start-informers ok\n(.*\n)*readyz check passed\n/,
  );
  expect((await get('/livez/ping')).text).toBe('ok');
  const results = await get('/metrics/slis');
  expect(results.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
  expect(results.text).toMatch(/^kubernetes_healthcheck\{name="etcd",type="readyz"\} 1$/m);
  expect(results.text).toMatch(
    /^kubernetes_healthchecks_total\{name="etcd",type="readyz",status="success"\} /m,
  );
  expect(results.text).toMatch(/^process_start_time_seconds 1/m);
  expect((await get('/livez/nothing')).code).toBe(404);
});

test("a caller's timeout ends its request, a wrong one is refused, and no caller gets more than the server gives", async () => {
  const wrong = await get(`${CONFIG_MAPS}?timeout=soon`);
  expect(wrong).toMatchObject({ code: 400, json: { reason: 'BadRequest' } });
  expect(wrong.json.message).toContain('invalid timeout specified in the request URL');
  const late = await get(`${CONFIG_MAPS}?timeout=1ns`);
  expect(late).toMatchObject({ code: 504, json: { reason: 'Timeout' } });
  expect((await get(`${CONFIG_MAPS}?timeout=32s`)).code).toBe(200);
});

test('a watch without a timeout ends soon after --min-request-timeout', async () => {
  const begun = Date.now();
  await cluster.watch(`${CONFIG_MAPS}?watch=1`).ended;
  expect(Date.now() - begun).toBeGreaterThanOrEqual(900);
});

test('a watch gets no more than --max-connection-bytes-per-sec, and loses nothing by it', async () => {
  const data = { text: 'x'.repeat(10_000) };
  const { json } = await get(`${CONFIG_MAPS}?limit=1`);
  const from: string = json.metadata.resourceVersion;
  for (let n = 0; n < 8; n += 1)
    await cluster.request('POST', CONFIG_MAPS, { metadata: { name: `big-${n}` }, data });
  const begun = Date.now();
  const watch = cluster.watch(`${CONFIG_MAPS}?watch=1&resourceVersion=${from}&timeoutSeconds=30`);
  await watch.reached(8);
  const seconds = (Date.now() - begun) / 1000;
  watch.stop();
  expect(watch.events.map(({ object }) => object.metadata.name)).toEqual(
    Array.from({ length: 8 }, (_, n) => `big-${n}`),
  );
  expect(seconds).toBeGreaterThan(1.5);
});

test('a CPU profile and allocations come in the forms that Chrome opens, the heap as pprof reads it', async () => {
  const index = await get('/debug/pprof/');
  expect(index.headers['content-type']).toContain('text/html');
  expect(index.text).toContain('href="profile"');
  expect((await get('/debug/pprof')).headers.location).toBe('/debug/pprof/');
  const cpu = await get('/debug/pprof/profile?seconds=1');
  expect(cpu.json).toMatchObject({
    nodes: expect.any(Array),
    samples: expect.any(Array),
    timeDeltas: expect.any(Array),
  });
  expect(cpu.headers['content-disposition']).toMatch(/\.cpuprofile"$/);
  const allocs = await get('/debug/pprof/allocs?seconds=0.2');
  expect(allocs.json.head).toMatchObject({ callFrame: expect.any(Object), children: expect.any(Array) });
  expect((await get('/debug/pprof/profile?seconds=-1')).code).toBe(400);
  expect((await get('/debug/pprof/block')).text).toMatch(/event loop delay, \d+ samples/);
  expect((await get('/debug/pprof/nothing')).code).toBe(404);
  const heap = await get('/debug/pprof/heap');
  expect(heap).toMatchObject({ code: 200, headers: { 'content-type': 'application/octet-stream' } });
  expect((await get('/debug/pprof/heap?seconds=-1')).code).toBe(400);
});

test('everything in memory is given over the debug socket alone', async () => {
  const paths = ['/debug/heapsnapshot', '/debug/pprof/heapsnapshot', '/debug/heapsnapshot/'];
  for (const path of paths) expect((await get(path)).code, path).toBe(404);
  const snapshot = await askSocket('/debug/heapsnapshot');
  expect(JSON.parse(snapshot.text)).toMatchObject({
    snapshot: { meta: expect.any(Object) },
    nodes: expect.any(Array),
  });
});

test('the debug socket needs no identity, is its owner’s alone, and sets the verbosity', async () => {
  expect(statSync(socketPath).mode & 0o777).toBe(0o600);
  expect((await askSocket('/debug/pprof/cmdline')).text).toContain('main.js');
  expect((await askSocket('/api/v1/secrets')).code).toBe(404);
  expect(await askSocket('/debug/flags/v', 'PUT', '2')).toMatchObject({ code: 200 });
  await get('/version?limit=77');
  expect(await askSocket('/debug/flags/v', 'PUT', 'much')).toMatchObject({ code: 400 });
  expect(await askSocket('/debug/flags/v', 'PUT', '3')).toMatchObject({ code: 200 });
  await get('/version?token=secret&limit=1');
  await eventually(() =>
    expect(cluster.output.stdout).toMatch(/"HTTP" verb="GET" URI="\/version\?token=%E2%80%A6&limit=1"/),
  );
  expect(cluster.output.stdout).not.toContain('limit=77');
});

test('the log has the form of klog, errors apart from all else', async () => {
  await eventually(() =>
    expect(cluster.output.stdout).toMatch(
      /^I\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ measure\.js:\d+\] "HTTP" verb="GET" URI="[^"]+" latency="[\d.]+ms" .*resp=200$/m,
    ),
  );
  expect(cluster.output.stderr).not.toContain('"HTTP"');
});

test('large answers are compressed for who accepts it', async () => {
  const packed = await get('/openapi/v2', { 'accept-encoding': 'gzip' });
  expect(packed.headers).toMatchObject({ 'content-encoding': 'gzip' });
  expect((await get('/openapi/v2')).headers['content-encoding']).toBeUndefined();
});

test('the version is the one that was asked for, with the commit and the time of the build', async () => {
  const { json } = await get('/version');
  expect(json.gitVersion).toBe('v1.31.99');
  const { commit, date } = readBuild();
  expect(date).toMatch(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  expect(json.buildDate).toBe(date);
  const isDirty = commit.endsWith('-dirty');
  expect([json.gitCommit, json.gitTreeState]).toEqual(
    isDirty ? [commit.slice(0, -'-dirty'.length), 'dirty'] : [commit, 'clean'],
  );
});

test('metrics have the names that people chart, and only the label values they allow', async () => {
  await cluster.request('POST', CONFIG_MAPS, { metadata: { name: 'counted' } });
  await get(`/apis/nobody.example.com/v7/${'x'.repeat(50)}`);
  await eventually(async () => {
    const { text } = await get('/metrics');
    expect(text).toMatch(/^apiserver_storage_objects\{resource="configmaps"\} [1-9]\d*$/m);
    expect(text).toMatch(
      /^apiserver_storage_size_bytes\{storage_cluster_id="[^"]+"\} [1-9][\d.]+(e\+\d+)?$/m,
    );
  });
  const { text, headers } = await get('/metrics');
  expect(headers['content-type']).toContain('version=0.0.4');
  for (const line of [
    /^apiserver_request_total\{verb="LIST".*resource="configmaps",subresource="",scope="namespace",component="apiserver",code="200"\}/m,
    /^apiserver_request_total\{verb="unexpected",/m,
    /^apiserver_request_duration_seconds_bucket\{verb="POST".*le="0.005"\}/m,
    /^apiserver_request_sli_duration_seconds_count/m,
    /^apiserver_request_slo_duration_seconds_count/m,
    /^apiserver_current_inflight_requests\{request_kind="readOnly"\} \d+/m,
    /^apiserver_watch_events_total\{group="",version="v1",kind="ConfigMap"\} [1-9]/m,
    /^apiserver_watch_events_sizes_bucket/m,
    /^apiserver_response_sizes_bucket/m,
    /^apiserver_longrunning_requests\{verb="WATCH".*\} 0$/m,
    /^process_resident_memory_bytes /m,
    /^process_start_time_seconds /m,
    /^pg_apiserver_pool_connections\{state="waiting"\} /m,
    /^pg_apiserver_tail_mode\{mode="(streaming|polling)"\} 1$/m,
    /^pg_apiserver_tail_delay_seconds /m,
    /^pg_apiserver_upkeep_seconds_total\{kind="leave"\} /m,
    /^pg_apiserver_upkeep_rows_total\{kind="thin"\} /m,
    /^pg_apiserver_upkeep_wal_bytes_total\{kind="fill"\} /m,
    /^pg_apiserver_upkeep_pages_total\{kind="fill",access="dirtied"\} /m,
  ])
    expect(text, String(line)).toMatch(line);
  expect(text).not.toContain('process_cpu_seconds_total');
  expect(text).not.toContain('nobody.example.com');
});
