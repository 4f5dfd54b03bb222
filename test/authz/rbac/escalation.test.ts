import { describe, expect, test } from 'vitest';
import type { Minor } from '../../../src/api/emulation.ts';
import type { JsonObject } from '../../../src/api/object-meta.ts';
import type { Authorizer } from '../../../src/authz/authorizer.ts';
import {
  compactRules,
  describeRule,
  EscalationGuard,
  escalation,
  type RbacWrite,
  uncoveredRules,
} from '../../../src/authz/rbac/escalation.ts';
import type { PolicyRule } from '../../../src/authz/rbac/role-rules.ts';
import { toObject } from '../../kit/admission.ts';
import { user } from '../kit.ts';

const rule = (verbs: string, resources: string, names = '', group = ''): PolicyRule => ({
  verbs: verbs.split(' '),
  apiGroups: [group],
  resources: resources.split(' '),
  ...(names === '' ? {} : { resourceNames: names.split(' ') }),
});
const url = (verbs: string, ...nonResourceURLs: string[]): PolicyRule => ({
  verbs: verbs.split(' '),
  nonResourceURLs,
});

describe('coverage', () => {
  const held: [string, PolicyRule[], PolicyRule[]][] = [
    ['several rules together', [rule('get', 'pods'), rule('list', 'pods')], [rule('get list', 'pods')]],
    ['every verb', [rule('*', 'pods')], [rule('get *', 'pods')]],
    ['every resource', [rule('get', '*')], [rule('get', 'pods pods/log *')]],
    ['a subresource of everything', [rule('get', '*/scale')], [rule('get', 'deployments/scale')]],
    ['all names', [rule('get', 'pods')], [rule('get', 'pods', 'a b')]],
    ['those names', [rule('get', 'pods', 'a b c')], [rule('get', 'pods', 'a c')]],
    ['every group', [rule('get', 'pods', '', '*')], [rule('get', 'pods', '', 'apps')]],
    ['paths below', [url('get', '/healthz/*')], [url('get', '/healthz/etcd', '/healthz/*', '/healthz/a/*')]],
    ['nothing', [], []],
  ];
  test.each(held)('%s is held', (_, owner, wanted) => {
    expect(uncoveredRules(owner, wanted)).toEqual([]);
  });

  const missing: [string, PolicyRule[], PolicyRule, string[]][] = [
    [
      'another verb',
      [rule('get', 'pods')],
      rule('get list', 'pods'),
      ['{APIGroups:[""], Resources:["pods"], Verbs:["list"]}'],
    ],
    [
      'a subresource',
      [rule('get', 'pods')],
      rule('get', 'pods/log'),
      ['{APIGroups:[""], Resources:["pods/log"], Verbs:["get"]}'],
    ],
    [
      'all names',
      [rule('get', 'pods', 'a')],
      rule('get', 'pods'),
      ['{APIGroups:[""], Resources:["pods"], Verbs:["get"]}'],
    ],
    [
      'another name',
      [rule('get', 'pods', 'a')],
      rule('get', 'pods', 'a b'),
      ['{APIGroups:[""], Resources:["pods"], ResourceNames:["b"], Verbs:["get"]}'],
    ],
    [
      'a wildcard',
      [rule('get', 'pods services')],
      rule('get', '*'),
      ['{APIGroups:[""], Resources:["*"], Verbs:["get"]}'],
    ],
    [
      'the parent of a path',
      [url('get', '/a/*')],
      url('get', '/a'),
      ['{NonResourceURLs:["/a"], Verbs:["get"]}'],
    ],
  ];
  test.each(missing)('%s is missing', (_, owner, wanted, lines) => {
    expect(uncoveredRules(owner, [wanted]).map(describeRule)).toEqual(lines);
  });

  test('pieces on one resource become one rule', () => {
    const pieces = uncoveredRules([], [rule('get list', 'pods services'), url('get', '/a')]);
    expect(compactRules(pieces).map(describeRule)).toEqual([
      '{NonResourceURLs:["/a"], Verbs:["get"]}',
      '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}',
      '{APIGroups:[""], Resources:["services"], Verbs:["get" "list"]}',
    ]);
  });
});

test('an escalation is reported with the user, the groups and the missing rights', () => {
  const ann = user('ann', 'devs', 'system:authenticated');
  expect(
    escalation(ann, { rules: [rule('get', 'pods')], errors: ['gone'] }, [
      rule('get list watch', 'pods secrets'),
    ]),
  ).toBe(`user "ann" (groups=["devs" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:
{APIGroups:[""], Resources:["pods"], Verbs:["list" "watch"]}
{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list" "watch"]}; resolution errors: [gone]`);
  expect(escalation(ann, { rules: [rule('*', '*')], errors: [] }, [rule('get', 'pods')])).toBeUndefined();
});

describe('writing', () => {
  const ann = user('ann');
  const asked: string[] = [];

  /** ann holds `get pods`, and what `allowed` names is allowed by the chain. */
  function guard(allowed = '', minor: Minor = 31): EscalationGuard {
    const authorizer: Authorizer = {
      authorize: ({ verb, target }) => {
        const question = `${verb} ${target?.resource} ${target?.namespace}/${target?.name}`;
        asked.push(question);
        return { decision: question === allowed ? 'allow' : 'no-opinion', reason: '' };
      },
      rules: () => ({ resourceRules: [], nonResourceRules: [] }),
    };
    const source: ConstructorParameters<typeof EscalationGuard>[1] = {
      rulesFor: () => ({ rules: [rule('get', 'pods')], errors: [] }),
      rulesOf: ({ name }) =>
        name === 'gone' ? undefined : [rule(name === 'reader' ? 'get' : 'delete', 'pods')],
    };
    return new EscalationGuard(authorizer, source, minor);
  }

  const write = (
    resource: RbacWrite['resource'],
    object: JsonObject,
    { old, ...more }: Partial<Omit<RbacWrite, 'old'>> & { readonly old?: JsonObject } = {},
  ): RbacWrite => ({
    user: ann,
    resource,
    namespace: resource.startsWith('cluster') ? '' : 'shop',
    name: 'it',
    requestName: '',
    object: toObject(object),
    old: old && toObject(old),
    ...more,
  });
  const roleOf = (...rules: PolicyRule[]): JsonObject => ({ rules: rules.map((one) => ({ ...one })) });
  const bindingTo = (kind: string, name: string): JsonObject => ({ roleRef: { kind, name } });

  test('a role that gives no more than its author holds is allowed', async () => {
    await expect(guard().check(write('roles', roleOf(rule('get', 'pods'))))).resolves.toBeUndefined();
  });

  test('a role that gives more is refused', async () => {
    await expect(guard().check(write('clusterroles', roleOf(rule('delete', 'pods'))))).rejects.toThrow(
      'clusterroles.rbac.authorization.k8s.io "it" is forbidden: user "ann" (groups=[]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}',
    );
  });

  test('a user with the verb escalate, or in system:masters, may write any role', async () => {
    const object = roleOf(rule('delete', 'pods'));
    await guard('escalate roles shop/it').check(write('roles', object, { requestName: 'it', old: {} }));
    await expect(guard('escalate roles shop/it').check(write('roles', object))).rejects.toThrow('forbidden');
    await guard().check(write('roles', object, { user: user('root', 'system:masters') }));
  });

  test('an aggregation rule takes full authority, to write and to change', async () => {
    const aggregating = { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } };
    await expect(guard().check(write('clusterroles', aggregating))).rejects.toThrow(
      'clusterroles.rbac.authorization.k8s.io "it" is forbidden: must have cluster-admin privileges to use the aggregationRule',
    );
    await expect(guard().check(write('clusterroles', {}, { old: aggregating }))).rejects.toThrow(
      'aggregationRule',
    );
    await guard().check(write('clusterroles', {}, { old: {} }));
  });

  test('an update that only lets the object be collected is allowed', async () => {
    const old = { ...roleOf(rule('delete', 'pods')), metadata: { name: 'it', finalizers: ['x'] } };
    await guard().check(write('roles', { ...old, metadata: { name: 'it' } }, { old }));
    await expect(
      guard().check(write('roles', { ...old, metadata: { name: 'it', labels: { a: 'b' } } }, { old })),
    ).rejects.toThrow('forbidden');
  });

  test('a binding needs the rules of the role, or the right to bind it', async () => {
    await guard().check(write('rolebindings', bindingTo('Role', 'reader')));
    await guard('bind clusterroles shop/admin').check(
      write('rolebindings', bindingTo('ClusterRole', 'admin')),
    );
    await guard('bind clusterroles /admin').check(
      write('clusterrolebindings', bindingTo('ClusterRole', 'admin')),
    );
    await expect(guard().check(write('rolebindings', bindingTo('ClusterRole', 'admin')))).rejects.toThrow(
      'rolebindings.rbac.authorization.k8s.io "it" is forbidden: user "ann"',
    );
  });

  test('a binding to a role that is not there is not found, unless its author may bind it', async () => {
    await expect(guard().check(write('rolebindings', bindingTo('Role', 'gone')))).rejects.toThrow(
      'roles.rbac.authorization.k8s.io "gone" not found',
    );
    await guard('bind roles shop/gone').check(write('rolebindings', bindingTo('Role', 'gone')));
  });

  test('since 1.32 the role that is not there goes by the resource of its binding', async () => {
    await expect(guard('', 32).check(write('rolebindings', bindingTo('Role', 'gone')))).rejects.toThrow(
      'rolebindings.rbac.authorization.k8s.io "gone" not found',
    );
  });

  test.each([
    ['rolebindings', 'X', 'a', 500, 'unsupported role reference kind: "X"'],
    ['rolebindings', 'Role', '', 400, 'Name parameter required.'],
    ['rolebindings', 'ClusterRole', 'a/b', 400, 'Name parameter invalid: "a/b": may not contain \'/\''],
    ['clusterrolebindings', 'Role', 'reader', 400, 'Namespace parameter required.'],
  ] as const)(
    '%s to %s %j are refused as reading the role would be',
    async (resource, kind, name, code, message) => {
      await expect(guard().check(write(resource, bindingTo(kind, name)))).rejects.toMatchObject({
        status: { code, message },
      });
    },
  );
});
