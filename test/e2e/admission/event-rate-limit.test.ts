// @module-tag long
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startCluster } from '../../kit/cluster.ts';
import { createTestDatabase } from '../../postgres.ts';

const PLUGIN = '--enable-admission-plugins=EventRateLimit';
const event = (name: string, namespace: string) => ({
  metadata: { name },
  involvedObject: { kind: 'Pod', namespace, name: 'p', apiVersion: 'v1' },
  type: 'Normal',
  reason: 'Started',
});

test('a namespace that floods the cluster with events gets 429, and events of others are taken', async () => {
  await using database = await createTestDatabase();
  const file = join('/tmp', `event-limits-${process.pid}.yaml`);
  const limits = [{ type: 'Namespace', qps: 1, burst: 5 }];
  const configuration = {
    apiVersion: 'eventratelimit.admission.k8s.io/v1alpha1',
    kind: 'Configuration',
    limits,
  };
  writeFileSync(
    file,
    JSON.stringify({
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'AdmissionConfiguration',
      plugins: [{ name: 'EventRateLimit', configuration }],
    }),
  );
  await using cluster = await startCluster(database.url, [PLUGIN, `--admission-control-config-file=${file}`]);
  await cluster.kubectl('create namespace quiet');
  const send = (name: string, namespace: string, query = '') =>
    cluster.request('POST', `/api/v1/namespaces/${namespace}/events${query}`, event(name, namespace));
  const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => send(`e${n}`, 'default')));
  const refused = answers.filter(({ code }) => code === 429);
  expect(answers.filter(({ code }) => code === 201).length + refused.length).toBe(40);
  expect(refused.length).toBeGreaterThan(20);
  expect(refused[0]?.json).toEqual({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'Too many requests: limit reached on type Namespace for key default',
    reason: 'TooManyRequests',
    code: 429,
  });
  expect(refused[0]?.headers['retry-after']).toBeUndefined();
  expect((await send('e', 'quiet')).code).toBe(201);
  await expect.poll(async () => (await send('later', 'default')).code).toBe(201);
});

test('a server without limits does not start, and says why', async () => {
  await using database = await createTestDatabase();
  await expect(startCluster(database.url, [PLUGIN])).rejects.toThrow(
    'EventRateLimit configuration: limits: Invalid value: []eventratelimit.Limit(nil): must not be empty',
  );
});
