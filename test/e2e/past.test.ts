import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../kit/cluster.ts';
import { definitionOf } from '../kit/definitions.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

/** `?asOf=`: what a get or a list would have answered then. */
let database: TestDatabase;
let cluster: Cluster;

beforeAll(async () => {
  database = await createTestDatabase();
  cluster = await startCluster(database.url, ['--authorization-mode=RBAC']);
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await database.drop();
});

const MAPS = '/api/v1/namespaces/default/configmaps';
const TABLE = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };

async function write(method: string, path: string, body?: unknown): Promise<string> {
  const { code, json } = await cluster.request(method, path, body);
  expect(code).toBeLessThan(300);
  return json.metadata?.resourceVersion;
}

const past = (path: string, asOf: string, headers?: Record<string, string>) =>
  cluster.request(
    'GET',
    `${path}${path.includes('?') ? '&' : '?'}asOf=${encodeURIComponent(asOf)}`,
    undefined,
    headers,
  );

async function momentOf(revision: string): Promise<string> {
  const [row] = await database.query<{ moment: string }>(
    `SELECT to_char(committed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS moment
    FROM revisions WHERE revision = ${revision}`,
  );
  return row?.moment ?? '';
}

test('an object is shown as it was at a revision or a moment, and is not there before it was made and after it was deleted', async () => {
  const before = await write('POST', MAPS, { metadata: { name: 'before' } });
  const made = await write('POST', MAPS, { metadata: { name: 'a' }, data: { k: 'first' } });
  const changed = await write('PUT', `${MAPS}/a`, { metadata: { name: 'a' }, data: { k: 'second' } });
  await write('DELETE', `${MAPS}/a`);
  const after = await write('POST', MAPS, { metadata: { name: 'after' } });

  for (const at of [made, await momentOf(made)]) {
    const { json } = await past(`${MAPS}/a`, at);
    expect(json).toMatchObject({ metadata: { resourceVersion: made }, data: { k: 'first' } });
  }
  for (const at of [changed, await momentOf(changed)])
    expect((await past(`${MAPS}/a`, at)).json).toMatchObject({ data: { k: 'second' } });
  for (const at of [before, after, await momentOf(before), await momentOf(after)])
    expect((await past(`${MAPS}/a`, at)).json).toMatchObject({ code: 404, reason: 'NotFound' });
});

test('a list of the past is chunked, selected and shown in any form', async () => {
  for (const name of ['l1', 'l2', 'l3'])
    await write('POST', MAPS, { metadata: { name, labels: { of: 'past' } }, data: { k: 'old' } });
  const at = await write('POST', MAPS, { metadata: { name: 'l4' } });
  await write('DELETE', `${MAPS}/l1`);
  await write('PUT', `${MAPS}/l2`, { metadata: { name: 'l2' }, data: { k: 'new' } });

  const selected = `${MAPS}?labelSelector=of%3Dpast`;
  const { json } = await past(selected, at);
  expect(json.metadata.resourceVersion).toBe(at);
  expect(
    json.items.map(({ metadata, data }: { metadata: { name: string }; data: { k: string } }) => [
      metadata.name,
      data.k,
    ]),
  ).toEqual([
    ['l1', 'old'],
    ['l2', 'old'],
    ['l3', 'old'],
  ]);

  const first = await past(`${selected}&limit=2`, at);
  expect(first.json.items).toHaveLength(2);
  const token = encodeURIComponent(first.json.metadata.continue);
  const rest = await past(`${selected}&limit=2&continue=${token}`, at);
  expect(rest.json.items).toMatchObject([{ metadata: { name: 'l3' } }]);

  const table = await past(`${MAPS}/l1`, at, TABLE);
  expect(table.json).toMatchObject({ kind: 'Table', rows: [{ cells: ['l1', 1, expect.any(String)] }] });
});

test('custom resources have a past as well', async () => {
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  await write('POST', definitions, definitionOf({ plural: 'boats', kind: 'Boat' }));
  const boats = '/apis/stable.example.com/v1/namespaces/default/boats';
  await expect.poll(async () => (await cluster.request('GET', boats)).code).toBe(200);
  const boat = {
    apiVersion: 'stable.example.com/v1',
    kind: 'Boat',
    metadata: { name: 'b' },
    spec: { sails: 1 },
  };
  const at = await write('POST', boats, boat);
  await write('DELETE', `${boats}/b`);
  expect((await past(`${boats}/b`, at)).json).toMatchObject({ spec: { sails: 1 } });
  expect((await past(boats, at)).json).toMatchObject({ kind: 'BoatList', items: [{ spec: { sails: 1 } }] });
});

test('who asks for a past that cannot be meant hears what can', async () => {
  const wrong: readonly (readonly [string, string])[] = [
    ['yesterday', 'must be a revision, or a moment such as 2026-01-31T12:00:00Z'],
    ['0', 'must be a revision, or a moment such as 2026-01-31T12:00:00Z'],
    ['2026-13-01T00:00:00Z', 'must be a revision, or a moment such as 2026-01-31T12:00:00Z'],
    ['2999-01-01T00:00:00Z', 'is in the future'],
  ];
  for (const path of [MAPS, `${MAPS}/kube-root-ca.crt`])
    for (const [at, why] of wrong)
      expect((await past(path, at)).json).toMatchObject({
        code: 400,
        message: `asOf: Invalid value: ${JSON.stringify(at)}: ${why}`,
      });
  expect((await past(`${MAPS}?resourceVersion=5`, '5')).json).toMatchObject({ code: 400 });
  expect((await past(`${MAPS}?watch=1`, '5')).json).toMatchObject({ code: 400 });
  await write('POST', MAPS, { metadata: { name: 'stays' } });
  expect((await cluster.request('DELETE', `${MAPS}?asOf=5`)).json).toMatchObject({ code: 400 });
  expect((await cluster.request('GET', `${MAPS}/stays`)).code).toBe(200);
});

test('who may not read an object now may not read its past', async () => {
  const at = await write('POST', MAPS, { metadata: { name: 'private' } });
  for (const path of [MAPS, `${MAPS}/private`])
    expect((await past(path, at, { 'impersonate-user': 'stranger' })).code).toBe(403);
});

test('where a resource has a shorter history, its lists and watches from before that end with 410, and those of others do not', {
  tags: 'long',
}, async () => {
  const SERVICES = '/api/v1/namespaces/default/services';
  const service = { metadata: { name: 'short' }, spec: { ports: [{ port: 80 }] } };
  for (const name of ['short-1', 'short-2']) await write('POST', MAPS, { metadata: { name } });
  const pages = await cluster.request('GET', `${MAPS}?limit=1`);
  const at = await write('POST', SERVICES, service);
  await write('DELETE', `${MAPS}/short-1`);
  await write('DELETE', `${SERVICES}/short`);
  await database.query(
    "UPDATE revisions SET committed_at = committed_at - interval '2 hours' WHERE revision <= $1",
    [at],
  );
  await database.query(`SELECT set_shorter_histories('{"configmaps": 3600}'), compact_shorter_histories()`);
  await write('POST', MAPS, { metadata: { name: 'short-3' } });
  const [bound] = await database.query<{ revision: string }>(
    "SELECT compacted_revision('', 'configmaps') AS revision",
  );
  const before = `${Number(at) - 1}`;
  expect(Number(bound?.revision)).toBeGreaterThanOrEqual(Number(at));

  // A server that has nothing of it in memory.
  await using fresh = await startCluster(database.url, ['--authorization-mode=RBAC']);
  const read = async (path: string) => (await fresh.request('GET', path)).json;
  const old = (path: string, revision: string): readonly string[] => [
    `${path}?resourceVersion=${revision}&resourceVersionMatch=Exact`,
    `${path}?asOf=${revision}`,
    `${path}/short-2?asOf=${revision}`,
  ];
  for (const path of old(MAPS, before))
    expect(await read(path), path).toMatchObject({ code: 410, reason: 'Expired' });
  for (const path of old(SERVICES, at).slice(0, 2))
    expect((await read(path)).items.length, path).toBeGreaterThan(0);
  const next = `${MAPS}?limit=1&continue=${encodeURIComponent(pages.json.metadata.continue)}`;
  expect(await read(next)).toMatchObject({ code: 410, reason: 'Expired' });

  for (const [path, type] of [
    [MAPS, 'ERROR'],
    [SERVICES, 'ADDED'],
  ]) {
    const watch = fresh.watch(`${path}?watch=1&resourceVersion=${before}`);
    await watch.reached(1);
    watch.stop();
    expect(watch.events[0]?.type, path).toBe(type);
  }
});
