import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Answer, Cluster } from '../kit/cluster.ts';
import { type SharedCluster, shareCluster } from '../kit/shared-cluster.ts';

let shared: SharedCluster;
let cluster: Cluster;

beforeAll(async () => {
  shared = await shareCluster();
  ({ cluster } = shared);
});

afterAll(() => shared[Symbol.asyncDispose]());

const CORE = '/api/v1/namespaces/default';
const EVENTS = '/apis/events.k8s.io/v1/namespaces/default/events';
const MERGE = { 'content-type': 'application/merge-patch+json' };
const patch = (path: string, body: unknown): Promise<Answer> => cluster.request('PATCH', path, body, MERGE);

const causes = ({ json }: Answer): string[] =>
  json.details.causes.map(({ field, message }: { field: string; message: string }) => `${field}: ${message}`);

test('a service becomes another, and its status says only what its type allows', async () => {
  const spec = { type: 'LoadBalancer', ports: [{ port: 80 }] };
  const made = await cluster.request('POST', `${CORE}/services`, { metadata: { name: 'web' }, spec });
  expect(made.json).toMatchObject({
    spec: { externalTrafficPolicy: 'Cluster', allocateLoadBalancerNodePorts: true },
    status: { loadBalancer: {} },
  });
  const status = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } };
  const written = await patch(`${CORE}/services/web/status`, { status });
  expect(written.json.status.loadBalancer.ingress).toEqual([{ ip: '192.0.2.1', ipMode: 'VIP' }]);
  const plain = await patch(`${CORE}/services/web`, { spec: { type: 'ClusterIP' } });
  expect(plain.json.spec).not.toHaveProperty('allocateLoadBalancerNodePorts');
  expect(plain.json.status).toEqual({ loadBalancer: {} });
  const refused = await patch(`${CORE}/services/web/status`, { status });
  expect(refused.code).toBe(422);
  expect(causes(refused)).toEqual([
    "status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'",
  ]);
});

test('an old event can be labelled through the new API, and says nothing else than before', async () => {
  const made = await cluster.request('POST', `${CORE}/events`, {
    metadata: { name: 'Old_1' },
    involvedObject: { kind: 'Pod', namespace: 'default', name: 'web' },
    source: { component: 'agent' },
    firstTimestamp: '2024-05-01T10:00:00Z',
    count: 3,
    reason: 'Started',
  });
  expect(made.code).toBe(201);
  expect((await patch(`${EVENTS}/Old_1`, { metadata: { labels: { a: 'b' } } })).code).toBe(200);
  const refused = await patch(`${EVENTS}/Old_1`, { note: 'another' });
  expect(causes(refused)).toEqual(['message: Invalid value: "another": field is immutable']);
  expect((await patch(`${CORE}/events/Old_1`, { message: 'another' })).code).toBe(200);
});

test('rules for new objects are for new objects only', async () => {
  const path = '/apis/networking.k8s.io/v1/namespaces/default/ingresses';
  const annotations = { 'kubernetes.io/ingress.class': 'a' };
  const spec = { ingressClassName: 'b', defaultBackend: { service: { name: 'web', port: { number: 80 } } } };
  const refused = await cluster.request('POST', path, { metadata: { name: 'web', annotations }, spec });
  expect(causes(refused)).toEqual([
    'annotations.kubernetes.io/ingress.class: Invalid value: "a": must match `ingressClassName` when both are specified',
  ]);
  expect((await cluster.request('POST', path, { metadata: { name: 'web' }, spec })).code).toBe(201);
  expect((await patch(`${path}/web`, { metadata: { annotations } })).code).toBe(200);
});

test('a slice that belongs to another service is another generation', async () => {
  const path = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
  const slice = { addressType: 'IPv4', endpoints: [{ addresses: ['10.0.0.1'] }], ports: [{ port: 80 }] };
  const made = await cluster.request('POST', path, { metadata: { name: 'web-1' }, ...slice });
  expect(made.json.metadata.generation).toBe(1);
  const labelled = await patch(`${path}/web-1`, { metadata: { labels: { a: 'b' } } });
  expect(labelled.json.metadata.generation).toBe(2);
  const annotated = await patch(`${path}/web-1`, { metadata: { annotations: { a: 'b' } } });
  expect(annotated.json.metadata.generation).toBe(2);
  expect((await cluster.kubectl('get endpointslices')).stdout).toMatch(/web-1\s+IPv4\s+80\s+10\.0\.0\.1\s/);
});
