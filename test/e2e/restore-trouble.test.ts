// @module-tag long
import { readFileSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RestoreResult, RestoreSpec } from '../../src/api/types/history/v1alpha1.ts';
import { type Answer, type Cluster, startCluster } from '../kit/cluster.ts';
import { holdWrites } from '../kit/held-writes.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

/** Restores of many objects that are disturbed: what is there afterwards is whole, and another restore does the rest. */
let database: TestDatabase;
let cluster: Cluster;

beforeAll(async () => {
  database = await createTestDatabase();
  cluster = await startCluster(database.url);
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await database.drop();
});

const NAMESPACES = '/api/v1/namespaces';
const RESTORES = '/apis/history.cluster.io/v1alpha1/restores';
const MANY = 60;
/** Writes that a restore has under way. */
const AT_ONCE = 24;

const mapsOf = (namespace: string): string => `${NAMESPACES}/${namespace}/configmaps`;

async function write(method: string, path: string, body?: unknown): Promise<Answer['json']> {
  const { code, json, text } = await cluster.request(method, path, body);
  expect(code, text).toBeLessThan(300);
  return json;
}

const post = (spec: RestoreSpec) => cluster.request('POST', RESTORES, { metadata: {}, spec });

/** The results for the many, by what became of them. */
async function restore(spec: RestoreSpec): Promise<Record<string, RestoreResult[]>> {
  const { code, json, text } = await post(spec);
  expect(code, text).toBe(201);
  const results: RestoreResult[] = json.status.results;
  const many = results.filter(({ object }) => object?.name?.startsWith('m-') === true);
  expect(many).toHaveLength(MANY);
  return Object.groupBy(many, ({ action = '' }) => action) as Record<string, RestoreResult[]>;
}

/** Makes a namespace with many objects, deletes these, and answers what restores them. */
async function makeMany(namespace: string): Promise<{ readonly namespace: string; readonly to: string }> {
  await write('POST', NAMESPACES, { metadata: { name: namespace } });
  const made = await Promise.all(
    Array.from({ length: MANY }, (_, at) =>
      write('POST', mapsOf(namespace), { metadata: { name: `m-${at}` }, data: { at: `${at}` } }),
    ),
  );
  const to = Math.max(...made.map(({ metadata }) => Number(metadata.resourceVersion)));
  await write('DELETE', mapsOf(namespace));
  return { namespace, to: `${to}` };
}

/** All are there, as they were, and each was created once again. */
async function expectWhole({ namespace, to }: { readonly namespace: string; readonly to: string }) {
  const { items } = await write('GET', mapsOf(namespace));
  const found = items.filter(({ metadata }: Answer['json']) => metadata.name.startsWith('m-'));
  expect(found).toHaveLength(MANY);
  for (const { metadata, data } of found) expect(`m-${data.at}`).toBe(metadata.name);
  const writes = await database.query<{ verb: string; count: string }>(
    `SELECT verb, count(*) FROM revisions
     WHERE namespace = '${namespace}' AND name LIKE 'm-%' AND revision > ${to} GROUP BY verb ORDER BY verb`,
  );
  expect(writes).toEqual([
    { verb: 'create', count: `${MANY}` },
    { verb: 'delete', count: `${MANY}` },
  ]);
}

/** The write of the last object waits until this is disposed of. Resolves when it waits. */
async function holdLast(namespace: string): Promise<AsyncDisposable & { awaited(): Promise<void> }> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(`
    SELECT pg_advisory_lock(${LOCK});
    CREATE FUNCTION hold_last() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM pg_advisory_xact_lock(${LOCK});
        RETURN NEW;
      END $$;
    CREATE TRIGGER hold_last BEFORE INSERT ON revisions FOR EACH ROW
      WHEN (NEW.namespace = '${namespace}' AND NEW.name = '${LAST}') EXECUTE FUNCTION hold_last()`);
  const waiting = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = ${LOCK} AND NOT granted`;
  return {
    awaited: () => expect.poll(async () => (await client.query(waiting)).rowCount).toBe(1),
    [Symbol.asyncDispose]: async () => {
      await client.query(`SELECT pg_advisory_unlock(${LOCK})`);
      await client.query('DROP TRIGGER hold_last ON revisions; DROP FUNCTION hold_last');
      await client.end();
    },
  };
}

const LOCK = 4711;
/** They are written in the order of their names. */
const LAST = 'm-9';

test('a server that is killed in the middle leaves whole objects; a second restore makes the rest, and none twice', async () => {
  const spec = await makeMany('killed');
  {
    await using held = await holdLast('killed');
    const lost = post(spec).then(
      () => 'answered',
      () => 'broken off',
    );
    await held.awaited();
    await cluster.kill();
    expect(await lost).toBe('broken off');
  }
  await cluster.start();
  const { created: rest = [], unchanged = [], failed } = await restore(spec);
  expect(failed).toBeUndefined();
  expect(unchanged.length).toBeGreaterThanOrEqual(MANY - AT_ONCE);
  expect(rest.length + unchanged.length).toBe(MANY);
  await expectWhole(spec);
});

test('nothing more is written for a client that has gone', async () => {
  const spec = await makeMany('left');
  await using held = await holdWrites(database.url);
  const client = httpsRequest({
    ...{ host: '127.0.0.1', port: cluster.port, method: 'POST', path: RESTORES },
    headers: { 'content-type': 'application/json' },
    ...admin(),
  });
  const gone = new Promise((resolve) => client.once('error', resolve));
  client.end(JSON.stringify({ metadata: {}, spec }));
  await held.awaited();
  client.destroy(new Error('gone'));
  await gone;
  await held.release();
  const { unchanged = [], failed } = await restore(spec);
  expect(failed).toBeUndefined();
  expect(unchanged.length).toBeLessThanOrEqual(AT_ONCE);
  await expectWhole(spec);
});

const admin = () => {
  const read = (name: string): Buffer => readFileSync(join(cluster.folder, 'certificates', name));
  return { ca: read('ca.crt'), cert: read('admin.crt'), key: read('admin.key') };
};

test('when the connections of the database are cut, each object has a result that is true, and another restore does the rest', async () => {
  const spec = await makeMany('cut');
  await using held = await holdWrites(database.url);
  const first = post(spec);
  await held.awaited();
  await database.query(
    `SELECT pg_terminate_backend(pid) FROM pg_locks
     WHERE relation = 'commit_order'::regclass AND NOT granted`,
  );
  await held.release();
  const { json } = await first;
  const actions = new Map<string, string>(
    json.status.results.map(({ object, action }: RestoreResult) => [object?.name, action]),
  );
  const second = await restore(spec);
  for (const { object } of second.unchanged ?? []) expect(actions.get(object?.name ?? '')).toBe('created');
  for (const { object } of second.created ?? []) expect(actions.get(object?.name ?? '')).toBe('failed');
  expect(second.failed).toBeUndefined();
  await expectWhole(spec);
});

test('a controller that writes the same objects meanwhile makes no write fail, nor loses one', async () => {
  const spec = await makeMany('contested');
  await restore(spec);
  await Promise.all(
    Array.from({ length: MANY }, (_, at) =>
      write('PUT', `${mapsOf('contested')}/m-${at}`, {
        metadata: { name: `m-${at}` },
        data: { at: 'wrong' },
      }),
    ),
  );
  const finalizers = ['example.com/noted'];
  const controller = Array.from({ length: MANY }, (_, at) =>
    cluster.request('PATCH', `${mapsOf('contested')}/m-${at}`, JSON.stringify({ metadata: { finalizers } }), {
      'content-type': 'application/merge-patch+json',
    }),
  );
  const [{ failed }, ...patched] = await Promise.all([restore(spec), ...controller]);
  expect(failed).toBeUndefined();
  expect(new Set(patched.map(({ code }) => code))).toEqual(new Set([200]));
  const { items } = await write('GET', mapsOf('contested'));
  for (const { metadata, data } of items.filter((map: Answer['json']) =>
    map.metadata.name.startsWith('m-'),
  )) {
    expect(`m-${data.at}`).toBe(metadata.name);
    expect(metadata.finalizers).toEqual(finalizers);
  }
});
