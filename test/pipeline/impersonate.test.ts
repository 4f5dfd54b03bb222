import { expect, test } from 'vitest';
import { StatusError } from '../../src/api/status.ts';
import { type AuthorizationAttributes, type Authorizer, NO_RULES } from '../../src/authz/authorizer.ts';
import { impersonate } from '../../src/pipeline/impersonate.ts';
import type { AuthenticatedRequest, UserInfo } from '../../src/request/api-request.ts';

const alice: UserInfo = { username: 'alice', uid: '', groups: ['system:authenticated'], extra: {} };

/** Of a request, only what the stage reads. */
function request(...headers: [string, string][]): AuthenticatedRequest {
  const parsed = Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]));
  const part = { headers: parsed, raw: { headers: headers.flat() }, user: alice };
  return part as unknown as AuthenticatedRequest;
}

function authorizer(allows: (asked: string) => boolean): Authorizer & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    authorize: ({ target, verb }: AuthorizationAttributes) => {
      const { group = '', resource = '', subresource = '', namespace = '', name = '' } = target ?? {};
      const text = [verb, group, resource, subresource, namespace, name].join('|');
      asked.push(text);
      return { decision: allows(text) ? 'allow' : 'no-opinion', reason: 'because' };
    },
    rules: () => NO_RULES,
  };
}

test('everything that is taken on is asked for, one by one', async () => {
  const all = authorizer(() => true);
  const acting = await impersonate(
    { authorizer: all },
    request(
      ['Impersonate-User', 'bob'],
      ['Impersonate-Group', 'a'],
      ['Impersonate-Group', 'b,c'],
      ['Impersonate-Extra-Acme.com%2fteam', 'x'],
      ['Impersonate-Extra-acme.com%2fteam', 'y'],
      ['Impersonate-Uid', '7'],
      ['Accept', '*/*'],
    ),
  );
  expect(all.asked).toEqual([
    'impersonate||users|||bob',
    'impersonate||groups|||a',
    'impersonate||groups|||b,c',
    'impersonate|authentication.k8s.io|userextras|acme.com/team||x',
    'impersonate|authentication.k8s.io|userextras|acme.com/team||y',
    'impersonate|authentication.k8s.io|uids|||7',
  ]);
  expect(acting.user).toEqual({
    username: 'bob',
    uid: '7',
    groups: ['a', 'b,c', 'system:authenticated'],
    extra: { 'acme.com/team': ['x', 'y'] },
  });
  expect(acting.impersonator).toBe(alice);
  expect(Object.keys(acting.headers)).toEqual(['accept']);
});

test('one refusal refuses all of it, with the words of a refusal', async () => {
  const some = authorizer((asked) => asked.includes('users'));
  const asking = impersonate(
    { authorizer: some },
    request(['Impersonate-User', 'bob'], ['Impersonate-Group', 'system:masters']),
  );
  await expect(asking).rejects.toThrow(
    'groups "system:masters" is forbidden: User "alice" cannot impersonate resource "groups" in API group "" at the cluster scope: because',
  );
  const uid = impersonate(
    { authorizer: some },
    request(['Impersonate-User', 'bob'], ['Impersonate-Uid', '7']),
  );
  await expect(uid).rejects.toThrow('uids.authentication.k8s.io "7" is forbidden');
});

test('accounts have the groups of their namespace, and the anonymous user is not authenticated', async () => {
  const all = authorizer(() => true);
  const groups = async (...headers: [string, string][]) =>
    (await impersonate({ authorizer: all }, request(...headers))).user.groups;
  const account = 'system:serviceaccount:ns:robot';
  expect(await groups(['Impersonate-User', account])).toEqual([
    'system:serviceaccounts',
    'system:serviceaccounts:ns',
    'system:authenticated',
  ]);
  expect(all.asked).toEqual(['impersonate||serviceaccounts||ns|robot']);
  expect(await groups(['Impersonate-User', account], ['Impersonate-Group', 'g'])).toEqual([
    'g',
    'system:authenticated',
  ]);
  expect(await groups(['Impersonate-User', 'system:anonymous'])).toEqual(['system:unauthenticated']);
  const unknown = ['Impersonate-Group', 'system:unauthenticated'] as [string, string];
  expect(await groups(['Impersonate-User', 'bob'], unknown)).toEqual(['system:unauthenticated']);
});

test('empty headers change nothing', async () => {
  const none = authorizer(() => false);
  for (const header of [
    ['Impersonate-User', ''],
    ['Impersonate-Nothing', 'x'],
    ['X', 'y'],
  ] as [string, string][]) {
    expect((await impersonate({ authorizer: none }, request(header))).user).toBe(alice);
  }
  const user = '&user.DefaultInfo{Name:"", UID:';
  for (const [name, reference, info] of [
    [
      'Impersonate-Group',
      '{Group  x    }',
      `${user}"", Groups:[]string{"x"}, Extra:map[string][]string(nil)}`,
    ],
    [
      'Impersonate-Uid',
      '{UID  x  authentication.k8s.io/v1  }',
      `${user}"x", Groups:[]string(nil), Extra:map[string][]string(nil)}`,
    ],
    [
      'Impersonate-Extra-y',
      '{UserExtra  x  authentication.k8s.io/v1  y}',
      `${user}"", Groups:[]string(nil), Extra:map[string][]string{"y":[]string{"x"}}}`,
    ],
  ] as const) {
    const asking = impersonate({ authorizer: none }, request([name, 'x']));
    await expect(asking).rejects.toThrow(`requested [${reference}] without impersonating a user`);
    await expect(asking).rejects.toBeInstanceOf(StatusError);
    const constrained = { impersonate: () => Promise.reject(new Error('not asked')) };
    await expect(
      impersonate({ authorizer: none, constrained: constrained as never }, request([name, 'x'])),
    ).rejects.toThrow(`requested ${info} without impersonating a user name`);
  }
});
