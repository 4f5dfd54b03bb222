// @module-tag long
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Cluster, startCluster } from '../kit/cluster.ts';
import { PATIENCE } from '../kit/patience.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

/** Gauges of service addresses once there are several ranges, of which each serving thread learns by itself. */
describe.each([1, 3])('with serving threads: %i', (threads) => {
  let database: TestDatabase;
  let cluster: Cluster;

  beforeAll(async () => {
    database = await createTestDatabase();
    cluster = await startCluster(database.url, [
      '--emulated-version=1.36',
      `--serving-threads=${threads}`,
      '--service-cluster-ip-range=10.0.0.0/24',
    ]);
  }, 120_000);

  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
    await database?.drop();
  });

  const gauges = async (cidr: string): Promise<string[]> => {
    const { text } = await cluster.request('GET', '/metrics');
    const lines = text.split('\n').filter((line) => line.includes(`_ips{cidr="${cidr}"}`));
    return lines.map((line) => line.replace(/kube_apiserver_clusterip_allocator_|\{.*\}/g, '')).sort();
  };

  test('a range that is added has gauges, once for the whole server, until it is gone', async () => {
    const cidrs = '/apis/networking.k8s.io/v1/servicecidrs';
    const services = '/api/v1/namespaces/default/services';
    const own = ['allocated_ips 1', 'available_ips 253'];
    await vi.waitFor(async () => expect(await gauges('10.0.0.0/24')).toEqual(own), PATIENCE);
    const more = { metadata: { name: 'more' }, spec: { cidrs: ['10.7.0.0/28'] } };
    expect((await cluster.request('POST', cidrs, more)).code).toBe(201);
    await vi.waitFor(
      async () => expect(await gauges('10.7.0.0/28')).toEqual(['allocated_ips 0', 'available_ips 14']),
      PATIENCE,
    );
    const made = await vi.waitFor(async () => {
      const spec = { clusterIP: '10.7.0.5', ports: [{ port: 80 }] };
      const answer = await cluster.request('POST', services, { metadata: { name: 'far' }, spec });
      expect(answer.code, answer.text).toBe(201);
      return answer;
    }, PATIENCE);
    expect(made.json.spec.clusterIPs).toEqual(['10.7.0.5']);
    await vi.waitFor(
      async () => expect(await gauges('10.7.0.0/28')).toEqual(['allocated_ips 1', 'available_ips 13']),
      PATIENCE,
    );
    expect(await gauges('10.0.0.0/24')).toEqual(own);
    expect((await cluster.request('DELETE', `${services}/far`)).code).toBe(200);
    expect((await cluster.request('DELETE', `${cidrs}/more`)).code).toBe(200);
    await vi.waitFor(async () => expect(await gauges('10.7.0.0/28')).toEqual([]), PATIENCE);
    expect(await gauges('10.0.0.0/24')).toEqual(own);
  });
});
