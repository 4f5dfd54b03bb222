// @module-tag long
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../../kit/cluster.ts';
import { expectHarmless } from '../../kit/hostile-request.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';
import { NEWER_FLAGS, NEWER_KINDS } from './newer-kinds.ts';

/**
 * The promise of one-request.test.ts, for what a server of 1.36 has and one of 1.31 lacks. TEST_EMULATED_VERSION=1.36 has the tables
 * of that file asked of such a server too.
 */
let database: TestDatabase;
let cluster: Cluster;

beforeAll(async () => {
  database = await createTestDatabase();
  const preload = fileURLToPath(new URL('../../kit/event-loop-probe.ts', import.meta.url));
  cluster = await startCluster(database.url, NEWER_FLAGS, { preload });
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await database.drop();
});

describe.each(NEWER_KINDS)('%s', (_what, requests) => {
  test.each(requests)(
    '$name: other requests are not delayed',
    (request) => expectHarmless(cluster, request),
    60_000,
  );
});

test('warnings about very many addresses have four kilobytes of headers, and each has 256 characters at most', async () => {
  const [, rows = []] = NEWER_KINDS.find(([name]) => name === 'addresses that are warned of') ?? [];
  let warned = 0;
  for (const { method, path, body, codes } of rows) {
    const { code, headers } = await cluster.request(method, path, body?.());
    expect(codes).toContain(code);
    const { warning = [] } = headers;
    const texts = [warning]
      .flat()
      .flatMap((line) => [...line.matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map(([, said = '']) => said));
    const plain = texts.map((said) => said.replaceAll(/\\(.)/g, '$1'));
    if (plain.length > 0) warned += 1;
    for (const said of plain) expect(said.length).toBeLessThanOrEqual(256);
    // The last one may begin where the others have left room for a character.
    expect(plain.join('').length).toBeLessThan(4096 + 256);
  }
  expect(warned).toBeGreaterThanOrEqual(7);
});
