// @module-tag long
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Caller } from '../kit/caller.ts';
import { startCluster } from '../kit/cluster.ts';
import { holdWrites } from '../kit/held-writes.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

let database: TestDatabase;
const tokens = join(tmpdir(), `flow-control-limits-${process.pid}.csv`);

beforeAll(async () => {
  writeFileSync(tokens, 'n,noisy,1\nq,quiet,2\n');
  database = await createTestDatabase();
});

afterAll(() => database.drop());

/** What follows a write or an answer soon, on a machine that has other things to do as well. */
const eventually = <T>(read: () => T) => expect.poll(read);

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const named = (name: string) => ({ metadata: { name } });

test('without priority and fairness, mutating requests above their limit are refused, reads and administrators are not', async () => {
  const off = [
    '--enable-priority-and-fairness=false',
    '--max-mutating-requests-inflight=2',
    '--max-requests-inflight=1',
  ];
  await using cluster = await startCluster(database.url, [`--token-auth-file=${tokens}`, ...off]);
  using noisy = new Caller(cluster, 'n');
  using quiet = new Caller(cluster, 'q');
  await using held = await holdWrites(database.url);
  const first = noisy.send('POST', CONFIG_MAPS, named('a'));
  await held.awaited();
  const more = Array.from({ length: 5 }, (_, n) => noisy.send('POST', CONFIG_MAPS, named(`b${n}`)));
  const refused = await Promise.race(more);
  expect(refused).toMatchObject({ code: 429, text: 'Too many requests, please try again later.\n' });
  expect(refused.headers).toMatchObject({ 'retry-after': '1' });
  expect(refused.headers).not.toHaveProperty('x-kubernetes-pf-flowschema-uid');
  const watches = await Promise.all([1, 2, 3].map(() => quiet.watch(`${CONFIG_MAPS}?watch=1`)));
  expect(watches.map(({ code }) => code)).toEqual([200, 200, 200]);
  expect((await quiet.send('GET', CONFIG_MAPS)).code).toBe(200);
  const admin = cluster.request('POST', CONFIG_MAPS, named('admin'));
  await held.release();
  expect((await admin).code).toBe(201);
  expect((await first).code).toBe(201);
  const codes = (await Promise.all(more)).map(({ code }) => code);
  expect(codes.sort()).toEqual([201, 429, 429, 429, 429]);
  expect((await noisy.send('POST', CONFIG_MAPS, named('later'))).code).toBe(201);
});

test('a request waits for a quarter of --request-timeout, and one that timed out keeps its seat until its work is done', async () => {
  const limits = ['--max-requests-inflight=1', '--max-mutating-requests-inflight=0', '--request-timeout=2s'];
  await using cluster = await startCluster(database.url, [`--token-auth-file=${tokens}`, ...limits]);
  using noisy = new Caller(cluster, 'n');
  using quiet = new Caller(cluster, 'q');
  await using held = await holdWrites(database.url);
  const writes = ['x', 'y', 'z'].map((name) => noisy.send('POST', CONFIG_MAPS, named(name)));
  await held.awaited();
  const read = await quiet.send('GET', `${CONFIG_MAPS}?resourceVersion=0`);
  expect(read.code).toBe(429);
  const codes = (await Promise.all(writes)).map(({ code }) => code);
  expect(codes.sort()).toEqual([429, 429, 504]);
  expect((await quiet.send('GET', CONFIG_MAPS)).code).toBe(429);
  const { text } = await cluster.request('GET', '/metrics');
  const labels = '{priority_level="global-default",flow_schema="global-default",reason="time-out"}';
  expect(text).toContain(`apiserver_flowcontrol_rejected_requests_total${labels} 4`);
  await held.release();
  await eventually(async () => (await quiet.send('GET', CONFIG_MAPS)).code).toBe(200);
});
