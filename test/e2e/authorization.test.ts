import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, type Cluster, startCluster } from '../kit/cluster.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

let database: TestDatabase;
let first: Cluster;
let second: Cluster;
let tokens: string;

beforeAll(async () => {
  database = await createTestDatabase();
  tokens = join('/tmp', `tokens-${process.pid}.csv`);
  writeFileSync(
    tokens,
    'alice-token,alice,1\nbob-token,bob,2,"editors"\nnode-token,system:node:n1,3,"system:nodes"\n',
  );
  const flags = ['--authorization-mode=Node,RBAC', `--token-auth-file=${tokens}`];
  first = await startCluster(database.url, flags);
  second = await startCluster(database.url, flags);
});

afterAll(async () => {
  await first[Symbol.asyncDispose]();
  await second[Symbol.asyncDispose]();
  await database.drop();
});

const as = (cluster: Cluster, token: string, method: string, path: string, body?: unknown): Promise<Answer> =>
  cluster.bearer(token, method, path, body);

const CORE = '/api/v1/namespaces/default';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const role = (name: string, rules: unknown[]) => ({ metadata: { name }, rules });
const binding = (name: string, kind: string, to: string, subject: object) => ({
  metadata: { name },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: to },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', ...subject }],
});

async function eventually(attempt: () => Promise<Answer>, code: number): Promise<void> {
  await expect.poll(async () => (await attempt()).code).toBe(code);
}

test('the roles of every cluster are there from the start, those that gather included', async () => {
  const { json } = await first.request('GET', `${RBAC}/clusterroles`);
  const names = json.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
  for (const name of [
    'cluster-admin',
    'admin',
    'edit',
    'view',
    'system:node',
    'system:discovery',
    'system:controller:job-controller',
  ]) {
    expect(names).toContain(name);
  }
  const edit = await first.request('GET', `${RBAC}/clusterroles/edit`);
  expect(edit.json.rules.length).toBeGreaterThan(10);
});

test('the refusal for a user without a role names verb, resource and namespace as Kubernetes does', async () => {
  const refused = await as(first, 'alice-token', 'GET', `${CORE}/pods`);
  expect(refused.code).toBe(403);
  expect(refused.json.message).toBe(
    'pods is forbidden: User "alice" cannot list resource "pods" in API group "" in the namespace "default"',
  );
  expect((await as(first, 'alice-token', 'GET', '/version')).code).toBe(200);
  expect((await as(first, 'alice-token', 'GET', '/apis')).code).toBe(200);
  expect((await as(first, 'alice-token', 'GET', '/metricsx')).json).toMatchObject({
    message: 'forbidden: User "alice" cannot get path "/metricsx"',
    details: {},
  });
  expect((await as(first, 'wrong', 'GET', '/apis')).code).toBe(401);
});

test('a role counts on every server as soon as it is bound, and no longer once it is gone', async () => {
  await first.request(
    'POST',
    `${RBAC}/namespaces/default/roles`,
    role('reader', [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] }]),
  );
  await first.request(
    'POST',
    `${RBAC}/namespaces/default/rolebindings`,
    binding('read', 'Role', 'reader', { kind: 'User', name: 'alice' }),
  );
  for (const cluster of [first, second]) {
    await eventually(() => as(cluster, 'alice-token', 'GET', `${CORE}/configmaps`), 200);
    expect(
      (await as(cluster, 'alice-token', 'POST', `${CORE}/configmaps`, { metadata: { name: 'x' } })).code,
    ).toBe(403);
    expect((await as(cluster, 'alice-token', 'GET', '/api/v1/configmaps')).code).toBe(403);
  }
  await second.request('DELETE', `${RBAC}/namespaces/default/rolebindings/read`);
  for (const cluster of [second, first])
    await eventually(() => as(cluster, 'alice-token', 'GET', `${CORE}/configmaps`), 403);
});

test('groups, names, subresources and the other dialect are what rules are about', async () => {
  await first.request(
    'POST',
    `${RBAC}/clusterroles`,
    role('narrow', [
      { apiGroups: [''], resources: ['configmaps'], resourceNames: ['mine'], verbs: ['get'] },
      { apiGroups: ['apps'], resources: ['deployments/scale'], verbs: ['get'] },
      { apiGroups: ['storage.cluster.io'], resources: ['storageclasses'], verbs: ['list'] },
      { nonResourceURLs: ['/metricsx/*'], verbs: ['get'] },
    ]),
  );
  await first.request(
    'POST',
    `${RBAC}/clusterrolebindings`,
    binding('narrow', 'ClusterRole', 'narrow', { kind: 'Group', name: 'editors' }),
  );
  await eventually(() => as(first, 'bob-token', 'GET', '/apis/storage.k8s.io/v1/storageclasses'), 200);
  expect((await as(first, 'bob-token', 'GET', '/apis/storage.cluster.io/v1/storageclasses')).code).toBe(200);
  expect((await as(first, 'bob-token', 'GET', `${CORE}/configmaps/mine`)).code).toBe(404);
  expect((await as(first, 'bob-token', 'GET', `${CORE}/configmaps/other`)).code).toBe(403);
  expect(
    (await as(first, 'bob-token', 'GET', '/apis/apps/v1/namespaces/default/deployments/d/scale')).code,
  ).toBe(404);
  expect((await as(first, 'bob-token', 'GET', '/apis/apps/v1/namespaces/default/deployments/d')).code).toBe(
    403,
  );
  expect((await as(first, 'bob-token', 'GET', '/metricsx/y')).code).toBe(404);
});

test('who may patch but not create cannot create by applying, and a dry run needs the same right', async () => {
  await first.request(
    'POST',
    `${RBAC}/namespaces/default/roles`,
    role('patcher', [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'patch'] }]),
  );
  await first.request(
    'POST',
    `${RBAC}/namespaces/default/rolebindings`,
    binding('patch', 'Role', 'patcher', { kind: 'User', name: 'alice' }),
  );
  await eventually(() => as(first, 'alice-token', 'GET', `${CORE}/configmaps/none`), 404);
  const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied' } };
  const path = `${CORE}/configmaps/applied?fieldManager=m`;
  const apply = { 'content-type': 'application/apply-patch+yaml' };
  const refused = await first.bearer('alice-token', 'PATCH', path, config, apply);
  expect(refused.json.message).toContain('User "alice" cannot create resource "configmaps"');
  await first.request('PATCH', path, config, apply);
  expect((await first.bearer('alice-token', 'PATCH', path, config, apply)).code).toBe(200);
  const dryRun = `${CORE}/configmaps?dryRun=All`;
  expect((await first.bearer('alice-token', 'POST', dryRun, config)).code).toBe(403);
  expect((await first.bearer('alice-token', 'PATCH', `${path}&dryRun=All`, config, apply)).code).toBe(200);
});

test('users cannot give away more rights than they have', async () => {
  await first.request(
    'POST',
    `${RBAC}/clusterroles`,
    role('role-maker', [
      {
        apiGroups: ['rbac.authorization.k8s.io'],
        resources: ['roles', 'rolebindings'],
        verbs: ['get', 'create'],
      },
      { apiGroups: [''], resources: ['secrets'], verbs: ['list'] },
    ]),
  );
  await first.request(
    'POST',
    `${RBAC}/namespaces/default/rolebindings`,
    binding('make', 'ClusterRole', 'role-maker', { kind: 'User', name: 'alice' }),
  );
  await eventually(() => as(first, 'alice-token', 'GET', `${CORE}/secrets`), 200);
  const wanted = role('more', [{ apiGroups: [''], resources: ['secrets'], verbs: ['list', 'delete'] }]);
  const escalation = await as(first, 'alice-token', 'POST', `${RBAC}/namespaces/default/roles`, wanted);
  expect(escalation.code).toBe(403);
  expect(escalation.json.message).toContain('is attempting to grant RBAC permissions not currently held');
  expect(
    (
      await as(
        first,
        'alice-token',
        'POST',
        `${RBAC}/namespaces/default/roles`,
        role('same', [{ apiGroups: [''], resources: ['secrets'], verbs: ['list'] }]),
      )
    ).code,
  ).toBe(201);
  const admin = binding('admin', 'ClusterRole', 'cluster-admin', { kind: 'User', name: 'alice' });
  expect(
    (await as(first, 'alice-token', 'POST', `${RBAC}/namespaces/default/rolebindings`, admin)).code,
  ).toBe(403);
});

test('a node reads what its pods need and nothing else', async () => {
  for (const name of ['needed', 'other'])
    await first.request('POST', `${CORE}/secrets`, { metadata: { name } });
  await first.request('POST', `${CORE}/pods`, {
    metadata: { name: 'p' },
    spec: {
      nodeName: 'n1',
      containers: [{ name: 'c', image: 'i' }],
      volumes: [{ name: 's', secret: { secretName: 'needed' } }],
    },
  });
  await eventually(() => as(first, 'node-token', 'GET', `${CORE}/secrets/needed`), 200);
  const refused = await as(first, 'node-token', 'GET', `${CORE}/secrets/other`);
  expect(refused.code).toBe(403);
  expect(refused.json.message).toContain("no relationship found between node 'n1' and this object");
});

test('access reviews and rules reviews answer from the same chain', async () => {
  const review = await first.request('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
    spec: {
      user: 'bob',
      groups: ['editors'],
      resourceAttributes: { verb: 'list', group: 'storage.cluster.io', resource: 'storageclasses' },
    },
  });
  expect(review.json.metadata.managedFields).toMatchObject([
    {
      ...{ operation: 'Update', apiVersion: 'authorization.k8s.io/v1' },
      fieldsV1: { 'f:spec': { 'f:user': {}, 'f:groups': {} } },
    },
  ]);
  expect(review.json.status).toEqual({
    allowed: true,
    reason: 'RBAC: allowed by ClusterRoleBinding "narrow" of ClusterRole "narrow" to Group "editors"',
  });
  const rules = await as(
    first,
    'bob-token',
    'POST',
    '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
    { spec: { namespace: 'default' } },
  );
  expect(rules.json.spec).toEqual({});
  expect(rules.json.status.resourceRules).toContainEqual({
    verbs: ['get'],
    apiGroups: ['apps'],
    resources: ['deployments/scale'],
  });
  expect((await first.kubectl('auth can-i --list')).stdout).toContain('*.*');
  expect((await first.kubectl('auth can-i delete nodes')).stdout).toContain('yes');
});

test('a webhook decides what it is asked, is remembered, and its silence allows nothing', {
  tags: 'long',
}, async () => {
  const asked: unknown[] = [];
  const certificates = join(first.folder, 'certificates');
  const read = (name: string): string => readFileSync(join(certificates, name), 'utf8');
  const server: Server = createServer(
    { cert: read('serving.crt'), key: read('serving.key') },
    (request, response) => {
      let text = '';
      request.on('data', (chunk) => {
        text += chunk;
      });
      request.on('end', () => {
        const review = JSON.parse(text);
        asked.push(review.spec);
        const lie = review.spec.user === 'bob';
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(
          lie
            ? '{"kind":'
            : JSON.stringify({
                ...review,
                status: { allowed: review.spec.resourceAttributes?.verb === 'list' },
              }),
        );
      });
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const config = join(first.folder, 'webhook.yaml');
  writeFileSync(
    config,
    `{clusters: [{name: c, cluster: {server: "https://127.0.0.1:${port}", certificate-authority: ${certificates}/ca.crt}}], users: [{name: u, user: {}}], contexts: [{name: x, context: {cluster: c, user: u}}], current-context: x}`,
  );
  const cluster = await startCluster(database.url, [
    '--authorization-mode=Webhook',
    `--authorization-webhook-config-file=${config}`,
    `--token-auth-file=${tokens}`,
  ]);
  try {
    expect((await as(cluster, 'alice-token', 'GET', `${CORE}/pods`)).code).toBe(200);
    expect((await as(cluster, 'alice-token', 'GET', `${CORE}/pods`)).code).toBe(200);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({
      user: 'alice',
      resourceAttributes: { verb: 'list', resource: 'pods', namespace: 'default' },
    });
    expect((await as(cluster, 'alice-token', 'DELETE', `${CORE}/pods/p`)).code).toBe(403);
    const unsure = await as(cluster, 'bob-token', 'GET', `${CORE}/pods`);
    expect(unsure.code).toBe(500);
    expect(unsure.json.message).toBe(
      `Internal error occurred: request ${unsure.headers['audit-id']} failed, and the server's log says why`,
    );
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    expect((await as(cluster, 'alice-token', 'GET', `${CORE}/services`)).code).toBe(500);
    expect((await as(cluster, 'alice-token', 'GET', `${CORE}/pods`)).code).toBe(200);
  } finally {
    await cluster[Symbol.asyncDispose]();
  }
});

test('modes that cannot be are refused at the start, by flag', { tags: 'long' }, async () => {
  const wrong: [string[], string][] = [
    [['--authorization-mode=Rbac'], '--authorization-mode: "Rbac" must be one of'],
    [['--authorization-mode=RBAC,RBAC'], 'RBAC is given more than once'],
    [['--authorization-mode=ABAC'], 'needs --authorization-policy-file'],
    [['--authorization-policy-file=/x'], 'is only for --authorization-mode=ABAC'],
    [
      ['--authorization-config=/none', '--authorization-mode=RBAC'],
      'can not be specified when --authorization-mode is',
    ],
    [['--authorization-config=/none'], '/none'],
  ];
  for (const [flags, text] of wrong) {
    await expect(startCluster(database.url, flags), flags.join(' ')).rejects.toThrow(text);
  }
});
