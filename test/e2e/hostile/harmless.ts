import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { type Cluster, startCluster } from '../../kit/cluster.ts';
import { expectHarmless, type HostileRequest } from '../../kit/hostile-request.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';

/**
 * Describes tables of requests to one server with the probe: no single request, of any size the limits admit, from any client that may
 * connect, blocks the event loop longer than 100 ms or costs more than 64 MB. A new kind of request is a new line in one of the tables.
 * Returns that server, for further tests.
 */
export function describeHarmless(tables: Readonly<Record<string, readonly HostileRequest[]>>): () => Cluster {
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
  describe.each(Object.entries(tables))('%s', (_what, requests) => {
    test.each(requests)(
      '$name: other requests are not delayed',
      (request) => expectHarmless(cluster, request),
      60_000,
    );
  });
  return () => cluster;
}
