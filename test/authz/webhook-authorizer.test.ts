import { beforeEach, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/api/object-meta.ts';
import { ExpiringCache, WebhookAuthorizer } from '../../src/authz/webhook-authorizer.ts';
import { asks, asksPath, user } from './kit.ts';

type WebhookOptions = ConstructorParameters<typeof WebhookAuthorizer>[0];

const ann = { ...user('ann', 'devs'), uid: 'u1', extra: { scopes: ['a', 'b'] } };
let sent: JsonObject[];
let nowMs: number;

beforeEach(() => {
  sent = [];
  nowMs = 0;
});

/** A webhook that answers with these, the last one again and again. */
function webhook(answers: (JsonValue | Error)[], more: Partial<WebhookOptions> = {}): WebhookAuthorizer {
  return new WebhookAuthorizer({
    version: 'v1',
    authorizedTtlMs: 300_000,
    unauthorizedTtlMs: 30_000,
    timeoutMs: 1000,
    onFailure: 'no-opinion',
    post: async (review) => {
      sent.push(review);
      const answer = answers[Math.min(sent.length, answers.length) - 1];
      if (answer instanceof Error) throw answer;
      return answer ?? null;
    },
    now: () => nowMs,
    pauseFor: async () => {},
    ...more,
  });
}

const status = (fields: JsonObject): JsonObject => ({ kind: 'SubjectAccessReview', status: fields });
const ALLOWED = status({ allowed: true, reason: 'friend' });
const question = asks(ann, 'get', 'deployments.apps/scale', { namespace: 'shop', name: 'web' });

test('a review tells the user and the resource, without what is empty', async () => {
  expect(await webhook([ALLOWED]).authorize(question)).toEqual({ decision: 'allow', reason: 'friend' });
  expect(sent).toEqual([
    {
      kind: 'SubjectAccessReview',
      apiVersion: 'authorization.k8s.io/v1',
      metadata: {},
      spec: {
        resourceAttributes: {
          namespace: 'shop',
          verb: 'get',
          group: 'apps',
          version: 'v1',
          resource: 'deployments',
          subresource: 'scale',
          name: 'web',
        },
        user: 'ann',
        uid: 'u1',
        groups: ['devs'],
        extra: { scopes: ['a', 'b'] },
      },
      status: { allowed: false },
    },
  ]);
});

test('a review of a path in v1beta1 calls the groups group', async () => {
  await webhook([ALLOWED], { version: 'v1beta1' }).authorize(asksPath(user('bob', 'x'), 'get', '/logs'));
  expect(sent[0]).toMatchObject({
    apiVersion: 'authorization.k8s.io/v1beta1',
    spec: { nonResourceAttributes: { path: '/logs', verb: 'get' }, user: 'bob', group: ['x'] },
  });
});

test('an answer allows, denies or has no opinion', async () => {
  const answered = (fields: JsonObject) => webhook([status(fields)]).authorize(question);
  expect(await answered({ allowed: false, denied: true, reason: 'no' })).toEqual({
    decision: 'deny',
    reason: 'no',
  });
  expect(await answered({ allowed: false })).toEqual({ decision: 'no-opinion', reason: '' });
  expect(await answered({ allowed: true, denied: true })).toMatchObject({
    decision: 'deny',
    error: 'webhook subject access review returned both allow and deny response',
  });
});

test('an allow is believed for its time and a refusal for another', async () => {
  const hook = webhook([ALLOWED, status({ allowed: false }), ALLOWED]);
  const decisionAt = async (ms: number) => {
    nowMs = ms;
    return (await hook.authorize(question)).decision;
  };
  expect(await decisionAt(0)).toBe('allow');
  expect(await decisionAt(299_999)).toBe('allow');
  expect(sent).toHaveLength(1);
  expect(await decisionAt(300_000)).toBe('no-opinion');
  expect(await decisionAt(329_999)).toBe('no-opinion');
  expect(sent).toHaveLength(2);
  expect(await decisionAt(330_000)).toBe('allow');
  expect((await hook.authorize(asks(ann, 'list', 'pods'))).decision).toBe('allow');
  expect(sent).toHaveLength(4);
});

test('a question of great length is not remembered', async () => {
  const hook = webhook([ALLOWED]);
  const long = asks(ann, 'get', 'pods', { name: 'x'.repeat(10_000) });
  await hook.authorize(long);
  await hook.authorize(long);
  expect(sent).toHaveLength(2);
});

test('a failure decides as configured, is reported and is not remembered', async () => {
  const broken = new Error('connection refused');
  const hook = webhook([broken, ALLOWED], { onFailure: 'deny' });
  expect(await hook.authorize(question)).toEqual({
    decision: 'deny',
    reason: '',
    error: 'connection refused',
  });
  expect((await hook.authorize(question)).decision).toBe('allow');
  const strange = await webhook([{ kind: 'Pod' }]).authorize(question);
  expect(strange).toMatchObject({ decision: 'no-opinion', error: expect.stringContaining('"Pod"') });
});

test('a failure that may pass is tried again, five times at most, waiting longer each time', async () => {
  const waits: number[] = [];
  const options: Partial<WebhookOptions> = {
    isTransient: () => true,
    pauseFor: async (ms) => void waits.push(ms),
  };
  const broken = new Error('reset');
  expect((await webhook([broken, broken, ALLOWED], options).authorize(question)).decision).toBe('allow');
  expect(waits).toEqual([500, 750]);
  sent = [];
  expect(await webhook([broken], options).authorize(question)).toMatchObject({ error: 'reset' });
  expect(sent).toHaveLength(5);
});

test('a request whose client has gone is not tried again', async () => {
  const gone = new AbortController();
  const hook = webhook([new Error('reset')], { isTransient: () => true, pauseFor: async () => gone.abort() });
  expect(await hook.authorize({ ...question, signal: gone.signal })).toMatchObject({ error: 'reset' });
  expect(sent).toHaveLength(2);
});

test('match conditions decide whether the webhook is asked', async () => {
  const matches = ({ user: who }: JsonObject) => who === 'bob';
  expect(await webhook([ALLOWED], { matches }).authorize(question)).toEqual({
    decision: 'no-opinion',
    reason: '',
  });
  expect(sent).toEqual([]);
  const failing = () => {
    throw new Error('no such field');
  };
  expect(await webhook([ALLOWED], { matches: failing, onFailure: 'deny' }).authorize(question)).toEqual({
    decision: 'deny',
    reason: '',
    error: 'no such field',
  });
});

test('a rules review says that the rules of a webhook cannot be listed', () => {
  expect(webhook([ALLOWED]).rules()).toMatchObject({ incomplete: true, resourceRules: [] });
});

test('a full cache forgets what was not used for longest', () => {
  const cache = new ExpiringCache<number>({ capacity: 2, now: () => nowMs });
  cache.set('a', 1, 100);
  cache.set('b', 2, 100);
  cache.get('a');
  cache.set('c', 3, 100);
  expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([1, undefined, 3]);
  nowMs = 100;
  expect(cache.get('a')).toBeUndefined();
});
