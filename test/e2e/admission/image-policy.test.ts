// @module-tag long
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, type Cluster, startCluster } from '../../kit/cluster.ts';
import { type RemoteWebhook, type Respond, startWebhook } from '../../kit/webhook-server.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';

let database: TestDatabase;
let folder: string;
let webhook: RemoteWebhook;
let cluster: Cluster;

/** Refuses images called `bad`, and notes what it was asked by. */
const judge: Respond = (_request, response, body) => {
  const review = JSON.parse(body);
  const bad = review.spec.containers.some(({ image }: { image: string }) => image === 'bad');
  const verdict = bad ? { allowed: false, reason: 'bad is not signed' } : { allowed: true };
  const status = { ...verdict, auditAnnotations: { looked: 'yes' } };
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ ...review, status }));
};

beforeAll(async () => {
  database = await createTestDatabase();
  folder = mkdtempSync(join(tmpdir(), 'image-policy-'));
  webhook = await startWebhook();
  webhook.respond = judge;
  const imagePolicy = { kubeConfigFile: webhook.kubeconfig(), allowTTL: 60, denyTTL: -1, retryBackoff: 1 };
  writeFileSync(join(folder, 'images.json'), JSON.stringify({ imagePolicy }));
  writeFileSync(
    join(folder, 'admission.yaml'),
    `apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: ImagePolicyWebhook
  path: images.json
`,
  );
  writeFileSync(
    join(folder, 'audit.yaml'),
    'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: Metadata\n  resources: [{group: "", resources: [pods]}]\n',
  );
  cluster = await startCluster(database.url, [
    '--enable-admission-plugins=ImagePolicyWebhook',
    '--disable-admission-plugins=ServiceAccount',
    `--admission-control-config-file=${join(folder, 'admission.yaml')}`,
    `--audit-policy-file=${join(folder, 'audit.yaml')}`,
    `--audit-log-path=${join(folder, 'audit.log')}`,
  ]);
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await webhook[Symbol.asyncDispose]();
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

const make = (name: string, image: string, annotations = {}): Promise<Answer> =>
  cluster.request('POST', '/api/v1/namespaces/default/pods', {
    metadata: { name, annotations },
    spec: { containers: [{ name: 'c', image }] },
  });

test('images that the webhook refuses do not run, and a yes is remembered', async () => {
  expect((await make('first', 'good', { 'x.image-policy.k8s.io/ticket': '7' })).code).toBe(201);
  expect(webhook.received.at(-1)).toMatchObject({
    kind: 'ImageReview',
    apiVersion: 'imagepolicy.k8s.io/v1alpha1',
    spec: {
      containers: [{ image: 'good' }],
      annotations: { 'x.image-policy.k8s.io/ticket': '7' },
      namespace: 'default',
    },
  });
  const asked = webhook.received.length;
  expect((await make('second', 'good', { 'x.image-policy.k8s.io/ticket': '7' })).code).toBe(201);
  expect(webhook.received).toHaveLength(asked);
  const { code, stderr } = await cluster.kubectl('run third --image=bad');
  expect(code).toBe(1);
  expect(stderr.trim()).toBe(
    'Error from server (Forbidden): pods "third" is forbidden: image policy webhook backend denied one or more images: bad is not signed',
  );
});

test('what the webhook notes is in the audit log', async () => {
  const answer = await make('noted', 'bad');
  expect(answer.code).toBe(403);
  const id = String(answer.headers['audit-id']);
  const notes = () =>
    readFileSync(join(folder, 'audit.log'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .find(({ auditID, stage }) => auditID === id && stage === 'ResponseComplete')?.annotations;
  await expect.poll(notes).toMatchObject({ 'imagepolicywebhook.image-policy.k8s.io/looked': 'yes' });
});

test('a webhook that fails for a moment is asked again; one that does not come back lets nothing in', async () => {
  let failures = 0;
  webhook.respond = (request, response, body) => {
    if (failures < 2) {
      failures += 1;
      response.writeHead(500).end();
      return;
    }
    judge(request, response, body);
  };
  expect((await make('patient', 'patient')).code).toBe(201);
  expect(failures).toBe(2);
  webhook.respond = (_request, response) => void response.writeHead(404).end();
  const refused = await make('unheard', 'unheard');
  expect([refused.code, refused.json.reason]).toEqual([403, 'Forbidden']);
  expect(refused.json.message).toBe('pods "unheard" is forbidden: the server answered with status 404');
});

test('a server without a configuration does not start, and says why', async () => {
  await using other = await createTestDatabase();
  await expect(startCluster(other.url, ['--enable-admission-plugins=ImagePolicyWebhook'])).rejects.toThrow(
    'ImagePolicyWebhook configuration: no config specified',
  );
});
