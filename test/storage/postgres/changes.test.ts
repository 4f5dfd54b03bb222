import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PostgresLog } from '../../../src/storage/postgres/postgres.ts';
import type { Revision } from '../../../src/storage/revision.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';
import { beginPartition, fillObjects, openLog, write } from './kit.ts';
import { makeHistory, pagesOf } from './made-history.ts';
import { connect } from './stalls.ts';

/** Field by field, for people: the views and functions of migrations/0064_baseline/7_history.sql. */
let database: TestDatabase;
let log: PostgresLog;

beforeAll(async () => {
  database = await createTestDatabase();
  log = openLog(database.url);
});

afterAll(async () => {
  await log.close();
  await database.drop();
});

interface Change {
  readonly path: string;
  readonly old: unknown;
  readonly new: unknown;
}

const between = (before: unknown, after: unknown): Promise<Change[]> =>
  database.query<Change>(
    'SELECT path, old, new FROM changes_between($1::jsonb, $2::jsonb) ORDER BY path COLLATE "C"',
    [before, after].map((value) => (value === undefined ? null : JSON.stringify(value))),
  );

/** Commits a state of an object. */
async function set(
  name: string,
  object: object,
  {
    expected,
    resource = 'pods',
    who = 'anna',
    verb,
  }: {
    expected?: Revision;
    resource?: string;
    who?: string;
    verb?: 'delete';
  } = {},
): Promise<Revision> {
  const made = write(verb ?? (expected === undefined ? 'create' : 'update'), name, expected);
  const json = Buffer.from(JSON.stringify({ kind: 'Pod', apiVersion: 'v1', metadata: { name }, ...object }));
  return log.committer.commit({
    ...{ ...made, json, uid: `uid of ${name}` },
    key: { ...made.key, resource },
    attribution: { ...made.attribution, username: who },
  });
}

const podOf = (image: string, ...more: object[]) => ({
  spec: { containers: [{ name: 'web', image }, ...more] },
});

test('a change is the path of what changed, elements of lists under what tells them apart', async () => {
  const port = (containerPort: number, protocol: string, hostPort?: number) => ({
    containerPort,
    protocol,
    hostPort,
  });
  const before = {
    metadata: { annotations: { 'a.b/c': '1', plain: '1' }, managedFields: [{ manager: 'a' }] },
    spec: {
      replicas: 1,
      args: ['a', 'b'],
      paused: null,
      containers: [
        { name: 'web', image: 'web:1' },
        { name: 'log', image: 'log:1', ports: [port(80, 'TCP'), port(80, 'UDP')] },
      ],
      rules: [{ verbs: ['get'] }, { verbs: ['get'] }],
    },
  };
  const after = {
    metadata: { annotations: { 'a.b/c': '2' }, managedFields: [{ manager: 'b' }] },
    spec: {
      replicas: 1,
      args: ['b', 'a'],
      paused: true,
      containers: [
        { name: 'log', image: 'log:1', ports: [port(80, 'UDP', 8080), port(80, 'TCP')] },
        { name: 'web', image: 'web:2' },
        { name: 'new', image: 'new:1' },
      ],
      rules: [{ verbs: ['get'] }, { verbs: ['list'] }],
    },
  };
  expect(await between(before, after)).toEqual([
    { path: 'metadata.annotations.plain', old: '1', new: null },
    { path: 'metadata.annotations["a.b/c"]', old: '1', new: '2' },
    { path: 'spec.args', old: ['a', 'b'], new: ['b', 'a'] },
    { path: 'spec.containers[name=log].ports[containerPort=80,protocol=UDP].hostPort', old: null, new: 8080 },
    { path: 'spec.containers[name=new]', old: null, new: { name: 'new', image: 'new:1' } },
    { path: 'spec.containers[name=web].image', old: 'web:1', new: 'web:2' },
    { path: 'spec.paused', old: null, new: true },
    { path: 'spec.rules[1].verbs', old: ['get'], new: ['list'] },
  ]);
  expect(await between(before, before)).toEqual([]);
  expect(await between(undefined, { a: 1 })).toEqual([{ path: '', old: null, new: { a: 1 } }]);
  expect(await between({ a: [] }, { a: [{ name: 'x' }] })).toEqual([
    { path: 'a', old: [], new: [{ name: 'x' }] },
  ]);
  expect(await between({ a: [1] }, { a: { b: 1 } })).toEqual([{ path: 'a', old: [1], new: { b: 1 } }]);
  // Two of one name are identified by their places.
  const twins = (value: number) => ({
    env: [
      { name: 'A', value: 1 },
      { name: 'A', value },
    ],
  });
  expect(await between(twins(2), twins(3))).toEqual([{ path: 'env[1].value', old: 2, new: 3 }]);
});

test('who changed what from what to what, also of states that the log has no more', async () => {
  const made = await set('web', podOf('web:1'));
  await fillObjects(database);
  await beginPartition(database);
  const rolled = await set('web', podOf('web:2', { name: 'side', image: 'side:1' }), {
    expected: made,
    who: 'bert',
  });
  const back = await set('web', podOf('web:1', { name: 'side', image: 'side:1' }), {
    expected: rolled,
    who: 'carl',
  });
  const ofWeb = "changes_of('', 'pods', 'default', 'web')";
  const changes = await database.query(`SELECT who, verb, path, old, new FROM ${ofWeb}`);
  expect(changes).toMatchObject([
    { who: 'anna', verb: 'create', path: '', old: null },
    { who: 'bert', verb: 'update', path: 'spec.containers[name=side]', old: null, new: { image: 'side:1' } },
    { who: 'bert', verb: 'update', path: 'spec.containers[name=web].image', old: 'web:1', new: 'web:2' },
    { who: 'carl', verb: 'update', path: 'spec.containers[name=web].image', old: 'web:2', new: 'web:1' },
  ]);
  const blame = await database.query(
    "SELECT path, value, who, revision FROM blame_of('', 'pods', 'default', 'web') WHERE path LIKE 'spec%'",
  );
  expect(blame).toEqual([
    { path: 'spec.containers[name=side].image', value: 'side:1', who: 'bert', revision: `${rolled}` },
    { path: 'spec.containers[name=side].name', value: 'side', who: 'bert', revision: `${rolled}` },
    { path: 'spec.containers[name=web].image', value: 'web:1', who: 'carl', revision: `${back}` },
    { path: 'spec.containers[name=web].name', value: 'web', who: 'anna', revision: `${made}` },
  ]);
  const timeline = await database.query(
    "SELECT what, name, verb, changed FROM timeline('default') WHERE name = 'web'",
  );
  expect(timeline).toEqual([
    { what: 'pods', name: 'web', verb: 'create', changed: null },
    {
      what: 'pods',
      name: 'web',
      verb: 'update',
      changed: ['spec.containers[name=side]', 'spec.containers[name=web].image'],
    },
    { what: 'pods', name: 'web', verb: 'update', changed: ['spec.containers[name=web].image'] },
  ]);
  expect(await database.query("SELECT FROM timeline('default', now() + interval '1 hour')")).toEqual([]);
});

test('the difference between two revisions is found, with every kind of change between them', async () => {
  const first = await set('stays', podOf('a:1'));
  const goes = await set('goes', podOf('b:1'));
  const from = goes;
  const second = await set('stays', podOf('a:2'), { expected: first });
  await set('goes', podOf('b:1'), { expected: goes, verb: 'delete' });
  const passing = await set('passes', podOf('c:1'));
  await set('passes', podOf('c:1'), { expected: passing, verb: 'delete' });
  const to = await set('stays', podOf('a:3'), { expected: second });
  const rows = await database.query(`SELECT what, name, path, old, new FROM cluster_diff(${from}, ${to})`);
  expect(rows).toMatchObject([
    { what: 'pods', name: 'goes', path: '', old: { spec: {} }, new: null },
    { what: 'pods', name: 'stays', path: 'spec.containers[name=web].image', old: 'a:1', new: 'a:3' },
  ]);
  expect(await database.query(`SELECT FROM cluster_diff(${to}, ${to})`)).toEqual([]);
  const gone = await database.query(
    "SELECT name, who, object #>> '{spec,containers,0,image}' AS image FROM deleted ORDER BY 1",
  );
  expect(gone).toEqual([
    { name: 'goes', who: 'anna', image: 'b:1' },
    { name: 'passes', who: 'anna', image: 'c:1' },
  ]);
  await set('goes', podOf('b:2'));
  expect(await database.query('SELECT name FROM deleted')).toEqual([{ name: 'passes' }]);
  const images = await database.query(
    "SELECT * FROM images_at(clock_timestamp()) WHERE image LIKE 'a:%' OR image LIKE 'b:%'",
  );
  expect(images).toEqual([
    { image: 'a:3', containers: '1' },
    { image: 'b:2', containers: '1' },
  ]);
});

test('quantities are numbers', async () => {
  const values = ['1', '250m', '2Gi', '1.5k', '1e3', '12E2', '3E', '500n', '.5', '-1Ki', 'x', '1 Gi', ''];
  const rows = await database.query<{ value: string | null }>(
    'SELECT quantity(v)::float8 AS value FROM unnest($1::text[]) v',
    [values],
  );
  expect(rows.map(({ value }) => value)).toEqual([
    ...[1, 0.25, 2 ** 31, 1500, 1000, 1200, 3e18, 5e-7, 0.5, -1024],
    ...[null, null, null],
  ]);
});

test('labels and conditions are rows', async () => {
  await set('labelled', {
    metadata: { name: 'labelled', labels: { app: 'x', tier: 'y' } },
    status: { conditions: [{ type: 'Ready', status: 'False', reason: 'Starting' }] },
  });
  expect(await database.query("SELECT key, value FROM labels WHERE name = 'labelled'")).toEqual([
    { key: 'app', value: 'x' },
    { key: 'tier', value: 'y' },
  ]);
  expect(await database.query("SELECT type, status, reason FROM conditions WHERE name = 'labelled'")).toEqual(
    [{ type: 'Ready', status: 'False', reason: 'Starting' }],
  );
});

test('the changes of one object cost what it was written, however much history there is', async () => {
  await makeHistory(database, { resource: 'configmaps', objects: 200, rounds: 100 });
  // Of more than 1,000.
  for (const of of [
    "changes_of('', 'configmaps', 'default', 'n0007')",
    "blame_of('', 'configmaps', 'default', 'n0007')",
  ])
    expect(await pagesOf(database, `SELECT * FROM ${of}`), of).toBeLessThan(900);
});

test('who asks for the newest of many changes has no more than these read', async () => {
  const before = await makeHistory(database, {
    resource: 'configmaps',
    objects: 5,
    rounds: 1000,
    namespace: 'busy',
  });
  const last = before + 5000;
  await beginPartition(database);
  for (const [all, some] of [
    ["timeline('busy')", "timeline('busy', '-infinity', now(), 12)"],
    [
      "changes_of('', 'configmaps', 'busy', 'n0003')",
      "changes_of('', 'configmaps', 'busy', 'n0003', '-infinity', now(), 12)",
    ],
  ] as const) {
    const [whole, newest] = await Promise.all(
      [all, some].map((of) => database.query<{ revision: string }>(`SELECT * FROM ${of}`)),
    );
    expect(newest, some).toEqual(whole?.slice(-12));
    for (const asked of [some, `${all} WHERE revision > ${last - 60}`, `${all} LIMIT 12`])
      expect(await pagesOf(database, `SELECT * FROM ${asked}`), asked).toBeLessThan(600);
  }
});

test('a time, a namespace or both are asked about: what is before all history is refused, and elsewhere nothing is found', async () => {
  const since = '-infinity';
  await database.query("UPDATE compaction SET committed_at = now() - interval '1 day'");
  for (const of of ["timeline('default', ", "changes_of('', 'pods', 'default', 'web', "])
    await expect(
      database.query(`SELECT * FROM ${of}'${since}', now() - interval '2 days')`),
      of,
    ).rejects.toThrow('older than the history that is kept');
  const later = "now() + interval '1 hour', now() + interval '2 hours'";
  expect(await database.query(`SELECT FROM timeline('default', ${later})`)).toEqual([]);
  const diff = "cluster_diff(now() - interval '1 hour', clock_timestamp()";
  const inTwoWays = await Promise.all([
    database.query(`SELECT * FROM ${diff}, 'busy')`),
    database.query(`SELECT * FROM ${diff}) WHERE namespace = 'busy'`),
  ]);
  expect(inTwoWays[0]).toHaveLength(5);
  expect(inTwoWays[0]).toEqual(inTwoWays[1]);
  const images = "images_at(clock_timestamp(), 'default')";
  expect(await database.query(`SELECT * FROM ${images} WHERE image = 'a:3'`)).toEqual([
    { image: 'a:3', containers: '1' },
  ]);
});

test('a list of thousands is compared in a moment, whether its elements have names or not', async () => {
  const listOf = (changed: number, element: (n: number, value: number) => object) => ({
    list: Array.from({ length: 3000 }, (_, n) => element(n, n === 7 ? changed : 1)),
  });
  const named = (n: number, value: number) => ({ name: `n${n}`, value });
  const nameless = (_: number, value: number) => ({ value });
  await using impatient = await connect(database.url);
  // Asked once for each element, which field tells elements apart took minutes.
  await impatient.query("SET statement_timeout = '10s'");
  for (const [element, path] of [
    [named, 'list[name=n7].value'],
    [nameless, 'list[7].value'],
  ] as const) {
    const states = [listOf(1, element), listOf(2, element)].map(
      (state) => `'${JSON.stringify(state)}'::jsonb`,
    );
    expect(await impatient.query(`SELECT path FROM changes_between(${states.join(', ')})`)).toEqual([
      { path },
    ]);
    expect(await impatient.query(`SELECT FROM leaves_of(${states[0]})`)).toHaveLength(
      element === named ? 6000 : 3000,
    );
  }
});
