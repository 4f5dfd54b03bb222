import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, type Cluster, startCluster } from '../../kit/cluster.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';

/** Resource versions and chunks, row by row of the protocol's tables. */

let database: TestDatabase;
let cluster: Cluster;
/** Versions of `m0` to `m9` as they were created. */
const versions: string[] = [];

const MAPS = '/api/v1/namespaces/default/configmaps';
const get = (query: string, path = MAPS): Promise<Answer> => cluster.request('GET', `${path}${query}`);

beforeAll(async () => {
  database = await createTestDatabase();
  cluster = await startCluster(database.url, ['--feature-gates=WatchList=true', '--min-request-timeout=2']);
  for (let n = 0; n < 10; n += 1) {
    const { json } = await cluster.request('POST', MAPS, {
      metadata: { name: `m${n}`, labels: { odd: String(n % 2) } },
    });
    versions.push(json.metadata.resourceVersion);
  }
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await database.drop();
});

const names = ({ json }: Answer): string[] =>
  json.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
const FUTURE = '999999999';

test('get: unset is most recent, 0 is any, another version is not older than it', async () => {
  for (const query of ['', '?resourceVersion=', '?resourceVersion=0', `?resourceVersion=${versions[9]}`]) {
    expect((await get(query, `${MAPS}/m3`)).json.metadata.resourceVersion, query).toBe(versions[3]);
  }
  expect((await get('?resourceVersion=x', `${MAPS}/m3`)).code).toBe(400);
});

test('a version that does not exist yet is waited for, then 504 with the cause clients look for', {
  tags: 'long',
}, async () => {
  for (const path of [`${MAPS}/m3`, MAPS]) {
    const { code, json, headers } = await get(`?resourceVersion=${FUTURE}`, path);
    expect({ code, reason: json.reason, cause: json.details.causes[0].reason }).toEqual({
      code: 504,
      reason: 'Timeout',
      cause: 'ResourceVersionTooLarge',
    });
    expect(json.message).toMatch(/^Timeout: Too large resource version: 999999999, current: \d+$/);
    expect(headers['retry-after']).toBe('1');
  }
});

test('list without resourceVersionMatch: most recent, any, not older than; with a limit, exact', async () => {
  const all = Array.from({ length: 10 }, (_, n) => `m${n}`);
  for (const query of ['', '?resourceVersion=0', `?resourceVersion=${versions[2]}`]) {
    const answer = await get(query);
    expect(
      names(answer).filter((name) => name.startsWith('m')),
      query,
    ).toEqual(all);
    expect(Number(answer.json.metadata.resourceVersion)).toBeGreaterThanOrEqual(Number(versions[9]));
  }
  const exact = await get(`?resourceVersion=${versions[4]}&limit=3`);
  expect(exact.json.metadata.resourceVersion).toBe(versions[4]);
  const rest = await get(`?limit=100&continue=${exact.json.metadata.continue}`);
  expect([...names(exact), ...names(rest)].filter((name) => name.startsWith('m'))).toEqual(all.slice(0, 5));
  expect(rest.json.metadata.resourceVersion).toBe(versions[4]);
});

test('list with resourceVersionMatch: every valid cell', async () => {
  for (const query of [`resourceVersion=${versions[4]}`, `resourceVersion=${versions[4]}&limit=50`]) {
    const exact = await get(`?resourceVersionMatch=Exact&${query}`);
    expect(exact.json.metadata.resourceVersion).toBe(versions[4]);
    expect(names(exact)).not.toContain('m5');
    const newer = await get(`?resourceVersionMatch=NotOlderThan&${query}`);
    expect(names(newer)).toContain('m9');
  }
  for (const query of ['resourceVersion=0', 'resourceVersion=0&limit=50']) {
    expect(names(await get(`?resourceVersionMatch=NotOlderThan&${query}`))).toContain('m9');
  }
});

test('list: every invalid cell is refused, with what is wrong', async () => {
  const { json } = await get('?limit=1');
  const token = json.metadata.continue;
  const invalid: [string, number, string][] = [
    [
      'resourceVersionMatch=Exact',
      422,
      'resourceVersionMatch is forbidden unless resourceVersion is provided',
    ],
    ['resourceVersionMatch=Exact&limit=2', 422, 'unless resourceVersion is provided'],
    ['resourceVersionMatch=NotOlderThan', 422, 'unless resourceVersion is provided'],
    ['resourceVersionMatch=NotOlderThan&limit=2', 422, 'unless resourceVersion is provided'],
    [
      'resourceVersionMatch=Exact&resourceVersion=0',
      422,
      'resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
    ],
    ['resourceVersionMatch=Exact&resourceVersion=0&limit=2', 422, 'forbidden for resourceVersion "0"'],
    ['resourceVersionMatch=Newest&resourceVersion=1', 422, 'Unsupported value: "Newest"'],
    [
      `resourceVersionMatch=Exact&resourceVersion=1&continue=${token}`,
      422,
      'forbidden when continue is provided',
    ],
    [
      `resourceVersion=${versions[1]}&limit=2&continue=${token}`,
      400,
      'specifying resource version is not allowed when using continue',
    ],
    ['sendInitialEvents=true', 422, 'sendInitialEvents is forbidden for list'],
    ['resourceVersion=1&continue=%7B', 400, 'continue key is not valid'],
    [
      'resourceVersion=-1',
      400,
      'invalid resource version: resourceVersion: Invalid value: "-1": strconv.ParseUint: parsing "-1": invalid syntax',
    ],
    ['resourceVersion=99999999999999999999', 400, 'parsing "99999999999999999999": value out of range'],
    ['limit=x', 400, 'invalid syntax'],
    ['labelSelector=a in', 400, 'unable to parse'],
    ['limit=', 400, 'parsing "": invalid syntax'],
    [
      'fieldSelector=spec.x=1',
      400,
      '"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"',
    ],
  ];
  for (const [query, code, text] of invalid) {
    const answer = await get(`?${query.replaceAll(' ', '%20')}`);
    expect({ code: answer.code, message: answer.json.message }, query).toEqual({
      code,
      message: expect.stringContaining(text),
    });
  }
  expect((await get(`?resourceVersion=0&limit=2&continue=${token}`)).code).toBe(200);
});

test('chunks show one snapshot while others write, and say how much is left', async () => {
  const first = await get('?limit=4');
  // Beside those of this test there is the authority's certificate, which every namespace has.
  expect(first.json.metadata.remainingItemCount).toBe(7);
  await cluster.request('DELETE', `${MAPS}/m8`);
  await cluster.request('POST', MAPS, { metadata: { name: 'm5a' } });
  const second = await get(`?limit=4&continue=${first.json.metadata.continue}`);
  const third = await get(`?limit=4&continue=${second.json.metadata.continue}`);
  expect([first, second, third].flatMap(names).filter((name) => name.startsWith('m'))).toEqual(
    Array.from({ length: 10 }, (_, n) => `m${n}`),
  );
  expect(third.json.metadata).toEqual({ resourceVersion: first.json.metadata.resourceVersion });
  const selected = await get('?limit=2&labelSelector=odd%3D1');
  expect(selected.json.metadata.continue).toBeTruthy();
  expect(selected.json.metadata.remainingItemCount).toBeUndefined();
});

test('tokens that are malformed, changed or of elsewhere are refused, and leave the namespace they are for', async () => {
  const { json } = await get('?limit=1');
  const token: string = json.metadata.continue;
  const { rv, start } = JSON.parse(Buffer.from(token, 'base64url').toString());
  const make = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const bad = [
    'x',
    token.slice(0, -4),
    make({ v: 'meta.k8s.io/v2', rv, start }),
    make({ v: 'meta.k8s.io/v1', rv: 'a', start }),
    make({ v: 'meta.k8s.io/v1', rv }),
    make({ v: 'meta.k8s.io/v1', rv, start: '../../secrets\u0000' }),
    make([]),
  ];
  for (const one of bad) {
    const answer = await get(`?limit=1&continue=${encodeURIComponent(one)}`);
    expect(answer.code, one).toBe(400);
    expect(answer.json.message).toContain('continue');
  }
});

test('watch: unset and 0 begin with the state, another version with what came after it', async () => {
  for (const query of ['', '&resourceVersion=0']) {
    const watch = cluster.watch(`${MAPS}?watch=1&timeoutSeconds=2${query}`);
    await watch.reached(10);
    expect(watch.events.slice(0, 10).every(({ type }) => type === 'ADDED')).toBe(true);
    watch.stop();
  }
  const after = cluster.watch(`${MAPS}?watch=1&timeoutSeconds=2&resourceVersion=${versions[7]}`);
  await after.reached(4);
  expect(after.events.slice(0, 4).map(({ type, object }) => `${type} ${object.metadata.name}`)).toEqual([
    'ADDED m8',
    'ADDED m9',
    'DELETED m8',
    'ADDED m5a',
  ]);
  after.stop();
});

test('a streaming list ends its state with a bookmark that says so, then goes on', async () => {
  const watch = cluster.watch(
    `${MAPS}?watch=1&timeoutSeconds=10&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
  );
  const state = names(await get('')).length;
  await watch.reached(state + 1);
  const end = watch.events[state];
  expect(end).toMatchObject({
    type: 'BOOKMARK',
    object: { metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } },
  });
  await cluster.request('POST', MAPS, { metadata: { name: 'streamed' } });
  await watch.reached(state + 2);
  expect(watch.events.at(-1)).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'streamed' } } });
  watch.stop();
  const refused = await get('?watch=1&sendInitialEvents=true');
  expect(refused).toMatchObject({
    code: 422,
    json: { message: expect.stringContaining('requires setting resourceVersionMatch to NotOlderThan') },
  });
  const exact = await get('?watch=1&sendInitialEvents=true&resourceVersionMatch=Exact');
  expect(exact.code).toBe(422);
  const without = await get('?watch=1&resourceVersionMatch=NotOlderThan&resourceVersion=1');
  expect(without).toMatchObject({
    code: 422,
    json: { message: expect.stringContaining('forbidden for watch unless sendInitialEvents') },
  });
});

const STREAMED = `${MAPS}?watch=1&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`;
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';

test('a streaming list is no table: who takes nothing else is refused, who takes JSON as well gets JSON', async () => {
  const only = await cluster.request('GET', STREAMED, undefined, { accept: TABLE });
  expect(only.code).toBe(406);
  const either = await cluster.request('GET', STREAMED, undefined, { accept: `${TABLE},application/json` });
  expect(either.code).toBe(200);
  expect(either.text).toContain('"type":"ADDED","object":{"kind":"ConfigMap"');
  const watch = STREAMED.replace(/&sendInitialEvents.*/, '');
  const table = await cluster.request('GET', watch, undefined, { accept: TABLE });
  expect(table.text).toContain('"object":{"kind":"Table"');
});

test('a watch without a time of its own ends by itself, some time after the least', async () => {
  const begun = Date.now();
  const watches = Array.from({ length: 8 }, () => cluster.watch(`${MAPS}?watch=1`));
  const ends = await Promise.all(watches.map(({ ended }) => ended.then(() => Date.now() - begun)));
  expect(Math.min(...ends)).toBeGreaterThanOrEqual(1900);
  expect(new Set(ends.map((ms) => Math.round(ms / 50))).size).toBeGreaterThan(1);
});

test('a watch from beyond what the database confirms ends with 410; one with nothing to tell, in its time with a bookmark', async () => {
  const { json } = await get('');
  const next = String(Number(json.metadata.resourceVersion) + 1);
  const beyond = cluster.watch(`${MAPS}?watch=1&timeoutSeconds=5&resourceVersion=${Number(next) + 1000}`);
  await beyond.ended;
  expect(beyond.events).toMatchObject([{ type: 'ERROR', object: { code: 410, reason: 'Expired' } }]);
  const made = await cluster.request('POST', MAPS, { metadata: { name: 'w2' } });
  const idle = cluster.watch(
    `${MAPS}?watch=1&timeoutSeconds=4&allowWatchBookmarks=true&resourceVersion=${made.json.metadata.resourceVersion}`,
  );
  await idle.ended;
  expect(idle.events.map(({ type }) => type)).toEqual(['BOOKMARK']);
  expect(idle.events[0]?.object).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1' });
});
