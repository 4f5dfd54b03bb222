import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RestoreResult, RestoreSpec } from '../../src/api/types/history/v1alpha1.ts';
import { type Answer, type Cluster, startCluster } from '../kit/cluster.ts';
import { definitionOf } from '../kit/definitions.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

/** Restores put back what was, as writes of the caller. */
let database: TestDatabase;
let cluster: Cluster;
let folder: string;

const POLICY = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: Metadata, resources: [{group: "", resources: [secrets]}]}
- {level: RequestResponse, namespaces: [audited], resources: [{group: "", resources: [configmaps]}]}
- {level: RequestResponse, resources: [{group: history.cluster.io}]}
`;

beforeAll(async () => {
  database = await createTestDatabase();
  folder = mkdtempSync(join(tmpdir(), 'restore-e2e-'));
  writeFileSync(join(folder, 'policy.yaml'), POLICY);
  cluster = await startCluster(database.url, [
    '--authorization-mode=RBAC',
    `--audit-policy-file=${join(folder, 'policy.yaml')}`,
    `--audit-log-path=${join(folder, 'audit.log')}`,
  ]);
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

const NAMESPACES = '/api/v1/namespaces';
const RESTORES = '/apis/history.cluster.io/v1alpha1/restores';
const VOLUMES = '/api/v1/persistentvolumes';
const inCore = (namespace: string, resource: string) => `${NAMESPACES}/${namespace}/${resource}`;
const inGroup = (group: string, namespace: string, resource: string) =>
  `/apis/${group}/v1/namespaces/${namespace}/${resource}`;
const DEPLOYMENTS = inGroup('apps', 'default', 'deployments');
const MAPS = inCore('default', 'configmaps');

async function write(method: string, path: string, body?: unknown): Promise<Answer['json']> {
  const { code, json, text } = await cluster.request(method, path, body);
  expect(code, text).toBeLessThan(300);
  return json;
}

const versionOf = ({ metadata }: { metadata: { resourceVersion: string } }): string =>
  metadata.resourceVersion;

const post = (spec: RestoreSpec, query = '', headers?: Record<string, string>) =>
  cluster.request('POST', `${RESTORES}${query}`, { metadata: {}, spec }, headers);

async function restore(spec: RestoreSpec, query = ''): Promise<RestoreResult[]> {
  const { code, json, text } = await post(spec, query);
  expect(code, text).toBe(201);
  return json.status.results;
}

/** What became of each object: `configmaps a` → `created`. */
const actionsOf = (results: RestoreResult[]): Record<string, string | undefined> =>
  Object.fromEntries(
    results.map(({ object, action }) => [[object?.resource, object?.name].filter(Boolean).join(' '), action]),
  );

const messageOf = (results: RestoreResult[], name: string): string | undefined =>
  results.find(({ object: of }) => of?.name === name)?.message;

// biome-ignore lint/suspicious/noExplicitAny: events are looked into
const auditEvents = (): any[] =>
  readFileSync(join(folder, 'audit.log'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

/** The account that the server makes in every new namespace: it may be first. */
const isNotRaced = ({ object: of }: RestoreResult): boolean =>
  of?.resource !== 'serviceaccounts' || of.name !== 'default';

const template = (image: string) => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'web', image }] },
});

const deployment = (name: string, image: string, replicas = 1) => ({
  metadata: { name, annotations: { 'a.example/owner': 'shop' } },
  spec: { replicas, selector: { matchLabels: { app: 'web' } }, template: template(image) },
});

const setImage = (image: string) => ({
  spec: { template: { spec: { containers: [{ name: 'web', image }] } } },
});

const patch = async (path: string, body: unknown, type = 'strategic-merge-patch') => {
  const headers = { 'content-type': `application/${type}+json` };
  const { code, json, text } = await cluster.request('PATCH', path, body, headers);
  expect(code, text).toBe(200);
  return json;
};

const object = (resource: string, name: string, group = '', namespace = 'default') => ({
  ...{ group, resource, name, namespace },
});

test('a bad image is undone by its path; a dry run shows that and does nothing; what changed besides stays', async () => {
  const good = versionOf(await write('POST', DEPLOYMENTS, deployment('web', 'web:1')));
  await patch(`${DEPLOYMENTS}/web`, setImage('web:broken'));
  await patch(`${DEPLOYMENTS}/web`, { spec: { replicas: 3 } });
  const path = 'spec.template.spec.containers[name=web].image';
  const wish = { object: object('deployments', 'web', 'apps'), to: good, paths: [path] };

  const [foreseen] = await restore(wish, '?dryRun=All');
  expect(foreseen).toMatchObject({ action: 'updated' });
  expect(foreseen?.changes).toContainEqual({ path, old: 'web:broken', new: 'web:1' });
  expect(foreseen?.revision).toBeUndefined();
  expect((await cluster.request('GET', `${DEPLOYMENTS}/web`)).json).toMatchObject(setImage('web:broken'));

  const [done] = await restore(wish);
  expect(done).toMatchObject({ action: 'updated', object: { kind: 'Deployment', name: 'web' } });
  const { json } = await cluster.request('GET', `${DEPLOYMENTS}/web`);
  expect(json).toMatchObject({ spec: { replicas: 3, template: setImage('web:1').spec.template } });
  expect(json.metadata.resourceVersion).toBe(done?.revision);
  expect(json.metadata.managedFields).toContainEqual(expect.objectContaining({ manager: 'restore' }));

  const [row] = await database.query<{ manager: string; agent: string; username: string }>(
    `SELECT field_manager AS manager, user_agent AS agent, username FROM revisions WHERE revision = ${done?.revision}`,
  );
  expect(row?.manager).toBe('restore');
  expect(row?.agent).toMatch(new RegExp(`restore/${good}$`));
  const revision = `/apis/history.cluster.io/v1alpha1/revisions/${done?.revision}`;
  expect((await cluster.request('GET', revision)).json).toMatchObject({ manager: 'restore', restored: good });
  expect((await restore(wish))[0]?.action).toBe('unchanged');
});

test('a whole object is what it was; its status, and what controllers noted, stay', async () => {
  const made = await write('POST', DEPLOYMENTS, deployment('whole', 'web:1'));
  await patch(`${DEPLOYMENTS}/whole`, { ...setImage('web:2'), metadata: { labels: { added: 'x' } } });
  await patch(`${DEPLOYMENTS}/whole`, {
    metadata: { annotations: { 'a.example/owner': null, 'deployment.kubernetes.io/revision': '7' } },
  });
  await patch(`${DEPLOYMENTS}/whole/status`, { status: { replicas: 1 } });
  await restore({ object: object('deployments', 'whole', 'apps'), to: versionOf(made) });
  const { json } = await cluster.request('GET', `${DEPLOYMENTS}/whole`);
  expect(json.spec).toEqual(made.spec);
  expect(json.metadata.labels).toBeUndefined();
  expect(json.metadata.annotations).toEqual({
    'a.example/owner': 'shop',
    'deployment.kubernetes.io/revision': '7',
  });
  expect(json.status).toEqual({ replicas: 1 });
  expect(json.metadata.uid).toBe(made.metadata.uid);
});

const ownedBy = (
  { kind, apiVersion, metadata: { name, uid } }: Answer['json'],
  controller = false,
): Record<string, unknown> => ({ kind, apiVersion, name, uid, controller });

test('a deleted object comes back with what it owned, but for what its controller makes anew', async () => {
  const owner = await write('POST', DEPLOYMENTS, deployment('owner', 'web:1'));
  await write('POST', MAPS, {
    metadata: { name: 'settings', ownerReferences: [ownedBy(owner)] },
    data: { k: 'v' },
  });
  const replicaSet = {
    metadata: { name: 'owner-1', labels: { app: 'web' }, ownerReferences: [ownedBy(owner, true)] },
    spec: { replicas: 1, selector: { matchLabels: { app: 'web' } }, template: template('web:1') },
  };
  const last = await write('POST', inGroup('apps', 'default', 'replicasets'), replicaSet);
  await write('DELETE', `${DEPLOYMENTS}/owner`);
  await expect.poll(async () => (await cluster.request('GET', `${MAPS}/settings`)).code).toBe(404);

  const results = await restore({
    ...{ object: object('deployments', 'owner', 'apps'), to: versionOf(last), withDependents: true },
  });
  expect(actionsOf(results)).toEqual({
    'deployments owner': 'created',
    'configmaps settings': 'created',
    'replicasets owner-1': 'skipped',
  });
  expect(results.at(-1)?.message).toBe('Deployment owner makes it anew');
  const { json: now } = await cluster.request('GET', `${DEPLOYMENTS}/owner`);
  expect(now.metadata.uid).not.toBe(owner.metadata.uid);
  const { json: settings } = await cluster.request('GET', `${MAPS}/settings`);
  expect(settings).toMatchObject({
    data: { k: 'v' },
    metadata: { ownerReferences: [{ uid: now.metadata.uid }] },
  });
});

test('a namespace deleted by mistake comes back with everything in it', async () => {
  await write('POST', NAMESPACES, { metadata: { name: 'shop', labels: { team: 'a' } } });
  await write('POST', inCore('shop', 'serviceaccounts'), { metadata: { name: 'worker' } });
  await write('POST', inCore('shop', 'secrets'), { metadata: { name: 'key' }, data: { k: 'aGlkZGVu' } });
  await write('POST', inCore('shop', 'configmaps'), { metadata: { name: 'settings' }, data: { k: 'v' } });
  const web = await write('POST', inGroup('apps', 'shop', 'deployments'), deployment('web', 'web:1'));
  await write('POST', inCore('shop', 'secrets'), {
    metadata: { name: 'owned', ownerReferences: [ownedBy(web)] },
  });
  const ports = [{ port: 80 }];
  const service = await write('POST', inCore('shop', 'services'), {
    ...{ metadata: { name: 'web' }, spec: { type: 'NodePort', selector: { app: 'web' }, ports } },
  });
  const taken = await write('POST', inCore('shop', 'services'), {
    metadata: { name: 'moved' },
    spec: { ports },
  });
  const role = { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] };
  const rbac = 'rbac.authorization.k8s.io';
  await write('POST', inGroup(rbac, 'shop', 'roles'), { metadata: { name: 'reader' }, ...role });
  await write('POST', inGroup(rbac, 'shop', 'rolebindings'), {
    metadata: { name: 'readers' },
    roleRef: { apiGroup: rbac, kind: 'Role', name: 'reader' },
    subjects: [{ kind: 'ServiceAccount', name: 'worker', namespace: 'shop' }],
  });
  await write('POST', inCore('shop', 'resourcequotas'), {
    metadata: { name: 'limit' },
    spec: { hard: { pods: '5' } },
  });
  const volume = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } };
  const claimRef = { namespace: 'shop', name: 'kept', uid: '11111111-1111-4111-8111-111111111111' };
  await write('POST', VOLUMES, { metadata: { name: 'kept' }, spec: { ...volume, claimRef } });
  for (const volumeName of ['kept', 'lost']) {
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, volumeName };
    await write('POST', inCore('shop', 'persistentvolumeclaims'), { metadata: { name: volumeName }, spec });
  }
  const last = await write('POST', inCore('shop', 'events'), {
    ...{ metadata: { name: 'e' }, involvedObject: { namespace: 'shop' }, reason: 'Told' },
  });
  const to = versionOf(last);
  await write('DELETE', `${NAMESPACES}/shop`);
  await expect.poll(async () => (await cluster.request('GET', `${NAMESPACES}/shop`)).code).toBe(404);
  const spec = { clusterIP: taken.spec.clusterIP, ports };
  await write('POST', inCore('default', 'services'), { metadata: { name: 'taker' }, spec });

  const foreseen = await restore({ namespace: 'shop', to }, '?dryRun=All');
  expect(actionsOf(foreseen)).toMatchObject({ 'namespaces shop': 'created', 'deployments web': 'created' });
  expect((await cluster.request('GET', `${NAMESPACES}/shop`)).code).toBe(404);

  const results = await restore({ namespace: 'shop', to });
  expect(actionsOf(results)).toMatchObject({
    'namespaces shop': 'created',
    'serviceaccounts worker': 'created',
    'secrets key': 'created',
    'secrets owned': 'created',
    'configmaps settings': 'created',
    'configmaps kube-root-ca.crt': 'skipped',
    'deployments web': 'created',
    'services web': 'created',
    'services moved': 'created',
    'roles reader': 'created',
    'rolebindings readers': 'created',
    'resourcequotas limit': 'created',
    events: 'skipped',
  });
  expect(results.filter(({ action }) => action === 'failed')).toEqual([]);
  expect(actionsOf(foreseen.filter(isNotRaced))).toEqual(actionsOf(results.filter(isNotRaced)));
  expect(messageOf(foreseen, 'moved')).toBe(messageOf(results, 'moved'));
  const audited = readFileSync(join(folder, 'audit.log'), 'utf8');
  for (const text of [JSON.stringify(results), audited]) expect(text).not.toContain('aGlkZGVu');
  const { revision } = results.find(({ object: of }) => of?.resource === 'deployments') ?? {};
  expect(audited).toContain(`deployments.apps:shop:web@${revision}`);

  const read = async (path: string) => (await cluster.request('GET', path)).json;
  expect((await read(`${NAMESPACES}/shop`)).metadata.labels).toMatchObject({ team: 'a' });
  expect((await read(`${inCore('shop', 'secrets')}/key`)).data).toEqual({ k: 'aGlkZGVu' });
  const again = await read(`${inGroup('apps', 'shop', 'deployments')}/web`);
  expect(again.spec).toEqual(web.spec);
  const owned = await read(`${inCore('shop', 'secrets')}/owned`);
  expect(owned.metadata.ownerReferences).toMatchObject([{ uid: again.metadata.uid }]);
  expect((await read(`${inCore('shop', 'services')}/web`)).spec).toEqual(service.spec);
  const claims = inCore('shop', 'persistentvolumeclaims');
  expect((await read(`${claims}/kept`)).spec.volumeName).toBe('kept');
  expect((await read(`${claims}/lost`)).spec.volumeName).toBeUndefined();
  expect(messageOf(results, 'kept')).toContain('remove spec.claimRef.uid of the volume');
  expect(messageOf(results, 'lost')).toContain('volume lost is gone');
  const moved = await read(`${inCore('shop', 'services')}/moved`);
  expect(moved.spec.clusterIP).not.toBe(taken.spec.clusterIP);
  expect(messageOf(results, 'moved')).toContain(taken.spec.clusterIP);
});

test('a dry run of a namespace that is gone tells what the restore then does, refusals included', async () => {
  const at = (resource: string) => inCore('gone', resource);
  await write('POST', NAMESPACES, { metadata: { name: 'gone' } });
  await write('POST', at('serviceaccounts'), { metadata: { name: 'worker' } });
  const pod = (name: string, serviceAccountName: string, securityContext: object) => ({
    metadata: { name },
    spec: {
      serviceAccountName,
      securityContext,
      containers: [{ name: 'c', image: 'c', securityContext: CAREFUL }],
    },
  });
  await write(
    'POST',
    at('pods'),
    pod('careful', 'worker', { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } }),
  );
  await write('POST', at('pods'), pod('careless', 'worker', {}));
  await write('POST', at('serviceaccounts'), { metadata: { name: 'away' } });
  await write('POST', at('pods'), pod('homeless', 'away', {}));
  await write('DELETE', `${at('serviceaccounts')}/away`);
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  const to = versionOf(await patch(`${NAMESPACES}/gone`, { metadata: { labels } }));
  await write('DELETE', `${NAMESPACES}/gone`);
  for (const name of ['careful', 'careless', 'homeless'])
    await cluster.request('DELETE', `${at('pods')}/${name}?gracePeriodSeconds=0`);
  await expect.poll(async () => (await cluster.request('GET', `${NAMESPACES}/gone`)).code).toBe(404);

  const actionsOf = (results: RestoreResult[]) =>
    results
      .filter(isNotRaced)
      .map(({ object: of, action, message }) => [of?.resource, of?.name, action, message]);
  const foreseen = actionsOf(await restore({ namespace: 'gone', to }, '?dryRun=All'));
  expect(foreseen).toContainEqual(['pods', 'careful', 'created', undefined]);
  expect(foreseen).toContainEqual([
    'pods',
    'careless',
    'failed',
    expect.stringContaining('violates PodSecurity'),
  ]);
  expect(foreseen).toContainEqual([
    'pods',
    'homeless',
    'failed',
    expect.stringContaining('serviceaccount "away" not found'),
  ]);
  // No other client sees what it has foreseen.
  expect((await cluster.request('GET', `${NAMESPACES}/gone`)).code).toBe(404);
  const alone = pod('careful', 'worker', {});
  expect((await cluster.request('POST', `${at('pods')}?dryRun=All`, alone)).code).toBe(404);
  expect(actionsOf(await restore({ namespace: 'gone', to }))).toEqual(foreseen);
});

const CAREFUL = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };

test('each write of a restore is an audit event as its policy wants it for such writes, and names the restore', async () => {
  const at = (resource: string) => inCore('audited', resource);
  await write('POST', NAMESPACES, { metadata: { name: 'audited' } });
  const data = { k: 'dG9sZC1vZg==' };
  await write('POST', at('secrets'), { metadata: { name: 'key' }, data });
  const service = { metadata: { name: 'web' }, spec: { ports: [{ port: 80 }] } };
  for (const name of ['same', 'changed'])
    await write('POST', at('configmaps'), { metadata: { name }, data: { k: 'then' } });
  const to = versionOf(await write('POST', at('services'), service));
  await write('DELETE', `${at('services')}/web`);
  await write('DELETE', `${at('secrets')}/key`);
  await write('PUT', `${at('configmaps')}/changed`, { metadata: { name: 'changed' }, data: { k: 'now' } });

  const resultsOf = async (query: string) => {
    const before = auditEvents().length;
    const { code, headers, json } = await post({ namespace: 'audited', to }, query);
    expect(code).toBe(201);
    const events = auditEvents().slice(before);
    const objects = events.filter(({ objectRef }) => objectRef.resource !== 'restores');
    for (const event of objects) {
      expect(event.annotations).toMatchObject({
        'history.cluster.io/restore': headers['audit-id'],
        'authorization.k8s.io/decision': 'allow',
      });
      expect(event.requestURI).toBe(`${RESTORES}${query}`);
      expect(event.user.username).toBe('kubernetes-admin');
    }
    return { objects, results: json.status.results as RestoreResult[] };
  };
  const named = (event: Answer['json']) => [event.level, event.verb, event.objectRef.name];
  const wanted = [
    ['Metadata', 'create', 'key'],
    ['RequestResponse', 'update', 'changed'],
  ];
  expect((await resultsOf('?dryRun=All')).objects.map(named)).toEqual(wanted);
  const { objects, results } = await resultsOf('');
  expect(objects.map(named)).toEqual(wanted);
  const [key, changed] = objects;
  expect(JSON.stringify(key)).not.toContain(data.k);
  expect(changed).toMatchObject({
    requestObject: { data: { k: 'then' } },
    responseObject: { data: { k: 'then' } },
    responseStatus: { code: 200 },
  });
  const revisionOf = (name: string) => results.find(({ object: of }) => of?.name === name)?.revision;
  expect(key.annotations['history.cluster.io/revision']).toBe(revisionOf('key'));
  expect(changed.annotations['history.cluster.io/revision']).toBe(revisionOf('changed'));
  expect(changed.responseObject.metadata.resourceVersion).toBe(revisionOf('changed'));
});

test('a caller who may not write some of it restores the rest, and learns so; one who may not read it learns no names', async () => {
  const rules = [
    { apiGroups: [''], resources: ['namespaces', 'configmaps', 'limitranges'], verbs: ['get'] },
    { apiGroups: [''], resources: ['configmaps'], verbs: ['create'] },
    { apiGroups: ['history.cluster.io'], resources: ['*'], verbs: ['*'] },
  ];
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  await write('POST', `${rbac}/clusterroles`, { metadata: { name: 'some' }, rules });
  await write('POST', `${rbac}/clusterrolebindings`, {
    metadata: { name: 'some' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'some' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'jo' }],
  });
  await write('POST', NAMESPACES, { metadata: { name: 'part' } });
  await write('POST', inCore('part', 'secrets'), { metadata: { name: 'unseen' } });
  await write('POST', inCore('part', 'limitranges'), { metadata: { name: 'limits' } });
  await write('POST', inCore('part', 'configmaps'), { metadata: { name: 'refused' }, data: { k: 'v' } });
  const last = await write('POST', inCore('part', 'configmaps'), {
    metadata: { name: 'good' },
    data: { k: 'v' },
  });
  for (const gone of ['limitranges/limits', 'configmaps/good', 'configmaps/refused', 'secrets/unseen'])
    await write('DELETE', inCore('part', gone));
  // Admission refuses one of them now.
  const taken = { metadata: { name: 'full' }, spec: { hard: { 'count/configmaps': '2' } } };
  await write('POST', inCore('part', 'resourcequotas'), taken);
  const used = `${inCore('part', 'resourcequotas')}/full`;
  await expect.poll(async () => (await cluster.request('GET', used)).json.status?.used).toBeDefined();

  const as = { 'impersonate-user': 'jo', 'impersonate-group': 'system:authenticated' };
  const { code, json, headers } = await post({ namespace: 'part', to: versionOf(last) }, '', as);
  expect(code).toBe(201);
  const results: RestoreResult[] = json.status.results;
  const failed = results.filter(({ action }) => action === 'failed');
  expect(failed.map(({ object: of, message }) => [of?.resource, message])).toEqual(
    expect.arrayContaining([
      ['limitranges', expect.stringContaining('User "jo" cannot create resource "limitranges"')],
      ['configmaps', expect.stringContaining('exceeded quota: full')],
      ['secrets', expect.stringContaining('may not get')],
    ]),
  );
  expect(results.filter(({ action }) => action === 'created')).toHaveLength(1);
  // What is as it was needs no right to write it.
  expect(actionsOf(results)).toMatchObject({ 'namespaces part': 'unchanged' });
  expect(JSON.stringify(json)).not.toContain('unseen');
  expect(headers.warning).toContain('were not restored');
  expect(
    (await post({ object: object('secrets', 'unseen', '', 'part'), to: versionOf(last) }, '', as)).json,
  ).toMatchObject({
    code: 403,
    message: expect.stringContaining('cannot get resource \\"secrets\\"'.replaceAll('\\', '')),
  });
});

test('a restore gives no rights: of roles and bindings those come back whose rights the caller has', async () => {
  const rbac = 'rbac.authorization.k8s.io';
  const all = ['get', 'create', 'update'];
  const rules = [
    { apiGroups: [rbac], resources: ['roles', 'rolebindings'], verbs: all },
    { apiGroups: [''], resources: ['namespaces', 'pods'], verbs: ['get'] },
  ];
  await write('POST', `/apis/${rbac}/v1/clusterroles`, { metadata: { name: 'granter' }, rules });
  await write('POST', `/apis/${rbac}/v1/clusterrolebindings`, {
    metadata: { name: 'granter' },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'granter' },
    subjects: [{ apiGroup: rbac, kind: 'User', name: 'kim' }],
  });
  await write('POST', NAMESPACES, { metadata: { name: 'grants' } });
  let to = '';
  for (const resource of ['pods', 'secrets']) {
    const may = [{ apiGroups: [''], resources: [resource], verbs: ['get'] }];
    await write('POST', inGroup(rbac, 'grants', 'roles'), { metadata: { name: resource }, rules: may });
    const binding = {
      metadata: { name: resource },
      roleRef: { apiGroup: rbac, kind: 'Role', name: resource },
      subjects: [{ apiGroup: rbac, kind: 'User', name: 'kim' }],
    };
    to = versionOf(await write('POST', inGroup(rbac, 'grants', 'rolebindings'), binding));
  }
  for (const resource of ['rolebindings', 'roles']) await write('DELETE', inGroup(rbac, 'grants', resource));
  const as = { 'impersonate-user': 'kim', 'impersonate-group': 'system:authenticated' };
  const { json: foreseen } = await post({ namespace: 'grants', to }, '?dryRun=All', as);
  const { json } = await post({ namespace: 'grants', to }, '', as);
  const results: RestoreResult[] = json.status.results;
  expect(actionsOf(foreseen.status.results)).toEqual(actionsOf(results));
  expect(actionsOf(results)).toMatchObject({
    ...{ 'roles pods': 'created', 'rolebindings pods': 'created' },
    ...{ 'roles secrets': 'failed', 'rolebindings secrets': 'failed' },
  });
  expect(messageOf(results, 'secrets')).toContain('attempting to grant RBAC permissions not currently held');
});

test('custom resources are restored from every stored version', async () => {
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const outline = definitionOf({ plural: 'ships', kind: 'Ship' });
  const [v1] = outline.spec?.versions ?? [];
  const versions = [v1, { ...v1, name: 'v1beta1', storage: false }];
  const { name } = (await write('POST', definitions, { ...outline, spec: { ...outline.spec, versions } }))
    .metadata;
  const ships = inGroup('stable.example.com', 'default', 'ships');
  await expect.poll(async () => (await cluster.request('GET', ships)).code).toBe(200);
  const ship = {
    apiVersion: 'stable.example.com/v1',
    kind: 'Ship',
    metadata: { name: 's' },
    spec: { sails: 1 },
  };
  const made = await write('POST', ships, ship);
  const turned = versions.map((version) => ({ ...version, storage: version !== v1 }));
  await patch(`${definitions}/${name}`, { spec: { versions: turned } }, 'merge-patch');
  let oars = 4;
  const rewrite = async () => {
    oars += 1;
    const { metadata } = await patch(`${ships}/s`, { spec: { sails: 2, oars } }, 'merge-patch');
    const [row] = await database.query<{ stored: string }>(
      `SELECT object ->> 'apiVersion' AS stored FROM revisions WHERE revision = ${metadata.resourceVersion}`,
    );
    return row?.stored;
  };
  await expect.poll(rewrite).toBe('stable.example.com/v1beta1');
  const wish = { object: object('ships', 's', 'stable.example.com'), to: versionOf(made) };
  expect((await restore({ ...wish, paths: ['spec.sails'] }))[0]?.action).toBe('updated');
  expect((await cluster.request('GET', `${ships}/s`)).json.spec).toEqual({ sails: 1, oars });
  await write('DELETE', `${ships}/s`);
  expect((await restore(wish))[0]?.action).toBe('created');
  expect((await cluster.request('GET', `${ships}/s`)).json.spec).toEqual({ sails: 1 });
});

test('objects whose definition is gone are reported, and come back after the definition', async () => {
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  await write('POST', definitions, definitionOf({ plural: 'boats', kind: 'Boat' }));
  await write('POST', NAMESPACES, { metadata: { name: 'sea' } });
  const boats = inGroup('stable.example.com', 'sea', 'boats');
  await expect.poll(async () => (await cluster.request('GET', boats)).code).toBe(200);
  const boat = { apiVersion: 'stable.example.com/v1', kind: 'Boat', metadata: { name: 'b' } };
  const to = versionOf(await write('POST', boats, boat));
  await write('DELETE', `${definitions}/boats.stable.example.com`);
  await expect.poll(async () => (await cluster.request('GET', boats)).code).toBe(404);

  const first = await restore({ namespace: 'sea', to });
  expect(first.find(({ action }) => action === 'failed')).toEqual({
    object: { group: 'stable.example.com', resource: 'boats', kind: 'Boat' },
    action: 'failed',
    message: 'not served now: restore customresourcedefinitions boats.stable.example.com first',
  });
  const definition = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' };
  await restore({ object: { ...definition, name: 'boats.stable.example.com' }, to });
  await expect.poll(async () => (await cluster.request('GET', boats)).code).toBe(200);
  expect(actionsOf(await restore({ namespace: 'sea', to }))).toMatchObject({ 'boats b': 'created' });
});

test('what cannot be restored is refused with the field that says so, and what can be done', async () => {
  const before = versionOf(await write('POST', MAPS, { metadata: { name: 'before' } }));
  const made = versionOf(await write('POST', MAPS, { metadata: { name: 'it' }, data: { k: 'v' } }));
  const it = object('configmaps', 'it');
  const wrong: readonly (readonly [RestoreSpec, number, string])[] = [
    [{ to: made }, 422, 'spec.object: Required value'],
    [{ object: it, namespace: 'default', to: made }, 422, 'spec.namespace: Forbidden'],
    [{ object: it }, 422, 'spec.to: Required value'],
    [{ object: it, to: 'yesterday' }, 422, 'spec.to: Invalid value: "yesterday": must be a revision'],
    [
      { object: it, to: '2999-01-01T00:00:00Z' },
      422,
      'spec.to: Invalid value: "2999-01-01T00:00:00Z": is in the future',
    ],
    [
      { object: it, to: '999999999' },
      422,
      'spec.to: Invalid value: "999999999": is newer than the newest revision',
    ],
    [{ object: object('things', 'a'), to: made }, 422, 'spec.object.resource: Invalid value: "things"'],
    [{ object: object('deployments', 'a'), to: made }, 422, 'group "apps" has'],
    [{ object: object('deployments/scale', 'a', 'apps'), to: made }, 422, 'subresource'],
    [
      { object: { resource: 'configmaps', name: 'it' }, to: made },
      422,
      'spec.object.namespace: Required value',
    ],
    [
      { object: it, to: made, paths: ['data.k', 'data.none'] },
      422,
      'spec.paths[1]: Invalid value: "data.none": names nothing',
    ],
    [{ object: it, to: made, paths: ['data['] }, 422, 'spec.paths[0]: Invalid value'],
    [
      { object: it, to: made, paths: Array.from({ length: 100 }, () => `data.${'k'.repeat(4000)}`) },
      422,
      'spec.paths: Too long: must have at most 262144 bytes',
    ],
    [{ object: it, to: made, paths: ['metadata.uid'] }, 422, 'spec.paths[0]: Invalid value'],
    [
      { object: it, to: made, paths: ['data.k'], withDependents: true },
      422,
      'spec.withDependents: Forbidden',
    ],
    [{ namespace: 'default', to: made, paths: ['data.k'] }, 422, 'spec.paths: Forbidden'],
    [{ object: it, to: before }, 422, `it was created by revision ${made}; delete it`],
    [{ object: object('configmaps', 'never'), to: made }, 422, 'history does not know it'],
  ];
  for (const [spec, code, why] of wrong) {
    const { json } = await post(spec);
    expect([json.code, json.message]).toEqual([code, expect.stringContaining(why)]);
  }
  await write('DELETE', `${MAPS}/it`);
  const after = versionOf(await write('POST', MAPS, { metadata: { name: 'after' } }));
  expect((await post({ object: it, to: after })).json.message).toContain(
    `its last state is that of revision ${made}`,
  );
  expect((await post({ object: it, to: made, paths: ['data.k'] })).json.message).toContain(
    'spec.paths: Forbidden',
  );
});

test('data of a secret comes back and is not shown, and no client can say that a restore wrote what it did not', async () => {
  const keys = inCore('default', 'secrets');
  const made = await write('POST', keys, { metadata: { name: 'key' }, data: { k: 'Zmlyc3Q=' } });
  const as = { 'user-agent': 'curl/8 restore/1' };
  const changed = { metadata: { name: 'key' }, data: { k: 'c2Vjb25k' } };
  const { json } = await cluster.request('PUT', `${keys}/key?fieldManager=restore`, changed, as);
  const revision = `/apis/history.cluster.io/v1alpha1/revisions/${versionOf(json)}`;
  const { json: shown } = await cluster.request('GET', revision);
  expect(shown).toMatchObject({ manager: 'restore', userAgent: 'curl/8' });
  expect(shown.restored).toBeUndefined();

  const wish = { object: object('secrets', 'key'), to: versionOf(made) };
  const [foreseen] = await restore(wish, '?dryRun=All');
  expect(foreseen?.changes).toEqual([{ path: 'data.k', hidden: true }]);
  await restore(wish);
  expect((await cluster.request('GET', `${keys}/key`)).json.data).toEqual({ k: 'Zmlyc3Q=' });
});

test('the error for a field that cannot change says what to do', async () => {
  const keys = inCore('default', 'secrets');
  const fixed = await write('POST', keys, { metadata: { name: 'fixed' }, data: { k: 'Zmlyc3Q=' } });
  await write('PUT', `${keys}/fixed`, { metadata: { name: 'fixed' }, data: {}, immutable: true });
  expect((await post({ object: object('secrets', 'fixed'), to: versionOf(fixed) })).json).toMatchObject({
    code: 422,
    message: expect.stringMatching(/field is immutable.*; delete the object, and restore it then$/),
  });
  const services = inCore('default', 'services');
  const ports = [{ port: 80 }];
  const made = await write('POST', services, { metadata: { name: 'turned' }, spec: { ports } });
  await write('DELETE', `${services}/turned`);
  await write('POST', services, { metadata: { name: 'turned' }, spec: { ports, clusterIP: 'None' } });
  const results = await restore({ object: object('services', 'turned'), to: versionOf(made) });
  const { clusterIP } = made.spec;
  expect(messageOf(results, 'turned')).toContain(
    `spec.clusterIP stays None: only a new service can have ${clusterIP}`,
  );
  const absent = { object: object('rafts', 'r', 'gone.example.com'), to: versionOf(made) };
  expect((await post(absent)).json.message).toContain(
    'if a definition made it, restore customresourcedefinitions rafts.gone.example.com first',
  );
});

test('while a namespace is being deleted, nothing is restored into it, and the error says what to do', async () => {
  await write('POST', NAMESPACES, { metadata: { name: 'ending' } });
  const held = { name: 'held', finalizers: ['example.com/held'] };
  await write('POST', inCore('ending', 'configmaps'), { metadata: held });
  const to = versionOf(await write('POST', inCore('ending', 'configmaps'), { metadata: { name: 'it' } }));
  await write('DELETE', `${NAMESPACES}/ending`);
  const it = `${inCore('ending', 'configmaps')}/it`;
  await expect.poll(async () => (await cluster.request('GET', it)).code).toBe(404);
  for (const query of ['', '?dryRun=All']) {
    expect((await post({ namespace: 'ending', to }, query)).json).toMatchObject({
      code: 409,
      message: expect.stringContaining('it is being deleted; restore it once it is gone'),
    });
    expect((await post({ object: object('configmaps', 'it', '', 'ending'), to }, query)).json).toMatchObject({
      code: 403,
      message: expect.stringContaining('it is being terminated'),
    });
  }
  await patch(`${inCore('ending', 'configmaps')}/held`, { metadata: { finalizers: null } }, 'merge-patch');
});

test('another object of the name is kept apart; one that is being deleted is not touched; what it owned then is its own again', async () => {
  const made = await write('POST', MAPS, { metadata: { name: 'twice' }, data: { k: 'first' } });
  const child = { metadata: { name: 'child', ownerReferences: [{ ...ownedBy(made) }] }, data: {} };
  const last = await write('POST', MAPS, child);
  await write('DELETE', `${MAPS}/twice?propagationPolicy=Orphan`);
  const finalizers = ['example.com/held'];
  await expect.poll(async () => (await cluster.request('GET', `${MAPS}/twice`)).code).toBe(404);
  const again = await write('POST', MAPS, { metadata: { name: 'twice', finalizers }, data: { k: 'second' } });
  const wish = { object: object('configmaps', 'twice'), to: versionOf(last), withDependents: true };

  const [root, owned] = await restore(wish);
  expect(root).toMatchObject({ action: 'updated', message: expect.stringContaining(made.metadata.uid) });
  expect(owned).toMatchObject({ action: 'updated', object: { name: 'child' } });
  const { json } = await cluster.request('GET', `${MAPS}/child`);
  expect(json.metadata.ownerReferences).toMatchObject([{ uid: again.metadata.uid }]);
  expect((await restore(wish)).map(({ action }) => action)).toEqual(['unchanged', 'unchanged']);

  await write('DELETE', `${MAPS}/twice`);
  expect((await post({ object: wish.object, to: wish.to })).json).toMatchObject({
    code: 409,
    message: expect.stringContaining('is being deleted; restore it once it is gone'),
  });
  await write('PUT', `${MAPS}/twice`, { metadata: { name: 'twice' } });
});
