import { expect, test } from 'vitest';
import { createAbac } from '../../src/authz/abac.ts';
import { asks, asksPath, user } from './kit.ts';

const line = (spec: object): string =>
  JSON.stringify({ apiVersion: 'abac.authorization.kubernetes.io/v1beta1', kind: 'Policy', spec });
const abac = (...lines: string[]) => createAbac(lines.join('\n'), 'policy.jsonl');
const allowed = (policy: ReturnType<typeof abac>, question: ReturnType<typeof asks>) =>
  policy.authorize(question) as { decision: string };
const ann = user('ann', 'devs', 'system:authenticated');
const stranger = user('system:anonymous', 'system:unauthenticated');

test('a policy allows its resources to its subjects', () => {
  const policy = abac('# ours', '', line({ user: 'ann', namespace: 'shop', resource: 'pods', apiGroup: '' }));
  expect(allowed(policy, asks(ann, 'delete', 'pods/log', { namespace: 'shop' })).decision).toBe('allow');
  expect(policy.authorize(asks(ann, 'get', 'pods', { namespace: 'bank' }))).toEqual({
    decision: 'no-opinion',
    reason: 'No policy matched.',
  });
  expect(allowed(policy, asks(ann, 'get', 'pods.apps', { namespace: 'shop' })).decision).toBe('no-opinion');
  expect(allowed(policy, asks(user('bob'), 'get', 'pods', { namespace: 'shop' })).decision).toBe(
    'no-opinion',
  );
  expect(allowed(policy, asksPath(ann, 'get', '/version')).decision).toBe('no-opinion');
});

test('a readonly policy allows get, list and watch alone', () => {
  const policy = abac(line({ group: 'devs', namespace: '*', resource: '*', apiGroup: '*', readonly: true }));
  expect(allowed(policy, asks(ann, 'watch', 'nodes')).decision).toBe('allow');
  expect(allowed(policy, asks(ann, 'create', 'nodes')).decision).toBe('no-opinion');
});

test('user and group together ask for both, and a star for everyone known', () => {
  const spec = { namespace: '*', resource: '*', apiGroup: '*' };
  const both = abac(line({ ...spec, user: 'ann', group: 'ops' }));
  expect(allowed(both, asks(ann, 'get', 'pods')).decision).toBe('no-opinion');
  const all = abac(line({ ...spec, user: '*' }));
  expect(allowed(all, asks(ann, 'get', 'pods')).decision).toBe('allow');
  expect(allowed(all, asks(stranger, 'get', 'pods')).decision).toBe('no-opinion');
  const other = abac(line(spec));
  expect(allowed(other, asks(ann, 'get', 'pods')).decision).toBe('no-opinion');
});

test('a path is matched as it is or by what stands before its star', () => {
  const policy = abac(line({ group: 'devs', nonResourcePath: '/logs/*' }));
  expect(allowed(policy, asksPath(ann, 'get', '/logs/a')).decision).toBe('allow');
  expect(allowed(policy, asksPath(ann, 'get', '/log')).decision).toBe('no-opinion');
});

test('groups may be written in either dialect', () => {
  const policy = abac(line({ user: 'ann', namespace: '*', resource: '*', apiGroup: 'storage.cluster.io' }));
  expect(allowed(policy, asks(ann, 'get', 'storageclasses.storage.k8s.io')).decision).toBe('allow');
});

test('a policy without a version allows in everything it leaves out', () => {
  const policy = abac('{"user":"ann"}', '{"resource":"pods","readonly":true}');
  expect(allowed(policy, asks(ann, 'create', 'deployments.apps', { namespace: 'x' })).decision).toBe('allow');
  expect(allowed(policy, asksPath(ann, 'get', '/metrics')).decision).toBe('allow');
  const bob = user('bob', 'system:authenticated');
  expect(allowed(policy, asks(bob, 'get', 'pods')).decision).toBe('allow');
  expect(allowed(policy, asksPath(bob, 'get', '/metrics')).decision).toBe('no-opinion');
  expect(allowed(policy, asks(stranger, 'get', 'pods')).decision).toBe('no-opinion');
});

test('a line that cannot be read is named', () => {
  expect(() => abac('', '{"user"')).toThrow('error reading policy file policy.jsonl, line 2: {"user": ');
  expect(() => abac('{"apiVersion":"v1","kind":"Pod"}')).toThrow('no kind "Pod" is known for version "v1"');
  expect(() => abac(line({ user: 1 }))).toThrow('user must be a string');
});

test('rules are those of the policies that hold in the namespace', () => {
  const policy = abac(
    line({ user: 'ann', namespace: 'shop', resource: 'pods', readonly: true }),
    line({ user: 'ann', namespace: 'bank', resource: 'secrets' }),
    line({ group: 'devs', namespace: '*', nonResourcePath: '/version' }),
  );
  expect(policy.rules(ann, 'shop')).toEqual({
    resourceRules: [{ verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['pods'] }],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['/version'] }],
  });
});
