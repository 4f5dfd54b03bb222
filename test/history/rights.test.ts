import { expect, test } from 'vitest';
import { ALLOW, type Authorizer, NO_OPINION, NO_RULES } from '../../src/authz/authorizer.ts';
import { Rights } from '../../src/history/rights.ts';
import { Registry } from '../../src/registry/registry.ts';

const asker = {
  user: { username: 'ann', uid: '', groups: [], extra: {} },
  path: '',
  signal: new AbortController().signal,
};

test('who may read a namespace by a role in it may know of its past', async () => {
  const authorizer: Authorizer = {
    authorize: ({ verb, target }) => (verb === 'get' && target?.namespace === 'shop' ? ALLOW : NO_OPINION),
    rules: () => NO_RULES,
  };
  const rights = new Rights(asker, { authorizer, registry: new Registry() });
  const namespaces = { group: '', resource: 'namespaces', namespace: '' };
  expect(await rights.mayRead({ ...namespaces, name: 'shop' })).toBe(true);
  expect(await rights.mayRead({ ...namespaces, name: 'other' })).toBe(false);
});
