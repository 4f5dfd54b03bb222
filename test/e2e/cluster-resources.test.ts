import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Cluster } from '../kit/cluster.ts';
import { GOOD } from '../kit/cron-definition.ts';
import { type SharedCluster, shareCluster } from '../kit/shared-cluster.ts';

/** What a cluster is governed by, as administrators handle it with kubectl. */

let shared: SharedCluster;
let cluster: Cluster;

beforeAll(async () => {
  shared = await shareCluster();
  ({ cluster } = shared);
});

afterAll(() => shared[Symbol.asyncDispose]());

async function ok(args: string, input?: string): Promise<string> {
  const result = await cluster.kubectl(args, input);
  expect(result, `kubectl ${args}`).toMatchObject({ code: 0 });
  return result.stdout;
}

function signingRequest(): string {
  const arguments_ =
    'req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout /dev/null -subj /CN=jane';
  const pem = execFileSync('openssl', arguments_.split(' '), { stdio: ['ignore', 'pipe', 'ignore'] });
  return JSON.stringify({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'Jane_1' },
    spec: {
      request: pem.toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['client auth'],
      username: 'somebody-else',
    },
  });
}

test('a signing request bears the name of its maker, and kubectl approves it', { tags: 'long' }, async () => {
  await ok('create -f -', signingRequest());
  const { json } = await cluster.request(
    'GET',
    '/apis/certificates.k8s.io/v1/certificatesigningrequests/Jane_1',
  );
  expect(json.spec.username).not.toBe('somebody-else');
  expect(json.spec.groups).toContain('system:authenticated');
  expect(await ok('get csr Jane_1')).toMatch(
    /SIGNERNAME +REQUESTOR +REQUESTEDDURATION +CONDITION[\s\S]* Pending/,
  );
  await ok('certificate approve Jane_1');
  expect(await ok('get csr Jane_1')).toContain('Approved');
  const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests/Jane_1/approval';
  const approved = await cluster.request('GET', path);
  approved.json.status.conditions.push({ type: 'Denied', status: 'True' });
  const both = await cluster.request('PUT', path, approved.json);
  expect(both.json.message).toContain('Approved and Denied conditions are mutually exclusive');
});

test('roles are bound to subjects, and to no other role afterwards', async () => {
  await ok('create clusterrole reader --verb=get --resource=pods');
  await ok('create rolebinding readers --clusterrole=reader --user=jane --serviceaccount=default:bot');
  expect(await ok('get rolebindings -o wide')).toMatch(
    /readers +ClusterRole\/reader +\S+ +jane +default\/bot/,
  );
  const path = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings/readers';
  const changed = await cluster.request(
    'PATCH',
    path,
    { roleRef: { name: 'admin' } },
    {
      'content-type': 'application/merge-patch+json',
    },
  );
  expect(changed.code).toBe(422);
  expect(changed.json.details.causes[0]).toMatchObject({ field: 'roleRef', reason: 'FieldValueInvalid' });
});

test('a definition of custom resources is completed, and a wrong one is refused with all of its errors', async () => {
  const definition = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', ...GOOD };
  await ok('apply -f -', JSON.stringify(definition));
  const shown = JSON.parse(await ok('get crd crons.stable.example.com -o json'));
  expect(shown.spec.names).toMatchObject({ singular: 'cron', listKind: 'CronList' });
  expect(shown.status.storedVersions).toEqual(['v1']);
  const wrong = structuredClone(shown);
  wrong.spec.versions[0].schema.openAPIV3Schema.properties.spec = { properties: { a: {} } };
  const refused = await cluster.kubectl('replace -f -', JSON.stringify(wrong));
  expect(refused.stderr).toContain('spec.validation.openAPIV3Schema.properties[spec].type: Required value');
  expect(refused.stderr).toContain('properties[spec].properties[a].type: Required value');
});

test('priority levels keep zero shares in the version that can say so', async () => {
  const group = '/apis/flowcontrol.apiserver.k8s.io';
  const level = {
    apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
    kind: 'PriorityLevelConfiguration',
    metadata: { name: 'idle' },
    spec: { type: 'Limited', limited: { nominalConcurrencyShares: 0, limitResponse: { type: 'Reject' } } },
  };
  expect((await cluster.request('POST', `${group}/v1/prioritylevelconfigurations`, level)).code).toBe(201);
  const v1 = await cluster.request('GET', `${group}/v1/prioritylevelconfigurations/idle`);
  expect(v1.json.spec.limited).toMatchObject({ nominalConcurrencyShares: 0, lendablePercent: 0 });
  const v1beta3 = await cluster.request('GET', `${group}/v1beta3/prioritylevelconfigurations/idle`);
  expect(v1beta3.json.metadata.annotations).toEqual({
    'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares': '',
  });
});

test('component statuses say which components answer, and have no watch', async () => {
  const table = await ok('get componentstatuses');
  expect(table).toMatch(/^etcd-0 +Healthy +ok *$/m);
  // What runs on the machine at the ports of the others is not ours to know.
  expect(table).toMatch(/^controller-manager +(Healthy|Unhealthy) /m);
  expect(table).toMatch(/^scheduler +(Healthy|Unhealthy) /m);
  const path = '/api/v1/componentstatuses';
  expect((await cluster.request('GET', `${path}/other`)).json.message).toContain('other');
  expect((await cluster.request('GET', `${path}?watch=true&timeoutSeconds=1`)).code).toBe(405);
});
