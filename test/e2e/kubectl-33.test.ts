// @module-tag long
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Cluster } from '../kit/cluster.ts';
import { type SharedCluster, shareCluster } from '../kit/shared-cluster.ts';

/** What a kubectl two versions newer does all day. */

let shared: SharedCluster;
let cluster: Cluster;

beforeAll(async () => {
  shared = await shareCluster();
  ({ cluster } = shared);
});

afterAll(() => shared[Symbol.asyncDispose]());

async function ok(args: string, input?: string): Promise<string> {
  const result = await cluster.kubectl33(args, input);
  expect(result, `kubectl ${args}`).toMatchObject({ code: 0 });
  return result.stdout;
}

const DEPLOYMENT = (image: string): string => `
apiVersion: apps/v1
kind: Deployment
metadata: {name: app}
spec:
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec: {containers: [{name: c, image: "${image}"}]}
`;

const EVENT = {
  metadata: { name: 'app.noticed', namespace: 'default' },
  involvedObject: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'default', name: 'app' },
  type: 'Normal',
  reason: 'Noticed',
  message: 'all is well',
};

test('a session with kubectl 1.33', async () => {
  expect(await ok('version -o json')).toContain('"minor": "33"');
  expect(await ok('apply -f -', DEPLOYMENT('nginx:1'))).toContain('created');
  expect(await ok('apply -f -', DEPLOYMENT('nginx:2'))).toContain('configured');
  expect(await ok('apply --server-side -f -', DEPLOYMENT('nginx:2'))).toContain('serverside-applied');
  expect(await ok('apply --server-side -f -', DEPLOYMENT('nginx:3'))).toContain('serverside-applied');
  expect((await cluster.kubectl33('diff -f -', DEPLOYMENT('nginx:4'))).stdout).toContain(
    '+      - image: nginx:4',
  );
  expect(await ok('get deployments,all -o wide')).toContain('nginx:3');
  expect(await ok('get deployment app -o yaml --show-managed-fields')).toContain('f:image');
  expect(await ok('explain deployment.spec.template.spec.containers.image')).toContain(
    'FIELD: image <string>',
  );
  expect(await ok('api-resources --categories=all')).toContain('deployments');
  expect(await ok('scale deployment app --replicas=3')).toContain('scaled');
  expect(await ok('set image deployment/app c=nginx:5')).toContain('image updated');
  expect(await ok('rollout history deployment/app')).toContain('deployment.apps/app');
  expect(
    await ok('patch deployment app --subresource=status --type=merge -p {"status":{"replicas":3}}'),
  ).toContain('patched');
  expect(await ok('get deployment app --subresource=status -o jsonpath={.status.replicas}')).toBe('3');
  expect(await ok('create namespace team')).toContain('created');
  expect(await ok('-n team create configmap map --from-literal=a=b')).toContain('created');
  expect(await ok('-n team get configmap map -o jsonpath={.data.a}')).toBe('b');
  await cluster.request('POST', '/api/v1/namespaces/default/events', EVENT);
  expect(await ok('events --for=deployment/app')).toMatch(/Normal\s+Noticed\s+Deployment\/app\s+all is well/);
  expect(await ok('auth whoami')).toContain('kubernetes-admin');
  expect(await ok('delete deployment app')).toContain('deleted');
  expect(await ok('delete namespace team --timeout=20s')).toContain('deleted');
  const unknown = await cluster.kubectl33(
    'apply -f -',
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bad}\ndataa: {x: y}',
  );
  expect(unknown.stderr).toContain('unknown field "dataa"');
});
