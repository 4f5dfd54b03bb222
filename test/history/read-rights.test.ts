import { expect, test, vi } from 'vitest';
import { ALLOW, type Authorizer, NO_OPINION, NO_RULES } from '../../src/authz/authorizer.ts';
import { ReadRights } from '../../src/history/read-rights.ts';
import { Registry } from '../../src/registry/registry.ts';
import { toRevision } from '../../src/storage/revision.ts';
import { NO_BIRTHS } from './no-births.ts';

const revision = toRevision(5);

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
  const rights = new ReadRights(asker, { authorizer, registry: new Registry(), births: NO_BIRTHS });
  const namespaces = { group: '', resource: 'namespaces', namespace: '' };
  expect(await rights.mayRead({ revision, key: { ...namespaces, name: 'shop' } })).toBe(true);
  expect(await rights.mayRead({ revision, key: { ...namespaces, name: 'other' } })).toBe(false);
});

test('a right that is taken away during a watch is gone after the time for which it is remembered', async () => {
  let may = true;
  let asked = 0;
  const authorizer: Authorizer = {
    authorize: () => {
      asked += 1;
      return may ? ALLOW : NO_OPINION;
    },
    rules: () => NO_RULES,
  };
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    const rights = new ReadRights(asker, { authorizer, registry: new Registry(), births: NO_BIRTHS }, 5000);
    const key = { group: '', resource: 'configmaps', namespace: 'shop', name: 'it' };
    expect(await rights.mayRead({ revision, key })).toBe(true);
    may = false;
    vi.advanceTimersByTime(4999);
    expect([await rights.mayRead({ revision, key }), asked]).toEqual([true, 1]);
    vi.advanceTimersByTime(2);
    expect(await rights.mayRead({ revision, key })).toBe(false);
  } finally {
    vi.useRealTimers();
  }
});
