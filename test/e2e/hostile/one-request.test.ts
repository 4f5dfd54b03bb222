import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../../kit/cluster.ts';
import type { ProbeReading } from '../../kit/event-loop-probe.ts';
import { expectHarmless, type HostileRequest } from '../../kit/hostile-request.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';
import { BODIES } from './bodies.ts';
import { CERTIFICATES } from './certificates.ts';
import { CUSTOM_RESOURCES } from './custom-resources.ts';
import { LONG_LISTS } from './long-lists.ts';
import { OBJECTS } from './objects.ts';
import { PAST } from './past.ts';
import { PATCHES } from './patches.ts';
import { QUERIES } from './queries.ts';
import { YAML_BODIES } from './yaml-bodies.ts';

const [SPENT_MS, SPENT_BYTES] = [150, 100 * 1024 * 1024];

/**
 * No single request, of any size the limits admit, from any client that may connect, blocks the event loop longer than 100 ms or
 * costs more than 64 MB. A new kind of request is a new line in one of the tables.
 */
let database: TestDatabase;
let cluster: Cluster;

beforeAll(async () => {
  database = await createTestDatabase();
  const preload = fileURLToPath(new URL('../../kit/event-loop-probe.ts', import.meta.url));
  cluster = await startCluster(database.url, [], { preload });
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await database.drop();
});

describe.each([
  ['bodies', BODIES],
  ['queries and headers', QUERIES],
  ['requests for certificates', CERTIFICATES],
])('%s', (_what, requests) => testEach(requests));

describe.each([
  ['bodies in YAML', YAML_BODIES],
  ['objects of many parts', OBJECTS],
  ['long lists', LONG_LISTS],
  ['custom resources', CUSTOM_RESOURCES],
  ['patches', PATCHES],
  ['the past', PAST],
])('%s', { tags: 'long' }, (_what, requests) => testEach(requests));

function testEach(requests: readonly HostileRequest[]): void {
  test.each(requests)(
    '$name: other requests are not delayed',
    (request) => expectHarmless(cluster, request),
    60_000,
  );
}

test('the probe sees a thread that is blocked, and memory that is needed', async () => {
  await cluster.ask('begin');
  await cluster.ask('spend');
  const { longestMs, grownBytes } = (await cluster.ask('end')) as ProbeReading;
  expect(longestMs).toBeGreaterThanOrEqual(SPENT_MS);
  expect(grownBytes).toBeGreaterThanOrEqual(0.9 * SPENT_BYTES);
  await cluster.ask('begin-quickly');
  await cluster.ask('spend');
  expect(await cluster.ask('end'), 'what was garbage before may hide growth').toMatchObject({
    isSure: false,
  });
});
