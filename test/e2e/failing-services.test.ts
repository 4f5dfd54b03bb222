// @module-tag long
import { randomUUID } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { type Cluster, startCluster } from '../kit/cluster.ts';
import { PATIENCE } from '../kit/patience.ts';
import { createTestDatabase, startPrivatePostgres, type TestDatabase } from '../postgres.ts';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

/** From here on neither the stream nor the table tells the server of changes: it has to connect anew, and finds no table. */
async function mislayHistory(database: TestDatabase): Promise<void> {
  await database.query('ALTER TABLE revisions RENAME TO mislaid');
  await database.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  );
}

const becomes = (cluster: Cluster, path: string, code: number): Promise<void> =>
  vi.waitFor(async () => expect((await cluster.request('GET', path)).code).toBe(code), PATIENCE);

test('a server that loses its tail is not ready, begins again with what is there then, and ends the watches', async () => {
  await using database = await createTestDatabase();
  await using cluster = await startCluster(database.url);
  await cluster.request('POST', CONFIG_MAPS, { metadata: { name: 'before' } });
  const watch = cluster.watch(`${CONFIG_MAPS}?watch=1`);
  await vi.waitFor(
    () => expect(watch.events.map(({ object }) => object.metadata.name)).toContain('before'),
    PATIENCE,
  );

  await mislayHistory(database);
  await becomes(cluster, '/readyz/watch-cache', 500);
  expect((await cluster.request('GET', '/readyz')).code).toBe(500);
  await database.query('ALTER TABLE mislaid RENAME TO revisions');

  await becomes(cluster, '/readyz', 200);
  await watch.ended;
  expect(watch.events.at(-1)).toMatchObject({ type: 'ERROR', object: { code: 410, reason: 'Expired' } });
  const created = await cluster.request('POST', CONFIG_MAPS, { metadata: { name: 'after' } });
  expect(created.code).toBe(201);
  const again = cluster.watch(`${CONFIG_MAPS}?watch=1`);
  await vi.waitFor(
    () =>
      expect(again.events.map(({ object }) => object.metadata.name)).toEqual(
        expect.arrayContaining(['before', 'after']),
      ),
    PATIENCE,
  );
  again.stop();
  expect(cluster.output.stderr).toContain('watch-cache failed and begins again');
  expect(await cluster.stop()).toBe(0);
});

test('a server whose tail cannot be had any more ends, and says in one line what failed and why', async () => {
  await using database = await createTestDatabase();
  await using cluster = await startCluster(database.url);
  await mislayHistory(database);
  expect(await cluster.ended()).toBe(1);
  const lines = cluster.output.stderr.split('\n').filter((line) => line.startsWith('pg-apiserver: '));
  expect(lines).toEqual([
    'pg-apiserver: watch-cache failed 5 times within 60s, at last with: relation "revisions" does not exist',
  ]);
});

/** A cluster role as no client could write it. */
const storeBrokenRole = (database: TestDatabase): Promise<unknown> => {
  const name = 'broken';
  const write = {
    ...{ ordinal: 1, verb: 'create', api_group: 'rbac.authorization.k8s.io', resource: 'clusterroles' },
    ...{ namespace: '', name, uid: randomUUID(), write_id: randomUUID(), username: 'somebody' },
    ...{ user_agent: '', source_address: '', request_id: '', field_manager: '' },
  };
  const role = {
    kind: 'ClusterRole',
    apiVersion: 'rbac.authorization.k8s.io/v1',
    metadata: { name, uid: write.uid },
    rules: 5,
  };
  return database.query('SELECT * FROM commit_revisions($1::json, $2::json[])', [
    JSON.stringify([write]),
    [JSON.stringify(role)],
  ]);
};

test('a server that cannot tell any more who may do what is not ready, and ends', async () => {
  await using database = await createTestDatabase();
  await using cluster = await startCluster(database.url);
  await becomes(cluster, '/readyz/authorization', 200);
  await storeBrokenRole(database);
  await becomes(cluster, '/readyz/authorization', 500);
  expect(await cluster.ended()).toBe(1);
  expect(cluster.output.stderr).toMatch(
    /^pg-apiserver: authorization failed 5 times within 60s, at last with: /m,
  );
});

test('an outage of the database makes the server unready, and does not end it', async () => {
  await using postgres = await startPrivatePostgres();
  await using cluster = await startCluster(postgres.url);
  await postgres.kill();
  await becomes(cluster, '/readyz/tail', 500);
  await postgres.start();
  await becomes(cluster, '/readyz', 200);
  expect(await cluster.stop()).toBe(0);
});
