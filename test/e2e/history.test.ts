import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, type Cluster, startCluster } from '../kit/cluster.ts';
import { definitionOf } from '../kit/definitions.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

/** history.cluster.io: what the log tells, to whom it may tell it. */
let database: TestDatabase;
let cluster: Cluster;
let tokens: string;

beforeAll(async () => {
  database = await createTestDatabase();
  tokens = join('/tmp', `history-tokens-${process.pid}.csv`);
  writeFileSync(tokens, 'reader-token,reader,1\nlister-token,lister,2\n');
  cluster = await startCluster(database.url, ['--authorization-mode=RBAC', `--token-auth-file=${tokens}`]);
  await prepare();
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await database.drop();
  rmSync(tokens, { force: true });
});

const GROUP = '/apis/history.cluster.io/v1alpha1';
const REVISIONS = `${GROUP}/revisions`;
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const inNamespace = (namespace: string, resource: string): string =>
  `/api/v1/namespaces/${namespace}/${resource}`;
const TABLE = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };

async function ok(answer: Promise<Answer>): Promise<Answer['json']> {
  const { code, json } = await answer;
  expect(code, JSON.stringify(json)).toBeLessThan(300);
  return json;
}

const write = (method: string, path: string, body?: unknown): Promise<Answer['json']> =>
  ok(cluster.request(method, path, body));

const read = (path: string): Promise<Answer['json']> => ok(cluster.request('GET', path));

const selecting = (selector: string): string => `${REVISIONS}?fieldSelector=${encodeURIComponent(selector)}`;

const revisionsOf = async (selector: string): Promise<Answer['json']> =>
  (await read(selecting(selector))).items;

const as = (who: string, path: string): Promise<Answer> => cluster.bearer(`${who}-token`, 'GET', path);

const bound = (name: string, namespace: string, rules: unknown[]): Promise<unknown>[] => [
  write('POST', `${RBAC}/namespaces/${namespace}/roles`, { metadata: { name }, rules }),
  write('POST', `${RBAC}/namespaces/${namespace}/rolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }],
  }),
];

async function prepare(): Promise<void> {
  await write('POST', '/api/v1/namespaces', { metadata: { name: 'shop' } });
  await write('POST', '/api/v1/namespaces', { metadata: { name: 'other' } });
  await Promise.all([
    ...bound('reader', 'shop', [
      { apiGroups: [''], resources: ['configmaps', 'secrets'], verbs: ['get', 'list'] },
    ]),
    ...bound('lister', 'shop', [{ apiGroups: [''], resources: ['secrets'], verbs: ['list'] }]),
  ]);
  for (const namespace of ['shop', 'other']) {
    const maps = inNamespace(namespace, 'configmaps');
    await write('POST', maps, { metadata: { name: 'm' }, data: { k: 'one', same: 'x' } });
    await write('PUT', `${maps}/m?fieldManager=tool`, {
      metadata: { name: 'm' },
      data: { k: 'two', same: 'x' },
    });
  }
  const secrets = inNamespace('shop', 'secrets');
  await write('POST', secrets, { metadata: { name: 's' }, stringData: { password: 'first' } });
  await write('PUT', `${secrets}/s`, {
    metadata: { name: 's', labels: { l: 'v' } },
    stringData: { password: 'second' },
  });
}

test('a write is a revision, with who made it, and what it changed', async () => {
  const [updated, created, ...rest] = await revisionsOf(
    'object.resource=configmaps,object.namespace=shop,object.name=m',
  );
  expect(rest).toEqual([]);
  expect(updated).toMatchObject({
    metadata: {
      resourceVersion: expect.stringMatching(/^\d+$/),
      creationTimestamp: expect.stringMatching(/Z$/),
    },
    object: { version: 'v1', resource: 'configmaps', kind: 'ConfigMap', namespace: 'shop', name: 'm' },
    ...{ verb: 'update', manager: 'tool', user: expect.any(String), previous: created.metadata.name },
    changes: [{ path: 'data.k', old: 'one', new: 'two' }],
  });
  expect(updated.metadata.name).toBe(updated.metadata.resourceVersion);
  expect(updated.at).toMatch(/\.\d{6}Z$/);
  expect(created).toMatchObject({ verb: 'create', changes: [{ path: '', new: { data: { k: 'one' } } }] });
  expect(created.changes[0].new.metadata.managedFields).toBeUndefined();
  const alone = await read(`${REVISIONS}/${updated.metadata.name}`);
  expect(alone).toMatchObject({ kind: 'Revision', apiVersion: 'history.cluster.io/v1alpha1', ...updated });
  const ofRequest = await revisionsOf(`requestID=${updated.requestID}`);
  expect(ofRequest).toEqual([updated]);
  expect(await revisionsOf('verb=update,manager=tool,object.namespace=shop')).toEqual([updated]);
});

test('revisions come in pages, the newest first, between two moments or revisions', async () => {
  const all = (await read(REVISIONS)).items;
  const numbers = all.map(({ metadata }: { metadata: { name: string } }) => Number(metadata.name));
  expect(numbers).toEqual([...numbers].sort((a, b) => b - a));
  const found: unknown[] = [];
  let token = '';
  do {
    const page = await read(`${REVISIONS}?limit=7&continue=${token}`);
    expect(page.items.length).toBeLessThanOrEqual(7);
    found.push(...page.items);
    token = page.metadata.continue ?? '';
  } while (token !== '');
  expect(found).toEqual(all);
  const between = (await read(`${REVISIONS}?since=${numbers[5]}&until=${numbers[2]}`)).items;
  expect(between).toEqual(all.slice(2, 6));
  const since = (await read(`${REVISIONS}?since=${all[5].at}&until=${all[2].at}`)).items;
  expect(since.at(0).at <= all[2].at && since.at(-1).at >= all[5].at).toBe(true);
});

test('a resource is found by each name that it has', async () => {
  await write('POST', inNamespace('default', 'events'), {
    metadata: { name: 'e' },
    involvedObject: { kind: 'Namespace', name: 'default', namespace: 'default' },
  });
  const events = await read(selecting('object.resource=events'));
  expect(events.items.length).toBeGreaterThan(0);
  const roles = await read(selecting('object.resource=roles.rbac.authorization.k8s.io'));
  for (const [name, { items }] of [
    ['events.events.k8s.io', events],
    ['events.events.cluster.io', events],
    ['roles.rbac.authorization.cluster.io', roles],
  ] as const) {
    expect((await read(selecting(`object.resource=${name}`))).items, name).toEqual(items);
    const others = (await read(`${selecting(`object.resource!=${name}`)}&limit=1000`)).items;
    const found = new Set(items.map(({ metadata }: Answer['json']) => metadata.name));
    expect(
      others.some(({ metadata }: Answer['json']) => found.has(metadata.name)),
      name,
    ).toBe(false);
  }
  const { object } = await read(`${GROUP}/blames/roles.rbac.authorization.cluster.io:shop:reader`);
  expect(object.group).toBe('rbac.authorization.k8s.io');
});

test('a watch tells what comes after the list, each once and in order, and only what was selected', async () => {
  const { metadata } = await read(REVISIONS);
  const maps = inNamespace('shop', 'configmaps');
  const selector = encodeURIComponent('object.resource=configmaps,object.name!=unseen');
  const watch = cluster.watch(
    `${REVISIONS}?watch=1&resourceVersion=${metadata.resourceVersion}&fieldSelector=${selector}`,
  );
  const made: string[] = [];
  for (let at = 0; at < 5; at += 1) {
    made.push((await write('POST', maps, { metadata: { name: `w${at}` } })).metadata.resourceVersion);
    await write('POST', maps, { metadata: { name: 'unseen' } });
    await write('DELETE', `${maps}/unseen`);
    await write('POST', inNamespace('shop', 'serviceaccounts'), { metadata: { name: `w${at}` } });
  }
  await watch.reached(5);
  watch.stop();
  expect(watch.events.map(({ type, object }) => [type, object.metadata?.name])).toEqual(
    made.map((revision) => ['ADDED', revision]),
  );
});

test('who may read one namespace sees the history of that one alone', async () => {
  const { json } = await as('reader', `${REVISIONS}?limit=3`);
  const found = [...json.items];
  for (let page = json; page.metadata.continue; ) {
    page = (await as('reader', `${REVISIONS}?limit=3&continue=${page.metadata.continue}`)).json;
    found.push(...page.items);
  }
  const seen = new Set(found.map(({ object }) => `${object.namespace} ${object.resource}`));
  expect([...seen].sort()).toEqual(['shop configmaps', 'shop secrets']);
  const [hidden] = await revisionsOf('object.namespace=other,object.resource=configmaps');
  expect((await as('reader', `${REVISIONS}/${hidden.metadata.name}`)).json).toMatchObject({
    code: 403,
    reason: 'Forbidden',
  });
  expect((await as('reader', `${GROUP}/blames/configmaps:other:m`)).json.code).toBe(403);
  expect((await as('reader', `${GROUP}/timelines/configmaps:other:m`)).json.code).toBe(403);
  expect((await as('reader', `${GROUP}/timelines/namespace:other`)).json.entries).toEqual([]);
  // What goes on would say that there is something, and its number.
  const { json: empty } = await as('reader', `${GROUP}/timelines/namespace:kube-system?limit=1`);
  expect(await read(`${GROUP}/timelines/namespace:kube-system?limit=1`)).toHaveProperty('continue');
  expect([empty.entries, empty.continue]).toEqual([[], undefined]);
  expect((await as('reader', `${GROUP}/blames/configmaps:shop:m`)).code).toBe(200);
  const anonymous = await cluster.bearer('nobody', 'GET', REVISIONS);
  expect(anonymous.code).toBe(401);
});

test('the contents of a Secret are shown to users who may get it now, and to others as changed', async () => {
  const path = selecting('object.resource=secrets,object.name=s');
  const [shown] = (await as('reader', path)).json.items;
  expect(shown.changes).toContainEqual({ path: 'data.password', old: btoa('first'), new: btoa('second') });
  const answer = await as('lister', path);
  const [updated, created] = answer.json.items;
  expect(updated.changes).toContainEqual({ path: 'data.password', hidden: true });
  expect(updated.changes).toContainEqual({ path: 'metadata.labels', new: { l: 'v' } });
  expect(created.changes).toMatchObject([{ path: '', hidden: true, new: { metadata: { name: 's' } } }]);
  const blame = await as('lister', `${GROUP}/blames/secrets:shop:s`);
  expect(blame.json.fields).toContainEqual(
    expect.objectContaining({ path: 'data.password', hidden: true, revision: updated.metadata.name }),
  );
  const timeline = await as('lister', `${GROUP}/timelines/secrets:shop:s`);
  for (const { text } of [answer, blame, timeline]) {
    expect(text).not.toContain(btoa('first'));
    expect(text).not.toContain(btoa('second'));
  }
});

test('blame names for each field the revision that set it, now and as of then', async () => {
  const [updated, created] = await revisionsOf(
    'object.resource=configmaps,object.namespace=other,object.name=m',
  );
  const blame = await read(`${GROUP}/blames/configmaps:other:m`);
  expect(blame).toMatchObject({
    kind: 'Blame',
    object: { kind: 'ConfigMap', name: 'm' },
    revision: updated.metadata.name,
  });
  const { name: last } = updated.metadata;
  const { name: first } = created.metadata;
  expect(blame.fields).toContainEqual(
    expect.objectContaining({ path: 'data.k', value: 'two', revision: last, manager: 'tool' }),
  );
  expect(blame.fields).toContainEqual(
    expect.objectContaining({ path: 'data.same', value: 'x', revision: first }),
  );
  const then = await read(`${GROUP}/blames/configmaps:other:m?asOf=${first}`);
  expect(then.fields).toContainEqual(
    expect.objectContaining({ path: 'data.k', value: 'one', revision: first }),
  );
  expect((await cluster.request('GET', `${GROUP}/blames/configmaps:other:none`)).json.code).toBe(404);
});

test('a timeline tells of an object, of what it owned though that is gone, and of their Events', async () => {
  const apps = '/apis/apps/v1/namespaces/other';
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const owner = await write('POST', `${apps}/deployments`, {
    metadata: { name: 'web' },
    spec: { selector: { matchLabels: { a: 'b' } }, template },
  });
  const { uid, name } = owner.metadata;
  const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'Deployment', name, uid }];
  const maps = inNamespace('other', 'configmaps');
  const owned = await write('POST', maps, { metadata: { name: 'owned', ownerReferences } });
  const ownedBelow = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owned', uid: owned.metadata.uid }];
  await write('POST', maps, { metadata: { name: 'below', ownerReferences: ownedBelow } });
  await write('POST', maps, { metadata: { name: 'stranger' } });
  await write('POST', inNamespace('other', 'events'), {
    metadata: { name: 'e' },
    involvedObject: {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      namespace: 'other',
      name: 'owned',
      uid: owned.metadata.uid,
    },
    ...{ type: 'Warning', reason: 'Odd', message: 'it is odd', count: 3 },
  });
  for (const gone of ['below', 'owned']) await write('DELETE', `${maps}/${gone}`);
  const { entries } = await read(`${GROUP}/timelines/deployments.apps:other:web`);
  const shown = entries.map(({ verb, object, event }: Answer['json']) => [verb, object.name, event?.reason]);
  expect(shown).toEqual([
    ['create', 'web', undefined],
    ['create', 'owned', undefined],
    ['create', 'below', undefined],
    ['create', 'owned', 'Odd'],
    ['delete', 'below', undefined],
    ['delete', 'owned', undefined],
  ]);
  expect(entries[3].event).toEqual({ type: 'Warning', reason: 'Odd', message: 'it is odd', count: 3 });
  const whole = await read(`${GROUP}/timelines/namespace:other?limit=1000`);
  expect(whole.entries.some(({ object }: Answer['json']) => object.name === 'stranger')).toBe(true);
  const pages: unknown[] = [];
  for (let token = ''; ; ) {
    const page = await read(`${GROUP}/timelines/namespace:other?limit=2&continue=${token}`);
    pages.push(...page.entries);
    token = page.continue ?? '';
    if (token === '') break;
  }
  expect(pages).toEqual(whole.entries);
});

test('custom resources have a history as well', async () => {
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  await write('POST', definitions, definitionOf({ plural: 'boats', kind: 'Boat' }));
  const boats = '/apis/stable.example.com/v1/namespaces/default/boats';
  await expect.poll(async () => (await cluster.request('GET', boats)).code).toBe(200);
  const boat = { apiVersion: 'stable.example.com/v1', kind: 'Boat', metadata: { name: 'b' } };
  const made = await write('POST', boats, { ...boat, spec: { sails: 1 } });
  const { resourceVersion } = made.metadata;
  await write('PUT', `${boats}/b`, { ...boat, metadata: { name: 'b', resourceVersion }, spec: { sails: 2 } });
  const [updated] = await revisionsOf('object.resource=boats.stable.example.com');
  expect(updated).toMatchObject({
    object: { group: 'stable.example.com', version: 'v1', kind: 'Boat' },
    changes: expect.arrayContaining([{ path: 'spec.sails', old: 1, new: 2 }]),
  });
  const blame = await read(`${GROUP}/blames/boats.stable.example.com:default:b`);
  expect(blame.fields).toContainEqual(expect.objectContaining({ path: 'spec.sails', value: 2 }));
});

test('bad input is answered by what is wrong with which parameter', async () => {
  const wrong: readonly (readonly [string, number, RegExp])[] = [
    [`${REVISIONS}/abc`, 400, /^name: Invalid value: "abc": must be the number of a revision/],
    [`${REVISIONS}/999999999999`, 404, /"999999999999" not found/],
    [`${REVISIONS}/18446744073709551615`, 404, /not found/],
    [
      `${REVISIONS}?since=yesterday`,
      400,
      /^since: Invalid value: "yesterday": must be a revision, or a moment/,
    ],
    [`${REVISIONS}?until=2999-01-01T00:00:00Z`, 400, /^until: Invalid value: .* is in the future/],
    [
      selecting('verb=patch'),
      400,
      /verb: Unsupported value: "patch": supported values: create, update, delete/,
    ],
    [selecting('colour=red'), 400, /field label not supported: colour/],
    [`${REVISIONS}?continue=xyz`, 400, /continue/],
    [
      `${GROUP}/blames/web`,
      400,
      /^name: Invalid value: "web": must be <resource>\[\.<group>\]:<namespace>:<name>/,
    ],
    [`${GROUP}/timelines/web`, 400, /^name: Invalid value: "web"/],
    [`${GROUP}/timelines/namespace:shop?limit=many`, 400, /^limit: Invalid value: "many"/],
    [`${GROUP}/timelines/namespace:shop?continue=x`, 400, /^continue: Invalid value: "x"/],
    [`${GROUP}/blames`, 405, /not/],
    [`${GROUP}/timelines/namespace:shop?asOf=1`, 400, /^asOf: Invalid value: "1"/],
    [`${REVISIONS}/1/why?asOf=1`, 400, /^asOf: Invalid value: "1"/],
    [`${REVISIONS}?limit=1&resourceVersion=99999999`, 504, /Too large resource version: 99999999/],
    [`${REVISIONS}?resourceVersion=99999999`, 504, /Too large resource version: 99999999/],
    [`${REVISIONS}?asOf=99999999`, 504, /Too large resource version: 99999999/],
    [`${GROUP}/blames/configmaps:shop:m?asOf=99999999`, 504, /Too large resource version: 99999999/],
  ];
  for (const [path, code, message] of wrong)
    expect((await cluster.request('GET', path)).json, path).toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
});

test('nothing is called by a name that PostgreSQL cannot hold', async () => {
  const [{ metadata }] = (await read(`${REVISIONS}?limit=1`)).items;
  await write('POST', inNamespace('shop', 'configmaps'), { metadata: { name: 'after' } });
  for (const path of [
    selecting('object.name=m\0'),
    selecting('user=\0'),
    selecting('requestID=\0'),
    `/api/v1/configmaps?fieldSelector=metadata.name%3Dm%00&asOf=${metadata.name}`,
    `/api/v1/configmaps?fieldSelector=metadata.namespace%3D%00&asOf=${metadata.name}`,
  ])
    expect((await read(path)).items, path).toEqual([]);
  for (const spec of [
    { namespace: 'shop\0', to: metadata.name },
    { object: { resource: 'configmaps', namespace: 'shop', name: 'm\0' }, to: metadata.name },
  ])
    expect((await cluster.request('POST', `${GROUP}/restores`, { spec })).json).toMatchObject({
      code: 422,
      message: expect.stringMatching(/was not there then/),
    });
});

test('kubectl shows revisions as rows, and explains them', { tags: 'long' }, async () => {
  const rows = await cluster.kubectl('get revisions --field-selector object.namespace=shop,object.name=m');
  expect(rows.stdout.split('\n')[0]).toMatch(/^REVISION +AGE +USER +VERB +OBJECT +NAMESPACE +CHANGED/);
  expect(rows.stdout).toMatch(/update +configmaps\/m +shop +data\.k/);
  const [newest] = await revisionsOf('object.namespace=shop,object.name=m');
  expect(
    (await cluster.kubectl(`get rev ${newest.metadata.name} -o jsonpath={.changes[0].path}`)).stdout,
  ).toBe('data.k');
  expect((await cluster.kubectl('get blame configmaps:shop:m')).stdout).toMatch(
    /configmaps:shop:m +\d+ +\d+/,
  );
  expect((await cluster.kubectl('explain revisions.changes')).stdout).toContain('Managed fields');
  const table = await cluster.request(
    'GET',
    selecting('object.namespace=shop,object.name=m'),
    undefined,
    TABLE,
  );
  expect(table.json).toMatchObject({ kind: 'Table', rows: expect.any(Array) });
});

test('what is older than the history that is kept is gone, and it is said how far it reaches', async () => {
  const [newest] = (await read(`${REVISIONS}?limit=1`)).items;
  const [oldest] = (await read(`${REVISIONS}?limit=1000`)).items.slice(-1);
  await database.query(
    'UPDATE compaction SET (revision, committed_at) = (SELECT revision, committed_at FROM revisions WHERE revision < $1 ORDER BY revision DESC LIMIT 1)',
    [newest.metadata.name],
  );
  const gone = { code: 410, message: expect.stringMatching(/history is kept from revision \d+ \(.*Z\)/) };
  const paths = [
    `${REVISIONS}/${oldest.metadata.name}`,
    `${REVISIONS}?since=${oldest.metadata.name}`,
    `${REVISIONS}?since=2001-01-01T00:00:00Z`,
    `${REVISIONS}?asOf=${oldest.metadata.name}`,
    `${GROUP}/timelines/namespace:shop?since=${oldest.metadata.name}`,
    `${GROUP}/blames/configmaps:shop:m?asOf=${oldest.metadata.name}`,
  ];
  for (const path of paths) expect((await cluster.request('GET', path)).json, path).toMatchObject(gone);
  const exact = `${REVISIONS}?resourceVersion=${oldest.metadata.name}&resourceVersionMatch=Exact`;
  expect((await cluster.request('GET', exact)).code).toBe(410);
  // The server may have renewed a lease since.
  expect((await read(REVISIONS)).items.at(-1).metadata.name).toBe(newest.metadata.name);
  const watch = cluster.watch(`${REVISIONS}?watch=1&resourceVersion=${oldest.metadata.name}`);
  await watch.reached(1);
  watch.stop();
  expect(watch.events[0]).toMatchObject({ type: 'ERROR', object: { code: 410 } });
  const { fields } = await read(`${GROUP}/blames/configmaps:shop:m`);
  expect(fields.find(({ path }: { path: string }) => path === 'data.k')).toEqual({
    path: 'data.k',
    value: 'two',
  });
});
