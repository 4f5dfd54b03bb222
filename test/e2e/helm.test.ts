import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startCluster } from '../kit/cluster.ts';
import { createTestDatabase } from '../postgres.ts';

test('a chart is installed, upgraded, rolled back and uninstalled', { tags: 'long' }, async () => {
  await using database = await createTestDatabase();
  await using cluster = await startCluster(database.url);
  const helm = async (args: string): Promise<string> => {
    const result = await cluster.helm(args);
    expect(result, `helm ${args}`).toMatchObject({ code: 0 });
    return result.stdout;
  };
  const chart = join(cluster.folder, 'shop');
  await helm(`create ${chart}`);
  await helm(`install release ${chart}`);
  const replicas = 'get deployment release-shop -o jsonpath={.spec.replicas}';
  expect((await cluster.kubectl(replicas)).stdout).toBe('1');
  await helm(`upgrade release ${chart} --set replicaCount=3`);
  expect((await cluster.kubectl(replicas)).stdout).toBe('3');
  await helm('rollback release 1');
  expect((await cluster.kubectl(replicas)).stdout).toBe('1');
  const history = JSON.parse(await helm('history release -o json')) as { status: string }[];
  expect(history.map(({ status }) => status)).toEqual(['superseded', 'superseded', 'deployed']);
  await helm('uninstall release');
  const left = await cluster.kubectl('get deployments,services,secrets -o name');
  expect(left.stdout.replace('service/kubernetes\n', '')).toBe('');
});
