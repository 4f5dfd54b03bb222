// @module-tag long
import { CoreV1Api, KubeConfig, makeInformer } from '@kubernetes/client-node';
import { expect, test } from 'vitest';
import { type Cluster, startCluster } from '../kit/cluster.ts';
import { startPrivatePostgres } from '../postgres.ts';

/** Creates config maps until stopped; goes on through errors, and remembers what was acknowledged. */
async function writeAlong(cluster: Cluster, acknowledged: Set<string>, signal: AbortSignal): Promise<void> {
  for (let n = 0; !signal.aborted; n += 1) {
    const name = `n${n}`;
    const answer = await cluster
      .request('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name } })
      .catch(() => undefined);
    if (answer?.code === 201) acknowledged.add(name);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test('an informer of the JavaScript client loses nothing over a restart of the server and of PostgreSQL', async () => {
  await using postgres = await startPrivatePostgres();
  await using cluster = await startCluster(postgres.url);
  const config = new KubeConfig();
  config.loadFromFile(cluster.kubeconfig);
  const client = config.makeApiClient(CoreV1Api);
  const path = '/api/v1/namespaces/default/configmaps';
  const informer = makeInformer(config, path, () => client.listNamespacedConfigMap({ namespace: 'default' }));
  const seen = new Set<string>();
  let running = true;
  informer.on('add', (object) => seen.add(object.metadata?.name ?? ''));
  informer.on('error', () => {
    if (running) setTimeout(() => void informer.start().catch(() => {}), 100);
  });
  await informer.start();
  const acknowledged = new Set<string>();
  const stop = new AbortController();
  const writing = writeAlong(cluster, acknowledged, stop.signal);
  const moreThan = (more: number): Promise<void> => {
    const before = acknowledged.size;
    return until(() => acknowledged.size > before + more);
  };
  await moreThan(10);
  await cluster.stop();
  await cluster.start();
  await moreThan(10);
  await postgres.kill();
  await postgres.start();
  await moreThan(20);
  stop.abort();
  await writing;
  await until(() => [...acknowledged].every((name) => seen.has(name)));
  expect([...acknowledged].filter((name) => !seen.has(name))).toEqual([]);
  expect(acknowledged.size).toBeGreaterThan(40);
  running = false;
  await informer.stop();
});

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function until(done: () => boolean): Promise<void> {
  for (let waited = 0; !done() && waited < 40_000; waited += 50) await pause(50);
}

test('a stopped server ends with 0, and its objects are there after the next start', async () => {
  await using postgres = await startPrivatePostgres();
  await using cluster = await startCluster(postgres.url);
  await cluster.kubectl('create configmap kept --from-literal=a=1');
  expect(await cluster.stop()).toBe(0);
  await cluster.start();
  expect((await cluster.kubectl('get configmap kept -o jsonpath={.data.a}')).stdout).toBe('1');
});
