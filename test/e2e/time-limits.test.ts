// @module-tag long
import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { allow, base64 } from '../kit/admission-webhook.ts';
import { type Answer, type Cluster, startCluster } from '../kit/cluster.ts';
import { askHttp2, openHttp2 } from '../kit/connections.ts';
import { holdWrites } from '../kit/held-writes.ts';
import { settle } from '../kit/settle.ts';
import { type RemoteWebhook, startWebhook } from '../kit/webhook-server.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const WEBHOOKS = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
const named = (name: string) => ({ metadata: { name } });

let database: TestDatabase;
let cluster: Cluster;
let webhook: RemoteWebhook;

beforeAll(async () => {
  database = await createTestDatabase();
  cluster = await startCluster(database.url, ['--request-timeout=3s']);
  webhook = await startWebhook();
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await webhook[Symbol.asyncDispose]();
  await database.drop();
});

afterEach(async () => {
  webhook.respond = allow;
  await cluster.request('DELETE', WEBHOOKS);
  await settle(cluster, WEBHOOKS);
});

/** A webhook that is asked about every config map and never answers: each question is handed to the test. */
async function configureSilence(): Promise<() => Promise<ServerResponse>> {
  const asked: ServerResponse[] = [];
  let wake = (): void => {};
  webhook.respond = (_, response) => {
    asked.push(response);
    wake();
  };
  const created = await cluster.request('POST', WEBHOOKS, {
    metadata: { name: 'silent' },
    webhooks: [
      {
        name: 'silent.example.com',
        clientConfig: { url: webhook.url, caBundle: base64(webhook.ca) },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] }],
        failurePolicy: 'Ignore',
        timeoutSeconds: 30,
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  });
  expect(created.code).toBe(201);
  await settle(cluster, WEBHOOKS);
  return async () => {
    for (;;) {
      const next = asked.shift();
      if (next !== undefined) return next;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
}

const failUnasked = ({ code, text }: Answer): never => {
  throw new Error(`answered ${code} before the webhook was asked: ${text}`);
};

const hungUp = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    if (response.destroyed) resolve();
    else response.once('close', () => resolve());
  });

test('when the time is up, a webhook is no longer waited for, and nothing is written afterwards', async () => {
  const question = await configureSilence();
  const answering = cluster.request('POST', CONFIG_MAPS, named('late'));
  const asked = await Promise.race([question(), answering.then(failUnasked)]);
  const answer = await answering;
  expect(answer.code).toBe(504);
  expect(answer.json).toMatchObject({
    kind: 'Status',
    reason: 'Timeout',
    message: 'Timeout: request did not complete within the allotted timeout',
  });
  expect(String(answer.headers.warning)).toContain('may have been done');
  // Ignoring the failure, the write would go on from here.
  await hungUp(asked);
  webhook.respond = allow;
  expect((await cluster.request('POST', CONFIG_MAPS, named('after'))).code).toBe(201);
  expect((await cluster.request('GET', `${CONFIG_MAPS}/late`)).code).toBe(404);
});

test('when the client goes away, a webhook is no longer waited for, and nothing is written afterwards', async () => {
  const question = await configureSilence();
  const session = await openHttp2(cluster);
  const stream = session.request({
    ':path': CONFIG_MAPS,
    ':method': 'POST',
    'content-type': 'application/json',
  });
  stream.on('error', () => {});
  stream.end(JSON.stringify(named('left')));
  const asked = await question();
  stream.close();
  await hungUp(asked);
  webhook.respond = allow;
  expect((await cluster.request('POST', CONFIG_MAPS, named('next'))).code).toBe(201);
  expect((await askHttp2(session, `${CONFIG_MAPS}/left`)).code).toBe(404);
  session.close();
});

test('a write that was on its way when the time was up may be made, one that waited for its turn is not', async () => {
  await using held = await holdWrites(database.url);
  const answers = [cluster.request('POST', CONFIG_MAPS, named('sent'))];
  await held.awaited();
  answers.push(cluster.request('POST', CONFIG_MAPS, named('queued')));
  for (const { code, headers } of await Promise.all(answers)) {
    expect(code).toBe(504);
    expect(String(headers.warning)).toContain('may have been done');
  }
  await held.release();
  expect((await cluster.request('POST', CONFIG_MAPS, named('last'))).code).toBe(201);
  const { items } = (await cluster.request('GET', CONFIG_MAPS)).json;
  const names = items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
  expect(names).toEqual(expect.arrayContaining(['sent', 'last']));
  expect(names).not.toContain('queued');
});
