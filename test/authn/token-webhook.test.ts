import { beforeEach, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/api/object-meta.ts';
import { TokenWebhook } from '../../src/authn/token-webhook.ts';

type TokenWebhookOptions = ConstructorParameters<typeof TokenWebhook>[0];

let sent: JsonObject[];
let waits: number[];

beforeEach(() => {
  sent = [];
  waits = [];
});

/** Answers with these, the last one again and again. */
function webhook(answers: (JsonValue | Error)[], options: Partial<TokenWebhookOptions> = {}): TokenWebhook {
  return new TokenWebhook({
    version: 'v1beta1',
    apiAudiences: ['api'],
    post: async (review) => {
      sent.push(review);
      const answer = answers[Math.min(sent.length, answers.length) - 1];
      if (answer instanceof Error) throw answer;
      return answer ?? null;
    },
    isTransient: (error) => String(error).includes('again'),
    pauseFor: async (ms) => void waits.push(ms),
    ...options,
  });
}

const answer = (status: JsonObject, version = 'v1beta1'): JsonObject => ({
  kind: 'TokenReview',
  apiVersion: `authentication.k8s.io/${version}`,
  status,
});
const ANN = answer({ authenticated: true, user: { username: 'ann', groups: ['g'], uid: 'u' } });

test('a review asks in the version of the flag, for the audiences asked for', async () => {
  const found = await webhook([ANN]).authenticate('t', ['api', 'b']);
  expect(found).toEqual({
    user: { username: 'ann', uid: 'u', groups: ['g'], extra: {} },
    audiences: ['api'],
  });
  expect(sent[0]).toMatchObject({
    apiVersion: 'authentication.k8s.io/v1beta1',
    spec: { token: 't', audiences: ['api', 'b'] },
  });
  await webhook([answer({}, 'v1')], { version: 'v1' }).authenticate('t', ['api']);
  expect(sent[1]?.apiVersion).toBe('authentication.k8s.io/v1');
});

test('an error that may pass is tried again four times with growing waits, other errors are not', async () => {
  expect((await webhook([new Error('again'), ANN]).authenticate('t', ['api']))?.user.username).toBe('ann');
  expect(waits).toEqual([500]);
  sent = [];
  waits = [];
  await expect(webhook([new Error('again')]).authenticate('t', ['api'])).rejects.toThrow('again');
  expect([sent.length, waits]).toEqual([5, [500, 750, 1125, 1687.5]]);
  sent = [];
  await expect(webhook([new Error('never')]).authenticate('t', ['api'])).rejects.toThrow('never');
  expect(sent).toHaveLength(1);
});

test('an answer of another version or kind is none', async () => {
  for (const wrong of [answer({ authenticated: true }, 'v1'), null, [], 'x', { kind: 'TokenReview' }]) {
    await expect(webhook([wrong]).authenticate('t', ['api'])).rejects.toThrow(
      'no TokenReview of version v1beta1',
    );
  }
});

test('a slow webhook is given up', async () => {
  const slow = webhook([], {
    timeoutMs: 20,
    post: (_, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  });
  await expect(slow.authenticate('t', ['api'])).rejects.toThrow(/timeout/i);
});
