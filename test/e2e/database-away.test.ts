// @module-tag long
import { expect, test, vi } from 'vitest';
import { startCluster } from '../kit/cluster.ts';
import { PATIENCE } from '../kit/patience.ts';
import { startPrivatePostgres } from '../postgres.ts';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const PODS = '/api/v1/namespaces/default/pods';
const JSON_PATCH = { 'content-type': 'application/json-patch+json' };

/** What each of them needs of the database, the server reads before it writes anything: plugins, allocation, or the object. */
const REQUESTS: readonly (readonly [string, string, unknown?, Record<string, string>?])[] = [
  ['POST', '/api/v1/namespaces/unseen/configmaps', { metadata: { name: 'a' } }],
  ['POST', '/api/v1/namespaces/unseen/configmaps?dryRun=All', { metadata: { generateName: 'a-' } }],
  ['POST', '/api/v1/namespaces/unseen/pods', { metadata: { name: 'a' }, spec: { containers: [] } }],
  ['POST', '/api/v1/namespaces/unseen/serviceaccounts/default/token', { spec: {} }],
  ['POST', `${PODS}/unseen/binding`, { metadata: { name: 'unseen' }, target: { kind: 'Node', name: 'n' } }],
  ['POST', `${PODS}/unseen/eviction`, { metadata: { name: 'unseen' } }],
  [
    'POST',
    '/api/v1/namespaces/default/services',
    { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } },
  ],
  ['PUT', `${CONFIG_MAPS}/unseen`, { metadata: { name: 'unseen', resourceVersion: '1' } }],
  ['PATCH', `${CONFIG_MAPS}/unseen`, [], JSON_PATCH],
  ['DELETE', `${CONFIG_MAPS}/unseen`],
  ['DELETE', CONFIG_MAPS],
  ['GET', `${CONFIG_MAPS}/unseen`],
  ['GET', CONFIG_MAPS],
  ['GET', `${PODS}/unseen/log`],
];

test('while the database is away, each request that needs it is answered 503 with Retry-After, and none 500', async () => {
  await using postgres = await startPrivatePostgres();
  await using cluster = await startCluster(postgres.url);
  await postgres.kill();
  await vi.waitFor(
    async () => expect((await cluster.request('GET', '/readyz/tail')).code).toBe(500),
    PATIENCE,
  );
  const answers = await Promise.all(
    REQUESTS.map(async ([method, path, body, headers]) => {
      const { code, headers: answered, json } = await cluster.request(method, path, body, headers);
      return [`${method} ${path}`, code, json.reason, answered['retry-after']];
    }),
  );
  expect(answers).toEqual(
    REQUESTS.map(([method, path]) => [`${method} ${path}`, 503, 'ServiceUnavailable', '1']),
  );
});
