// @module-tag long
import { expect, test } from 'vitest';
import { startCluster } from '../../kit/cluster.ts';
import { createTestDatabase } from '../../postgres.ts';

test('nothing is evicted from a namespace that is ending, nor do accounts get tokens there, as both are creates', async () => {
  await using database = await createTestDatabase();
  await using cluster = await startCluster(database.url, ['--disable-admission-plugins=ServiceAccount']);
  await cluster.kubectl('create namespace ending');
  await cluster.kubectl('create serviceaccount robot -n ending');
  const pods = '/api/v1/namespaces/ending/pods';
  const spec = { containers: [{ name: 'c', image: 'i' }] };
  await cluster.request('POST', pods, { metadata: { name: 'held', finalizers: ['example.com/hold'] }, spec });
  const evict = (query = '') =>
    cluster.request('POST', `${pods}/held/eviction${query}`, {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: 'held' },
    });
  expect((await evict('?dryRun=All')).code).toBe(201);
  await cluster.kubectl('delete namespace ending --wait=false');
  const refused = await evict();
  expect([refused.code, refused.json.message]).toEqual([
    403,
    'pods "held" is forbidden: unable to create new content in namespace ending because it is being terminated',
  ]);
  expect(refused.json.details.causes[0].reason).toBe('NamespaceTerminating');
  const token = await cluster.kubectl('create token robot -n ending');
  expect(token.stderr).toContain(
    'unable to create new content in namespace ending because it is being terminated',
  );
  await cluster.kubectl('patch pod held -n ending --type=merge -p {"metadata":{"finalizers":null}}');
});
