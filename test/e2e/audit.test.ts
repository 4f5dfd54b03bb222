// @module-tag long
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../kit/cluster.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

const POLICY = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
omitManagedFields: true
rules:
- level: None
  nonResourceURLs: ["/version*"]
- level: Metadata
  resources: [{group: "", resources: [secrets]}]
- level: RequestResponse
  namespaces: [default]
  resources: [{group: "", resources: [configmaps]}]
- level: RequestResponse
  resources: [{group: apps, resources: ["deployments", "deployments/*"]}, {group: "", resources: [serviceaccounts/token]}]
- level: RequestResponse
  resources: [{group: history.cluster.io}]
- level: Request
  resources: [{group: "", resources: [services]}]
- level: Metadata
`;
const MAPS = '/api/v1/namespaces/default/configmaps';

let database: TestDatabase;
let folder: string;
let log: string;
let cluster: Cluster;

beforeAll(async () => {
  database = await createTestDatabase();
  folder = mkdtempSync(join(tmpdir(), 'audit-e2e-'));
  writeFileSync(join(folder, 'policy.yaml'), POLICY);
  writeFileSync(join(folder, 'tokens.csv'), 'restricted,bob,1,"system:nobody"\n');
  log = join(folder, 'logs', 'audit.log');
  cluster = await startCluster(database.url, [
    `--audit-policy-file=${join(folder, 'policy.yaml')}`,
    `--audit-log-path=${log}`,
    '--audit-log-maxsize=1',
    '--audit-log-maxbackup=2',
    '--audit-log-compress',
    `--token-auth-file=${join(folder, 'tokens.csv')}`,
    '--authorization-mode=RBAC',
  ]);
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

// biome-ignore lint/suspicious/noExplicitAny: events are looked into
const events = (): any[] =>
  readFileSync(log, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
/** Other suites may be running. */
const eventually = <T>(look: () => T) => expect.poll(look);

const idOf = ({ headers }: { headers: Record<string, unknown> }): string => String(headers['audit-id']);
const eventsOf = (answer: { headers: Record<string, unknown> }) =>
  events().filter(({ auditID }) => auditID === idOf(answer));

/** Without the administrator's certificate. */
function requestWith(
  headers: Record<string, string>,
): Promise<{ code: number; headers: Record<string, unknown> }> {
  return new Promise((resolve, reject) => {
    const ca = readFileSync(join(cluster.folder, 'certificates', 'ca.crt'));
    const options = { host: '127.0.0.1', port: cluster.port, path: MAPS, ca, headers };
    httpsRequest(options, (response) => {
      response.resume();
      response.once('end', () => resolve({ code: response.statusCode ?? 0, headers: response.headers }));
    })
      .once('error', reject)
      .end();
  });
}

test('an answered request is in the log already, and its id is that of the row it wrote', async () => {
  const created = await cluster.request('POST', MAPS, { metadata: { name: 'joined' }, data: { a: '1' } });
  expect(created.code).toBe(201);
  const [event] = eventsOf(created);
  expect(event).toMatchObject({
    kind: 'Event',
    apiVersion: 'audit.cluster.io/v1',
    level: 'RequestResponse',
    stage: 'ResponseComplete',
    verb: 'create',
    requestURI: MAPS,
    user: { username: 'kubernetes-admin', groups: expect.arrayContaining(['system:masters']) },
    sourceIPs: ['127.0.0.1'],
    objectRef: { resource: 'configmaps', namespace: 'default', name: 'joined', apiVersion: 'v1' },
    responseStatus: { metadata: {}, code: 201 },
    requestObject: { kind: 'ConfigMap', metadata: { name: 'joined' }, data: { a: '1' } },
    responseObject: { metadata: { name: 'joined', uid: created.json.metadata.uid } },
    annotations: { 'authorization.k8s.io/decision': 'allow' },
  });
  expect(JSON.stringify(event)).not.toContain('managedFields');
  await cluster.request('PATCH', `${MAPS}/joined`, '{"data":{"a":"2"}}', {
    'content-type': 'application/merge-patch+json',
  });
  const wanted = JSON.stringify({ propagationPolicy: 'Background' });
  await cluster.request('DELETE', `${MAPS}/joined`, wanted, { 'content-length': String(wanted.length) });
  const text = JSON.stringify(events().filter(({ stage }) => stage === 'ResponseComplete'));
  const rows = await database.query(
    `SELECT r.verb AS written, e->>'verb' AS asked, e->'requestObject' AS body, r.username = e->'user'->>'username' AS same
       FROM revisions r JOIN json_array_elements($1::json) e ON e->>'auditID' = r.request_id
      WHERE r.name = 'joined' ORDER BY r.revision`,
    [text],
  );
  expect(rows.map(({ asked }) => asked)).toEqual(['create', 'patch', 'delete']);
  expect(rows.every(({ same }) => same)).toBe(true);
  expect(rows[1]?.body).toEqual({ data: { a: '2' } });
  expect(rows[2]?.body).toEqual({ propagationPolicy: 'Background' });
});

test('the audit id a caller brings is kept', async () => {
  const answer = await cluster.request('GET', MAPS, undefined, { 'audit-id': 'brought-by-a-proxy' });
  expect(answer.headers['audit-id']).toBe('brought-by-a-proxy');
  expect(eventsOf(answer)).toHaveLength(1);
});

test('the log says that a Secret was touched, and nothing of its contents, for every verb', async () => {
  const secrets = '/api/v1/namespaces/default/secrets';
  const data = { password: Buffer.from('hunter2').toString('base64') };
  await cluster.request('POST', secrets, { metadata: { name: 's', annotations: { note: 'hunter2' } }, data });
  await cluster.request('GET', `${secrets}/s`);
  await cluster.request('GET', secrets);
  await cluster.request('PUT', `${secrets}/s`, {
    metadata: { name: 's' },
    stringData: { password: 'hunter2' },
  });
  const patch = { 'content-type': 'application/apply-patch+yaml' };
  const applied = `apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {other: hunter2}`;
  await cluster.request('PATCH', `${secrets}/s?fieldManager=m`, applied, patch);
  await cluster.request('POST', secrets, { metadata: { name: 's' }, data: { password: 5 } });
  await cluster.request('DELETE', `${secrets}/s`);
  const text = readFileSync(log, 'utf8');
  expect(text).not.toContain('hunter2');
  expect(text).not.toContain(data.password);
  const verbs = events().filter(({ objectRef }) => objectRef?.resource === 'secrets');
  expect(verbs.map(({ verb }) => verb)).toEqual([
    'create',
    'get',
    'list',
    'update',
    'patch',
    'create',
    'delete',
  ]);
});

test('what history shows of a secret is recorded as little as the secret, and the event names it', async () => {
  const secrets = '/api/v1/namespaces/default/secrets';
  const made = await cluster.request('POST', secrets, {
    metadata: { name: 'past' },
    stringData: { key: 'xyzzy' },
  });
  await cluster.request('PUT', `${secrets}/past`, {
    metadata: { name: 'past' },
    stringData: { key: 'plugh' },
  });
  await cluster.request('POST', MAPS, { metadata: { name: 'past' }, data: { key: 'shown' } });
  const history = '/apis/history.cluster.io/v1alpha1';
  const revision = made.json.metadata.resourceVersion;
  const of = encodeURIComponent('object.resource=secrets,object.name=past');
  const restore = { target: { resource: 'secrets', namespace: 'default', name: 'past' }, to: revision };
  const reads = [
    await cluster.request('GET', `${history}/blames/secrets:default:past`),
    await cluster.request('GET', `${history}/revisions?fieldSelector=${of}`),
    await cluster.request('GET', `${history}/revisions/${revision}`),
    await cluster.request('GET', `${history}/namespaces/default/timelines`),
    await cluster.request('GET', `${history}/timelines/default`),
    await cluster.request('POST', `${history}/restores?dryRun=All`, { spec: restore }),
  ].filter(({ code }) => code < 300);
  expect(reads.length).toBeGreaterThanOrEqual(3);
  const text = readFileSync(log, 'utf8');
  for (const value of ['xyzzy', 'plugh']) {
    expect(text).not.toContain(value);
    expect(text).not.toContain(Buffer.from(value).toString('base64'));
  }
  for (const read of reads) {
    const [event] = eventsOf(read).filter(({ stage }) => stage === 'ResponseComplete');
    expect(event.annotations['history.cluster.io/shown'].split(', ')).toContain('secrets/default/past');
    expect(event.annotations['history.cluster.io/response-withheld']).toContain('it shows secrets,');
    expect(event.responseObject).toBeUndefined();
  }
  const open = await cluster.request('GET', `${history}/blames/configmaps:default:past`);
  const [event] = eventsOf(open).filter(({ stage }) => stage === 'ResponseComplete');
  expect(JSON.stringify(event.responseObject)).toContain('shown');
});

const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const deployment = (name: string, replicas: number) => ({
  metadata: { name },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
});

test('a replacement is recorded with the whole object, its uid and the version it was made from', async () => {
  const created = await cluster.request('POST', DEPLOYMENTS, deployment('put', 1));
  const { uid, resourceVersion } = created.json.metadata;
  const [creation] = eventsOf(created);
  expect(creation.objectRef).toEqual({
    ...{ resource: 'deployments', namespace: 'default', name: 'put' },
    ...{ apiGroup: 'apps', apiVersion: 'v1' },
  });
  const replaced = await cluster.request('PUT', `${DEPLOYMENTS}/put`, {
    ...created.json,
    spec: { ...created.json.spec, replicas: 2 },
  });
  expect(replaced.code).toBe(200);
  const [event] = eventsOf(replaced);
  expect(event).toMatchObject({
    verb: 'update',
    level: 'RequestResponse',
    objectRef: { resource: 'deployments', namespace: 'default', name: 'put', uid, resourceVersion },
    requestObject: {
      ...{ kind: 'Deployment', apiVersion: 'apps/v1', metadata: { uid, resourceVersion } },
      spec: { replicas: 2 },
    },
    responseObject: { metadata: { uid, resourceVersion: replaced.json.metadata.resourceVersion } },
  });
  const stale = await cluster.request('PUT', `${DEPLOYMENTS}/put`, created.json);
  expect(eventsOf(stale)[0]).toMatchObject({
    requestObject: { spec: { replicas: 1 } },
    objectRef: { uid, resourceVersion },
    responseStatus: { code: 409, reason: 'Conflict' },
    responseObject: { kind: 'Status', code: 409 },
  });
  // Without either in the body, the reference has neither.
  const plain = await cluster.request('PUT', `${DEPLOYMENTS}/put`, deployment('put', 3));
  expect(Object.keys(eventsOf(plain)[0].objectRef)).not.toContain('uid');
});

test('subresources are recorded with what was asked and answered', async () => {
  await cluster.request('POST', DEPLOYMENTS, deployment('sub', 1));
  const { json: scale } = await cluster.request('GET', `${DEPLOYMENTS}/sub/scale`);
  const scaled = await cluster.request('PUT', `${DEPLOYMENTS}/sub/scale`, {
    ...scale,
    spec: { replicas: 4 },
  });
  expect(eventsOf(scaled)[0]).toMatchObject({
    verb: 'update',
    objectRef: { name: 'sub', subresource: 'scale', uid: scale.metadata.uid },
    requestObject: { kind: 'Scale', spec: { replicas: 4 } },
    responseObject: { kind: 'Scale', spec: { replicas: 4 } },
  });
  const { json: seen } = await cluster.request('GET', `${DEPLOYMENTS}/sub`);
  const status = { ...seen, status: { observedGeneration: 7 } };
  const shown = await cluster.request('PUT', `${DEPLOYMENTS}/sub/status`, status);
  expect(eventsOf(shown)[0]).toMatchObject({
    objectRef: { subresource: 'status', resourceVersion: seen.metadata.resourceVersion },
    requestObject: { status: { observedGeneration: 7 } },
    responseObject: { status: { observedGeneration: 7 } },
  });
  const token = '/api/v1/namespaces/default/serviceaccounts/default/token';
  const issued = await cluster.request('POST', token, { spec: { expirationSeconds: 900 } });
  expect(eventsOf(issued)[0]).toMatchObject({
    verb: 'create',
    requestObject: { kind: 'TokenRequest', spec: { expirationSeconds: 900 } },
  });
});

test('of a patch the patch itself is recorded, and what it says of identity is not believed', async () => {
  await cluster.request('POST', DEPLOYMENTS, deployment('patched', 1));
  const patches: [string, unknown][] = [
    ['application/merge-patch+json', { metadata: { resourceVersion: '1' }, spec: { replicas: 2 } }],
    ['application/strategic-merge-patch+json', { spec: { replicas: 3 } }],
    ['application/json-patch+json', [{ op: 'replace', path: '/spec/replicas', value: 4 }]],
    [
      'application/apply-patch+yaml',
      { kind: 'Deployment', apiVersion: 'apps/v1', metadata: { name: 'patched', labels: { a: 'b' } } },
    ],
  ];
  for (const [type, body] of patches) {
    const path = `${DEPLOYMENTS}/patched?fieldManager=m`;
    const answer = await cluster.request('PATCH', path, JSON.stringify(body), { 'content-type': type });
    const [event] = eventsOf(answer);
    expect(event.requestObject).toEqual(body);
    expect(Object.keys(event.objectRef)).not.toContain('resourceVersion');
    expect(event.responseObject).toMatchObject({ kind: answer.code === 200 ? 'Deployment' : 'Status' });
  }
});

test('a delete is recorded with its options and its answer, of one and of all', async () => {
  await cluster.request('POST', DEPLOYMENTS, deployment('gone', 1));
  const ask = (path: string, body?: unknown) => cluster.request('DELETE', path, body);
  const options = { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Orphan', dryRun: ['All'] };
  const one = await ask(`${DEPLOYMENTS}/gone`, options);
  expect(eventsOf(one)[0]).toMatchObject({ verb: 'delete', requestObject: options });
  expect(eventsOf(one)[0].responseObject.kind).toBe(one.json.kind);
  const all = await ask(`${DEPLOYMENTS}?labelSelector=none`, { ...options, metadata: { name: 'made-up' } });
  const [event] = eventsOf(all);
  expect(event).toMatchObject({ verb: 'deletecollection', requestObject: { propagationPolicy: 'Orphan' } });
  expect(event.objectRef).not.toHaveProperty('name');
  const bare = await ask(`${DEPLOYMENTS}/gone`);
  expect(eventsOf(bare)[0]).not.toHaveProperty('requestObject');
});

test('a level says what is recorded of a replacement: its body, its answer, or that it happened to which object', async () => {
  const services = '/api/v1/namespaces/default/services';
  const service = { metadata: { name: 'levels' }, spec: { ports: [{ port: 80 }] } };
  const { json } = await cluster.request('POST', services, service);
  const put = await cluster.request('PUT', `${services}/levels`, json);
  const [request] = eventsOf(put);
  expect(request).toMatchObject({
    level: 'Request',
    requestObject: { metadata: { uid: json.metadata.uid } },
  });
  expect(request).not.toHaveProperty('responseObject');
  const secrets = '/api/v1/namespaces/default/secrets';
  const secret = await cluster.request('POST', secrets, { metadata: { name: 'levels' } });
  const [metadata] = eventsOf(await cluster.request('PUT', `${secrets}/levels`, secret.json));
  const { uid, resourceVersion } = secret.json.metadata;
  expect(metadata.objectRef).toMatchObject({ name: 'levels', uid, resourceVersion });
  expect(metadata).not.toHaveProperty('requestObject');
  expect(metadata).not.toHaveProperty('responseObject');
  await cluster.request('DELETE', `${secrets}/levels`);
});

test('what an applied configuration asked for is recorded as JSON', async () => {
  const headers = { 'content-type': 'application/apply-patch+yaml' };
  const body = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: applied}\ndata: {x: "1"}';
  const answer = await cluster.request('PATCH', `${MAPS}/applied?fieldManager=m`, body, headers);
  expect(eventsOf(answer)[0].requestObject).toEqual({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'applied' },
    data: { x: '1' },
  });
});

test('answers in protobuf, YAML and as a table are recorded as JSON', async () => {
  const accepts = [
    'application/vnd.kubernetes.protobuf',
    'application/yaml',
    'application/json;as=Table;v=v1;g=meta.k8s.io',
  ];
  const kinds = [];
  for (const accept of accepts) {
    const answer = await cluster.request('GET', MAPS, undefined, { accept });
    const [{ responseObject }] = eventsOf(answer);
    kinds.push(responseObject.kind);
    expect(JSON.stringify(responseObject)).toContain('"applied"');
    expect(JSON.stringify(responseObject)).not.toContain('managedFields');
  }
  expect(kinds).toEqual(['ConfigMapList', 'ConfigMapList', 'Table']);
});

test('a watch is recorded when it opens and when it ends', async () => {
  const watch = cluster.watch(`${MAPS}?watch=1&timeoutSeconds=2`);
  await watch.reached(1);
  const mine = () => events().filter(({ verb }) => verb === 'watch');
  await eventually(mine).toMatchObject([{ stage: 'ResponseStarted', responseStatus: { code: 200 } }]);
  await watch.ended;
  await eventually(mine).toMatchObject([{ stage: 'ResponseStarted' }, { stage: 'ResponseComplete' }]);
  expect(mine()[1].stageTimestamp > mine()[0].stageTimestamp).toBe(true);
});

test('refusals are recorded: unknown callers without a name, forbidden ones with the verdict, wrong names, wrong bodies', async () => {
  const unknown = await requestWith({ authorization: 'Bearer wrong-token-hunter2' });
  expect(unknown.code).toBe(401);
  expect(eventsOf(unknown)).toMatchObject([
    {
      stage: 'ResponseStarted',
      user: {},
      responseStatus: { status: 'Failure', message: 'Unauthorized', reason: 'Unauthorized', code: 401 },
    },
  ]);
  const forbidden = await requestWith({ authorization: 'Bearer restricted' });
  expect(forbidden.code).toBe(403);
  expect(eventsOf(forbidden)).toMatchObject([
    {
      stage: 'ResponseComplete',
      user: { username: 'bob' },
      annotations: { 'authorization.k8s.io/decision': 'forbid' },
      responseStatus: { status: 'Failure', reason: 'Forbidden', code: 403 },
    },
  ]);
  const missing = await cluster.request('GET', `${MAPS}/none`);
  expect(eventsOf(missing)[0]).toMatchObject({ responseStatus: { code: 404 }, responseObject: missing.json });
  const wrong = await cluster.request('POST', MAPS, '{"metadata":');
  expect(eventsOf(wrong)[0]).toMatchObject({ responseStatus: { code: 400, reason: 'BadRequest' } });
  expect(readFileSync(log, 'utf8')).not.toContain('hunter2');
});

test('what no rule wants leaves no trace but in the metrics', async () => {
  const before = events().length;
  const answer = await cluster.request('GET', '/version');
  expect(answer.code).toBe(200);
  expect(events()).toHaveLength(before);
  const metrics = (await cluster.request('GET', '/metrics')).text;
  expect(metrics).toMatch(/apiserver_audit_level_total\{level="None"\} [1-9]/);
  expect(metrics).toMatch(/apiserver_audit_event_total [1-9]/);
});

test('a full log is put aside, compressed, and so many of them are kept', async () => {
  const data = { x: 'x'.repeat(300_000) };
  for (let at = 0; at < 9; at += 1) {
    const answer = await cluster.request('POST', MAPS, { metadata: { name: `big-${at}` }, data });
    expect(answer.code).toBe(201);
  }
  const rotated = (): string[] => readdirSync(join(folder, 'logs')).filter((name) => name !== 'audit.log');
  await eventually(rotated).toHaveLength(2);
  await eventually(rotated).toEqual([
    expect.stringMatching(/\.log\.gz$/),
    expect.stringMatching(/\.log\.gz$/),
  ]);
  expect(existsSync(log)).toBe(true);
});
