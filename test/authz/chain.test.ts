import { expect, test } from 'vitest';
import {
  type Authorizer,
  allowMasters,
  alwaysAllow,
  alwaysDeny,
  createChain,
  NO_RULES,
  type Rules,
  type Verdict,
} from '../../src/authz/authorizer.ts';
import { asks, user } from './kit.ts';

const answering = (verdict: Verdict | Promise<Verdict>, rules: Rules = NO_RULES): Authorizer => ({
  authorize: () => verdict,
  rules: () => rules,
});
const question = asks(user('ann'), 'get', 'pods');

test('the first authorizer with an opinion decides, whether it answers at once or later', async () => {
  const silent = answering(Promise.resolve({ decision: 'no-opinion', reason: 'silent' }));
  const denies = answering({ decision: 'deny', reason: 'no' });
  const never: Authorizer = {
    authorize: () => {
      throw new Error('asked');
    },
    rules: () => NO_RULES,
  };
  expect(await createChain([silent, denies, never]).authorize(question)).toEqual({
    decision: 'deny',
    reason: 'no',
  });
  expect(await createChain([silent, alwaysAllow, never]).authorize(question)).toEqual({
    decision: 'allow',
    reason: '',
  });
});

test('without an opinion the answer has the reasons and errors of all', async () => {
  const one = answering({ decision: 'no-opinion', reason: 'one', error: 'broken' });
  const none = answering({ decision: 'no-opinion', reason: '' });
  expect(await createChain([one, none, alwaysDeny, one]).authorize(question)).toEqual({
    decision: 'no-opinion',
    reason: 'one\nEverything is forbidden.\none',
    error: 'broken',
  });
  expect(await createChain([]).authorize(question)).toEqual({ decision: 'no-opinion', reason: '' });
});

test('rules are those of all, and incomplete when those of one are', () => {
  const pods = { verbs: ['get'], apiGroups: [''], resources: ['pods'] };
  const part = answering({ decision: 'no-opinion', reason: '' }, { ...NO_RULES, resourceRules: [pods] });
  const unsure = answering(
    { decision: 'no-opinion', reason: '' },
    { ...NO_RULES, incomplete: true, error: 'cannot tell' },
  );
  expect(createChain([part, part, unsure]).rules(user('ann'), 'default')).toEqual({
    resourceRules: [pods, pods],
    nonResourceRules: [],
    incomplete: true,
    error: 'cannot tell',
  });
});

test('a member of system:masters may do everything', async () => {
  const chain = createChain([allowMasters, alwaysDeny]);
  const asked = asks(user('root', 'system:masters'), 'delete', 'nodes');
  expect((await chain.authorize(asked)).decision).toBe('allow');
  expect((await chain.authorize(question)).decision).toBe('no-opinion');
});
