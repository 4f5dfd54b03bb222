// @module-tag long
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, type Cluster, startCluster } from '../kit/cluster.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

/** What the flags about pods, and about who clears up behind objects, decide. */

let database: TestDatabase;
let strict: Cluster;
let lax: Cluster;

beforeAll(async () => {
  database = await createTestDatabase();
  strict = await startCluster(database.url);
  lax = await startCluster(database.url, [
    '--allow-privileged',
    '--default-not-ready-toleration-seconds=7',
    '--default-unreachable-toleration-seconds=8',
    '--enable-garbage-collector=false',
  ]);
});

afterAll(async () => {
  await strict[Symbol.asyncDispose]();
  await lax[Symbol.asyncDispose]();
  await database.drop();
});

const CORE = '/api/v1/namespaces/default';
const spec = { containers: [{ name: 'c', image: 'i', securityContext: { privileged: true } }] };
const pod = (cluster: Cluster, name: string, more: object = {}): Promise<Answer> =>
  cluster.request('POST', `${CORE}/pods`, {
    metadata: { name },
    spec: { containers: [{ name: 'c', image: 'i' }], ...more },
  });

test('privileged containers need --allow-privileged, in pods and in templates', async () => {
  const refused = await pod(strict, 'p', spec);
  expect(refused).toMatchObject({
    code: 422,
    json: {
      details: {
        causes: [
          {
            field: 'spec.containers[0].securityContext.privileged',
            message: 'Forbidden: disallowed by cluster policy',
          },
        ],
      },
    },
  });
  const template = {
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec },
  };
  const set = await strict.request('POST', '/apis/apps/v1/namespaces/default/daemonsets', {
    metadata: { name: 'd' },
    spec: template,
  });
  expect(set.json.details.causes[0].field).toBe(
    'spec.template.spec.containers[0].securityContext.privileged',
  );
  expect((await pod(lax, 'p', spec)).code).toBe(201);
  const label = await strict.request(
    'PATCH',
    `${CORE}/pods/p`,
    { metadata: { labels: { a: 'b' } } },
    { 'content-type': 'application/merge-patch+json' },
  );
  expect(label.code).toBe(200);
});

test('pods stay on lost nodes for as long as the flags say, unless they say otherwise', async () => {
  const seconds = ({ json }: Answer): unknown[] =>
    json.spec.tolerations.map((one: { key?: string; tolerationSeconds?: number }) => [
      one.key,
      one.tolerationSeconds,
    ]);
  expect(seconds(await pod(strict, 'usual'))).toEqual([
    ['node.kubernetes.io/not-ready', 300],
    ['node.kubernetes.io/unreachable', 300],
  ]);
  const own = [
    { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 1 },
  ];
  expect(seconds(await pod(lax, 'own', { tolerations: own }))).toEqual([
    ['node.kubernetes.io/not-ready', 1],
    ['node.kubernetes.io/unreachable', 8],
  ]);
  expect(seconds(await pod(lax, 'all', { tolerations: [{ operator: 'Exists' }] }))).toEqual([
    [undefined, undefined],
  ]);
});

test('without a garbage collector no delete waits for one', async () => {
  for (const name of ['a', 'b']) await strict.request('POST', `${CORE}/configmaps`, { metadata: { name } });
  const waiting = await strict.request('DELETE', `${CORE}/configmaps/a?propagationPolicy=Foreground`);
  expect(waiting.json.metadata.finalizers).toEqual(['foregroundDeletion']);
  await lax.request('DELETE', `${CORE}/configmaps/b?propagationPolicy=Foreground`);
  expect((await lax.request('GET', `${CORE}/configmaps/b`)).code).toBe(404);
  const collector = 'garbagecollector_controller';
  expect((await strict.request('GET', '/metrics')).text).toContain(collector);
  expect((await lax.request('GET', '/metrics')).text).not.toContain(collector);
});
