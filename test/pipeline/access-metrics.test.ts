import { expect, test } from 'vitest';
import type { Decision } from '../../src/authz/authorizer.ts';
import { AccessMetrics } from '../../src/observability/access-metrics.ts';
import { Metrics } from '../../src/observability/metrics.ts';
import { authenticate, authorize } from '../../src/pipeline/access.ts';
import type { ApiRequest, AuthenticatedRequest } from '../../src/request/api-request.ts';

type Options = Parameters<typeof authenticate>[0];

const request = { path: '/api', headers: {}, verb: 'get', warn: () => {} } as unknown as ApiRequest;

function world() {
  const metrics = new Metrics();
  const accessMetrics = new AccessMetrics(metrics);
  const options = {
    ...{ accessMetrics, stripCredentials: () => {} },
    anonymous: { allows: () => true },
    logger: { info: () => {} },
  };
  return {
    samples: async (name: string): Promise<string[]> =>
      (await metrics.text()).split('\n').filter((line) => line.startsWith(name)),
    enter: (authenticator: Options['authenticator'], anonymous = options.anonymous): Promise<unknown> =>
      authenticate({ ...options, authenticator, anonymous } as unknown as Options, { ...request }),
    ask: (decision: Decision, error?: string): Promise<unknown> => {
      const verdict = { decision, reason: '', ...(error === undefined ? {} : { error }) };
      const asked = { ...request, user: { username: 'u' }, annotate: () => {} };
      const authorizer = {
        authorize: () => verdict,
        rules: () => ({ resourceRules: [], nonResourceRules: [] }),
      };
      return authorize({ authorizer, accessMetrics }, asked as unknown as AuthenticatedRequest);
    },
  };
}

const user = (username: string): Options['authenticator'] => ({
  authenticate: () => ({ user: { username, uid: '', groups: [], extra: {} } }),
});
const nobody: Options['authenticator'] = { authenticate: () => undefined };
const wrong: Options['authenticator'] = { authenticate: () => Promise.reject(new Error('wrong')) };

test('attempts to authenticate are counted by result, and callers by kinds of names', async () => {
  const { enter, samples } = world();
  for (const name of ['kubelet', 'a@b.example', 'eve', 'system:serviceaccount:kube-system:default'])
    await enter(user(name));
  await enter(nobody);
  await expect(enter(nobody, { allows: () => false })).rejects.toThrow('Unauthorized');
  await expect(enter(wrong)).rejects.toThrow('Unauthorized');
  expect(await samples('authentication_attempts')).toEqual([
    'authentication_attempts{result="success"} 5',
    'authentication_attempts{result="failure"} 1',
    'authentication_attempts{result="error"} 1',
  ]);
  expect(await samples('authenticated_user_requests')).toEqual([
    'authenticated_user_requests{username="kubelet"} 1',
    'authenticated_user_requests{username="email_id"} 1',
    'authenticated_user_requests{username="other"} 2',
    'authenticated_user_requests{username="system:serviceaccount:kube-system:default"} 1',
  ]);
  const buckets = await samples('authentication_duration_seconds_bucket{result="failure"');
  expect(buckets).toHaveLength(16);
  expect(buckets[0]).toContain('le="0.001"');
  expect(buckets[15]).toBe('authentication_duration_seconds_bucket{result="failure",le="+Inf"} 1');
  expect(buckets[14]).toContain('le="16.384"');
});

test('attempts to authorize are counted by result; an allow counts as such, also where another authorizer failed', async () => {
  const { ask, samples } = world();
  await ask('allow', 'one authorizer did not answer');
  await expect(ask('deny')).rejects.toThrow('forbidden');
  await expect(ask('no-opinion')).rejects.toThrow('forbidden');
  await expect(ask('no-opinion', 'no authorizer answered')).rejects.toThrow();
  expect(await samples('authorization_attempts_total')).toEqual(
    ['allowed', 'denied', 'no-opinion', 'error'].map(
      (result) => `authorization_attempts_total{result="${result}"} 1`,
    ),
  );
  expect(await samples('authorization_duration_seconds_count')).toHaveLength(4);
});
