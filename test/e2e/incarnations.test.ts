// @module-tag long
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Answer, type Cluster, startCluster } from '../kit/cluster.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

/** A name that had another owner before: none of the ways into the past opens what that owner left. */
let database: TestDatabase;
let cluster: Cluster;
let old: Life;
let born: Life;

beforeAll(async () => {
  database = await createTestDatabase();
  cluster = await startCluster(database.url, ['--authorization-mode=RBAC']);
  await write('POST', `${RBAC}/clusterroles`, { metadata: { name: 'historian' }, rules: HISTORIAN });
  await bind('historian', 'historian', ['tenant', 'named', 'auditor']);
  await bind('auditor', 'cluster-admin', ['auditor']);
  old = await live('old');
  await end();
  born = await live('new');
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await database.drop();
});

const CORE = '/api/v1/namespaces';
const SHOP = `${CORE}/shop`;
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const HISTORY = '/apis/history.cluster.io/v1alpha1';
const HISTORIAN = [{ apiGroups: ['history.cluster.io'], resources: ['*'], verbs: ['*'] }];

interface Life {
  /** Of the namespace. */
  readonly created: string;
  /** Of the Secret's second state. */
  readonly changed: string;
  /** At which all of it was there. */
  readonly whole: string;
  /** The continue token of the Secrets behind the first one. */
  readonly token: string;
}

const as = (user: string, method: string, path: string, body?: unknown): Promise<Answer> =>
  cluster.request(method, path, body, { 'impersonate-user': user });

async function write(method: string, path: string, body?: unknown): Promise<string> {
  const { code, json, text } = await cluster.request(method, path, body);
  expect(code, text).toBeLessThan(300);
  return json.metadata?.resourceVersion;
}

const bind = (
  name: string,
  role: string,
  users: readonly string[],
  { within = '', kind = 'ClusterRole' } = {},
): Promise<string> =>
  write('POST', `${RBAC}${within === '' ? '/clusterrolebindings' : `/namespaces/${within}/rolebindings`}`, {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: role },
    subjects: users.map((user) => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user })),
  });

/** A life of the namespace: what its tenant has in it, whose rights are those of its administrator. */
async function live(owner: string): Promise<Life> {
  const created = await write('POST', CORE, { metadata: { name: 'shop', labels: { owner: `of-${owner}` } } });
  for (const name of ['key', 'other'])
    await write('POST', `${SHOP}/secrets`, { metadata: { name }, stringData: { word: `first-${owner}` } });
  const changed = await write('PUT', `${SHOP}/secrets/key`, {
    metadata: { name: 'key' },
    stringData: { word: `second-${owner}` },
  });
  if (owner === 'new') {
    // Even all rights within the namespace do not open what was before it.
    await bind('owner', 'cluster-admin', ['tenant'], { within: 'shop' });
    const rules = [{ apiGroups: [''], resources: ['secrets'], resourceNames: ['key'], verbs: ['*'] }];
    await write('POST', `${RBAC}/namespaces/shop/roles`, { metadata: { name: 'key' }, rules });
    await bind('key', 'key', ['named'], { within: 'shop', kind: 'Role' });
  }
  const whole = await write('POST', `${SHOP}/configmaps`, { metadata: { name: `of-${owner}` } });
  const { json } = await cluster.request('GET', `${SHOP}/secrets?limit=1`);
  return { created, changed, whole, token: encodeURIComponent(json.metadata.continue) };
}

async function end(): Promise<void> {
  await cluster.request('DELETE', SHOP);
  const isGone = async (): Promise<void> => expect((await cluster.request('GET', SHOP)).code).toBe(404);
  await vi.waitFor(isGone, { timeout: 60_000, interval: 50 });
}

/** Everything by which the state of a revision can be read. */
const reads = ({ whole, changed, token }: Life): readonly string[] => [
  `${SHOP}?asOf=${whole}`,
  `${SHOP}/secrets?asOf=${whole}`,
  `${SHOP}/secrets/key?asOf=${whole}`,
  `${SHOP}/configmaps?asOf=${whole}`,
  `${SHOP}/secrets?resourceVersion=${whole}&resourceVersionMatch=Exact`,
  `${SHOP}/secrets?resourceVersion=${whole}&limit=1`,
  `${SHOP}/secrets?limit=5&continue=${token}`,
  `${SHOP}/secrets?asOf=${whole}&fieldSelector=metadata.name%3Dkey`,
  `${HISTORY}/blames/secrets:shop:key?asOf=${whole}`,
  `${HISTORY}/revisions/${changed}`,
  `${HISTORY}/revisions/${changed}/why`,
];

const restoreOf = (to: string, what: object) => ({
  kind: 'Restore',
  apiVersion: 'history.cluster.io/v1alpha1',
  metadata: { name: 'r' },
  spec: { ...what, to },
});

test('the owner of a namespace reads its past from its creation on, and no revision before it', async () => {
  for (const path of reads(old)) {
    const { code, text } = await as('tenant', 'GET', path);
    expect([path, code]).toEqual([path, 403]);
    expect(text).toContain(`begins with revision ${born.created}; what is older needs the right to`);
    expect(text).not.toMatch(/of-old|owner-old|Zmlyc3Qtb2xk/);
  }
  for (const path of reads(born)) expect([path, (await as('tenant', 'GET', path)).code]).toEqual([path, 200]);
});

test('rights in all namespaces open the past of each life of a namespace', async () => {
  for (const path of [...reads(old), ...reads(born)])
    expect([path, (await as('auditor', 'GET', path)).code]).toEqual([path, 200]);
});

test('a watch from before the namespace was made again ends with 410, so that its client lists again', async () => {
  for (const path of [`${SHOP}/secrets?`, `${SHOP}/secrets?fieldSelector=metadata.name%3Dkey&`]) {
    const watch = (user: string, from: string) =>
      as(user, 'GET', `${path}watch=1&timeoutSeconds=1&resourceVersion=${from}`);
    const { text } = await watch('tenant', old.created);
    expect(text.trim().split('\n')).toHaveLength(1);
    expect(JSON.parse(text)).toMatchObject({ type: 'ERROR', object: { code: 410, reason: 'Expired' } });
    const [mine, theirs] = await Promise.all([watch('tenant', born.created), watch('auditor', old.created)]);
    expect(mine.text).toContain('"ADDED"');
    expect(theirs.text).toContain('"DELETED"');
  }
});

test('lists of revisions and timelines tell of the present life alone', async () => {
  const selector = encodeURIComponent('object.namespace=shop');
  for (const path of [
    `${HISTORY}/revisions?fieldSelector=${selector}`,
    `${HISTORY}/revisions?fieldSelector=${selector}&since=${old.created}`,
    `${HISTORY}/timelines/namespace:shop`,
    `${HISTORY}/timelines/secrets:shop:key`,
    `${HISTORY}/timelines/namespaces::shop`,
  ]) {
    const answer = await as('tenant', 'GET', path);
    const revisions = (answer.json.items ?? answer.json.entries).map(
      (one: { revision?: string; metadata?: { name: string } }) => Number(one.revision ?? one.metadata?.name),
    );
    expect([path, answer.code, revisions.length > 0]).toEqual([path, 200, true]);
    expect(Math.min(...revisions)).toBeGreaterThanOrEqual(Number(born.created));
    const all = await as('auditor', 'GET', path);
    const isTold = [old.created, old.changed].some((revision) => all.text.includes(`"${revision}"`));
    expect([path, isTold]).toEqual([path, true]);
  }
  // What only the earlier tenant had is as what never was.
  expect((await as('tenant', 'GET', `${HISTORY}/timelines/configmaps:shop:of-old`)).code).toBe(404);
  const { text } = await as(
    'tenant',
    'GET',
    `${HISTORY}/revisions?watch=1&timeoutSeconds=1&resourceVersion=${old.created}`,
  );
  expect(text).toContain(born.changed);
  expect(text).not.toContain(`"name":"${old.changed}"`);
});

test('a restore brings back nothing of an earlier life', async () => {
  const secret = { object: { resource: 'secrets', namespace: 'shop', name: 'key' } };
  for (const what of [secret, { namespace: 'shop' }]) {
    const path = `${HISTORY}/restores?dryRun=All`;
    const refused = await as('tenant', 'POST', path, restoreOf(old.whole, what));
    expect(refused.json).toMatchObject({ code: 403, message: expect.stringContaining('verb "recall"') });
    expect((await as('tenant', 'POST', path, restoreOf(born.whole, what))).code).toBe(201);
    expect((await as('auditor', 'POST', path, restoreOf(old.whole, what))).code).toBe(201);
  }
});

test('a right by the name of an object covers the present object of that name', async () => {
  const made = born.whole;
  await write('DELETE', `${SHOP}/secrets/key`);
  const again = await write('POST', `${SHOP}/secrets`, { metadata: { name: 'key' } });
  const key = `${SHOP}/secrets/key`;
  const named = `${SHOP}/secrets?fieldSelector=metadata.name%3Dkey`;
  for (const path of [
    `${key}?asOf=`,
    `${named}&resourceVersionMatch=Exact&resourceVersion=`,
    `${named}&asOf=`,
  ]) {
    expect([path, (await as('named', 'GET', path + made)).code]).toEqual([path, 403]);
    expect([path, (await as('named', 'GET', path + again)).code]).toEqual([path, 200]);
    expect([path, (await as('tenant', 'GET', path + made)).code]).toEqual([path, 200]);
  }
  const watch = await as('named', 'GET', `${named}&watch=1&timeoutSeconds=1&resourceVersion=${made}`);
  expect(JSON.parse(watch.text)).toMatchObject({ type: 'ERROR', object: { code: 410 } });
  expect((await as('named', 'GET', `${HISTORY}/revisions/${born.changed}`)).code).toBe(403);
  expect((await as('named', 'GET', `${HISTORY}/revisions/${again}`)).code).toBe(200);
  expect((await as('named', 'GET', `${HISTORY}/blames/secrets:shop:key?asOf=${made}`)).code).toBe(403);
});

test('the verb recall opens the earlier lives of one namespace to those who may read in it', async () => {
  const rules = [{ apiGroups: [''], resources: ['namespaces'], resourceNames: ['shop'], verbs: ['recall'] }];
  await write('POST', `${RBAC}/clusterroles`, { metadata: { name: 'recaller' }, rules });
  await bind('recaller', 'recaller', ['tenant', 'stranger']);
  // Servers follow rights by a watch.
  const [first = ''] = reads(old);
  const mayRead = async (): Promise<void> => expect((await as('tenant', 'GET', first)).code).toBe(200);
  await vi.waitFor(mayRead, { timeout: 60_000, interval: 50 });
  for (const path of reads(old)) {
    expect([path, (await as('tenant', 'GET', path)).code]).toEqual([path, 200]);
    expect([path, (await as('stranger', 'GET', path)).code]).toEqual([path, 403]);
  }
});
