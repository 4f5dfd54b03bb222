// @module-tag long
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Cluster, startCluster } from '../kit/cluster.ts';
import { PATIENCE } from '../kit/patience.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

/** Metrics of kube-apiserver that a server shows which has done what they count. */

let database: TestDatabase;
let cluster: Cluster;
let folder: string;
let authentication: string;

const authenticationConfig = (path: string): string =>
  JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthenticationConfiguration',
    anonymous: { enabled: true, conditions: [{ path }] },
  });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-metrics-'));
  authentication = join(folder, 'authentication.json');
  writeFileSync(authentication, authenticationConfig('/livez'));
  database = await createTestDatabase();
  cluster = await startCluster(database.url, [
    '--emulated-version=1.36',
    `--authentication-config=${authentication}`,
  ]);
});

afterAll(async () => {
  await cluster?.stop();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

const scrape = async (): Promise<string> => (await cluster.request('GET', '/metrics')).text;

test('callers are counted by whether they are known, and by whether they may', async () => {
  const text = await scrape();
  expect(text).toMatch(/^authentication_attempts\{result="success"\} [1-9]/m);
  expect(text).toMatch(/^authenticated_user_requests\{username="\w+"\} [1-9]/m);
  expect(text).toMatch(/^authorization_attempts_total\{result="allowed"\} [1-9]/m);
  expect(text).toMatch(/^authorization_duration_seconds_count\{result="allowed"\} [1-9]/m);
});

test('addresses and ports of services are counted by who chose them', async () => {
  const path = '/api/v1/namespaces/default/services';
  const spec = { type: 'NodePort', clusterIP: '10.0.0.77', ports: [{ port: 80 }] };
  const made = await cluster.request('POST', path, { metadata: { name: 's' }, spec });
  expect(made.code).toBe(201);
  const text = await scrape();
  const cidr = 'cidr="10.0.0.0/24"';
  expect(text).toContain(`kube_apiserver_clusterip_allocator_allocation_total{${cidr},scope="static"} `);
  expect(text).toContain(`kube_apiserver_clusterip_allocator_allocation_duration_seconds_count{${cidr}} `);
  expect(text).toContain('kube_apiserver_nodeport_allocator_allocation_total{scope="dynamic"} 1\n');
});

test('gauges show how many addresses and ports services hold, and how many are left', async () => {
  const path = '/api/v1/namespaces/default/services';
  const gauges = async (): Promise<number[]> => {
    const text = await scrape();
    return [
      'clusterip_allocator_allocated_ips{cidr="10.0.0.0/24"}',
      'clusterip_allocator_available_ips{cidr="10.0.0.0/24"}',
      'nodeport_allocator_allocated_ports',
      'nodeport_allocator_available_ports',
    ].map((name) => Number(text.split(`\nkube_apiserver_${name} `)[1]?.split('\n')[0]));
  };
  const [ips = 0, freeIps = 0, ports = 0, freePorts = 0] = await gauges();
  // The address of this API at least.
  expect(ips).toBeGreaterThan(0);
  expect([ips + freeIps, ports + freePorts]).toEqual([254, 2768]);
  const spec = { type: 'NodePort', ports: [{ port: 80 }] };
  expect((await cluster.request('POST', path, { metadata: { name: 'g' }, spec })).code).toBe(201);
  await vi.waitFor(async () => {
    expect(await gauges()).toEqual([ips + 1, freeIps - 1, ports + 1, freePorts - 1]);
  }, PATIENCE);
  const merge = { 'content-type': 'application/merge-patch+json' };
  const changed = await cluster.request('PATCH', `${path}/g`, { spec: { type: 'ClusterIP' } }, merge);
  expect(changed.code).toBe(200);
  await vi.waitFor(async () => {
    expect(await gauges()).toEqual([ips + 1, freeIps - 1, ports, freePorts]);
  }, PATIENCE);
  await cluster.request('DELETE', `${path}/g`);
  await vi.waitFor(async () => {
    expect(await gauges()).toEqual([ips, freeIps, ports, freePorts]);
  }, PATIENCE);
});

test('a streaming list is timed, and changes that come from the database are counted', async () => {
  const maps = '/api/v1/namespaces/default/configmaps';
  await cluster.request('POST', maps, { metadata: { name: 'm' } });
  const watch = cluster.watch(
    `${maps}?watch=1&timeoutSeconds=10&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
  );
  await watch.reached(2);
  watch.stop();
  const text = await scrape();
  expect(text).toContain(
    'apiserver_watch_list_duration_seconds_count{group="",version="v1",resource="configmaps",scope="namespace"} 1\n',
  );
  expect(text).toMatch(/^apiserver_storage_events_received_total\{group="",resource="configmaps"\} [1-9]/m);
});

test('the rules of custom resources are timed', async () => {
  const group = 'stable.example.com';
  const validations = [{ rule: 'self.spec.n > 0' }];
  const schema = {
    ...{ type: 'object', 'x-kubernetes-validations': validations },
    properties: { spec: { type: 'object', properties: { n: { type: 'integer' } } } },
  };
  const spec = {
    ...{ group, scope: 'Namespaced', names: { plural: 'things', kind: 'Thing' } },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
  };
  const metadata = { name: `things.${group}` };
  await cluster.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata,
    spec,
  });
  await vi.waitFor(async () => {
    const body = {
      apiVersion: `${group}/v1`,
      kind: 'Thing',
      metadata: { generateName: 't' },
      spec: { n: 1 },
    };
    const made = await cluster.request('POST', `/apis/${group}/v1/namespaces/default/things`, body);
    expect(made.code).toBe(201);
  }, PATIENCE);
  const text = await scrape();
  expect(text).toMatch(/^apiserver_cel_compilation_duration_seconds_count [1-9]/m);
  expect(text).toMatch(/^apiserver_cel_evaluation_duration_seconds_count [1-9]/m);
});

test('the file of authentication is counted when it is read again, and its hash is shown', async () => {
  const prefix = 'apiserver_authentication_config_controller';
  const hash = async (): Promise<string | undefined> =>
    new RegExp(`^${prefix}_last_config_info\\{.*hash="(sha256:\\w+)"\\} 1$`, 'm').exec(await scrape())?.[1];
  const first = await hash();
  expect(first).toBeDefined();
  writeFileSync(authentication, authenticationConfig('/readyz'));
  await vi.waitFor(async () => {
    expect(await scrape()).toMatch(
      new RegExp(`^${prefix}_automatic_reloads_total\\{status="success",.*\\} 1$`, 'm'),
    );
  }, PATIENCE);
  expect(await hash()).not.toBe(first);
  writeFileSync(authentication, '{');
  await vi.waitFor(async () => {
    expect(await scrape()).toMatch(
      new RegExp(`^${prefix}_automatic_reloads_total\\{status="failure",.*\\} 1$`, 'm'),
    );
  }, PATIENCE);
});
