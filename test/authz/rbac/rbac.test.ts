import { beforeEach, describe, expect, test } from 'vitest';
import { RbacAuthorizer } from '../../../src/authz/rbac/rbac.ts';
import type { Followed } from '../../../src/storage/follower.ts';
import { asks, asksPath, entry, happens, user } from '../kit.ts';

let rbac: RbacAuthorizer;

beforeEach(() => {
  rbac = new RbacAuthorizer();
});

function index(resource: string): Followed {
  const source = rbac.sources.find((candidate) => candidate.resource.resource === resource);
  if (source === undefined) throw new Error(`nothing follows ${resource}`);
  return source.index;
}

const clusterRole = (name: string, ...rules: object[]) => ({ metadata: { name }, rules });
const role = (namespace: string, name: string, ...rules: object[]) => ({
  metadata: { namespace, name },
  rules,
});
const to = (kind: string, name: string, namespace?: string) => ({
  kind,
  name,
  ...(namespace === undefined ? {} : { namespace }),
});
const binding = (name: string, ref: [string, string], subjects: object[], namespace?: string) => ({
  metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: ref[0], name: ref[1] },
  subjects,
});
const on = (verbs: string, apiGroups: string, resources: string, resourceNames?: string) => ({
  verbs: verbs.split(' '),
  apiGroups: apiGroups.split(' ').map((group) => (group === 'core' ? '' : group)),
  resources: resources.split(' '),
  ...(resourceNames === undefined ? {} : { resourceNames: resourceNames.split(' ') }),
});

/** A cluster in which ann has the rules everywhere. */
function annMay(...rules: object[]): void {
  index('clusterroles').replace([entry(clusterRole('it', ...rules))]);
  index('clusterrolebindings').replace([entry(binding('it', ['ClusterRole', 'it'], [to('User', 'ann')]))]);
}

const ann = user('ann', 'devs');
const may = (...question: Parameters<typeof asks>) => rbac.authorize(asks(...question)).decision === 'allow';
const mayGet = (path: string) => rbac.authorize(asksPath(ann, 'get', path)).decision === 'allow';

describe('rules', () => {
  test('allow the verbs, groups and resources they name and no others', () => {
    annMay(on('get list', 'core apps', 'pods deployments'));
    expect(may(ann, 'get', 'pods')).toBe(true);
    expect(may(ann, 'list', 'deployments.apps', { namespace: 'default' })).toBe(true);
    expect(may(ann, 'watch', 'pods')).toBe(false);
    expect(may(ann, 'get', 'pods.batch')).toBe(false);
    expect(may(ann, 'get', 'services')).toBe(false);
    expect(may(user('bob'), 'get', 'pods')).toBe(false);
  });

  test('a resource does not stand for its subresources; */scale stands for those of every resource', () => {
    annMay(on('get', '*', '*/scale pods pods/log'));
    expect(may(ann, 'get', 'deployments.apps/scale')).toBe(true);
    expect(may(ann, 'get', 'pods/log')).toBe(true);
    expect(may(ann, 'get', 'pods/exec')).toBe(false);
    expect(may(ann, 'get', 'deployments.apps')).toBe(false);
    expect(may(ann, 'get', 'deployments.apps/autoscale')).toBe(false);
  });

  test('* stands for every verb, group and resource, subresources too', () => {
    annMay(on('*', '*', '*'));
    expect(may(ann, 'anything', 'things.example.com/part', { namespace: 'x', name: 'y' })).toBe(true);
    expect(mayGet('/metrics')).toBe(false);
  });

  test('names limit a rule to those objects; requests without a name are not among them', () => {
    annMay(on('get list', 'core', 'secrets', 'one two'));
    expect(may(ann, 'get', 'secrets', { name: 'two' })).toBe(true);
    expect(may(ann, 'get', 'secrets', { name: 'three' })).toBe(false);
    expect(may(ann, 'list', 'secrets')).toBe(false);
  });

  test('groups may be written in either dialect', () => {
    annMay(on('get', 'storage.cluster.io', 'storageclasses'));
    expect(may(ann, 'get', 'storageclasses.storage.k8s.io')).toBe(true);
  });

  test('a URL is matched as it is, or by what stands before its star', () => {
    annMay({ verbs: ['get'], nonResourceURLs: ['/version', '/healthz/*', '/logs**'] });
    expect(mayGet('/version')).toBe(true);
    expect(mayGet('/version/')).toBe(false);
    expect(mayGet('/healthz/etcd')).toBe(true);
    expect(mayGet('/healthz')).toBe(false);
    expect(mayGet('/logs-of-today')).toBe(true);
    expect(rbac.authorize(asksPath(ann, 'post', '/version')).decision).toBe('no-opinion');
    expect(may(ann, 'get', 'pods')).toBe(false);
  });
});

describe('bindings', () => {
  test('reasons name the binding, the role and the subject', () => {
    index('clusterroles').replace([entry(clusterRole('reader', on('get', 'core', 'pods')))]);
    index('roles').replace([entry(role('shop', 'writer', on('create', 'core', 'pods')))]);
    index('clusterrolebindings').replace([
      entry(binding('all', ['ClusterRole', 'reader'], [to('User', 'ann')])),
    ]);
    index('rolebindings').replace([
      entry(binding('devs', ['Role', 'writer'], [to('Group', 'devs')], 'shop')),
      entry(binding('bot', ['ClusterRole', 'reader'], [to('ServiceAccount', 'robot')], 'shop')),
    ]);
    expect(rbac.authorize(asks(ann, 'get', 'pods'))).toEqual({
      decision: 'allow',
      reason: 'RBAC: allowed by ClusterRoleBinding "all" of ClusterRole "reader" to User "ann"',
    });
    expect(rbac.authorize(asks(ann, 'create', 'pods', { namespace: 'shop' })).reason).toBe(
      'RBAC: allowed by RoleBinding "devs/shop" of Role "writer" to Group "devs"',
    );
    const robot = user('system:serviceaccount:shop:robot');
    expect(rbac.authorize(asks(robot, 'get', 'pods', { namespace: 'shop' })).reason).toBe(
      'RBAC: allowed by RoleBinding "bot/shop" of ClusterRole "reader" to ServiceAccount "robot/shop"',
    );
  });

  test('of a namespace hold in it and nowhere else, and for no cluster-scoped request', () => {
    index('clusterroles').replace([entry(clusterRole('reader', on('get', 'core', 'pods nodes')))]);
    index('rolebindings').replace([
      entry(binding('b', ['ClusterRole', 'reader'], [to('User', 'ann')], 'shop')),
    ]);
    expect(may(ann, 'get', 'pods', { namespace: 'shop' })).toBe(true);
    expect(may(ann, 'get', 'pods', { namespace: 'bank' })).toBe(false);
    expect(may(ann, 'get', 'nodes')).toBe(false);
  });

  test('a Role is found in the namespace of its binding only', () => {
    index('roles').replace([entry(role('bank', 'teller', on('get', 'core', 'secrets')))]);
    index('rolebindings').replace([entry(binding('b', ['Role', 'teller'], [to('User', 'ann')], 'shop'))]);
    expect(rbac.authorize(asks(ann, 'get', 'secrets', { namespace: 'shop' }))).toEqual({
      decision: 'no-opinion',
      reason: 'RBAC: role.rbac.authorization.k8s.io "teller" not found',
    });
  });

  test('to roles that do not exist are reported when no other binding allows the request', () => {
    const subjects = [to('User', 'ann')];
    index('clusterroles').replace([entry(clusterRole('reader', on('get', 'core', 'pods')))]);
    index('clusterrolebindings').replace(
      ['gone', 'lost', 'reader', 'gone'].map((name, at) =>
        entry(binding(`b${at}`, ['ClusterRole', name], subjects)),
      ),
    );
    expect(may(ann, 'get', 'pods')).toBe(true);
    expect(rbac.authorize(asks(ann, 'list', 'pods')).reason).toBe(
      'RBAC: [clusterrole.rbac.authorization.k8s.io "gone" not found, clusterrole.rbac.authorization.k8s.io "lost" not found]',
    );
  });

  test('a service account without a namespace in a ClusterRoleBinding matches no user', () => {
    index('clusterroles').replace([entry(clusterRole('reader', on('get', 'core', 'pods')))]);
    const subjects = [to('ServiceAccount', 'a'), to('ServiceAccount', 'b', 'shop')];
    index('clusterrolebindings').replace([entry(binding('x', ['ClusterRole', 'reader'], subjects))]);
    expect(may(user('system:serviceaccount::a'), 'get', 'pods')).toBe(false);
    expect(may(user('system:serviceaccount:shop:b'), 'get', 'pods')).toBe(true);
  });
});

describe('changes', () => {
  test('of roles and bindings are seen by the next decision', () => {
    annMay(on('get', 'core', 'pods'));
    happens(index('clusterroles'), 'MODIFIED', clusterRole('it', on('get', 'core', 'nodes')));
    expect(may(ann, 'get', 'pods')).toBe(false);
    expect(may(ann, 'get', 'nodes')).toBe(true);
    happens(
      index('clusterrolebindings'),
      'MODIFIED',
      binding('it', ['ClusterRole', 'it'], [to('User', 'bob')]),
    );
    expect(may(ann, 'get', 'nodes')).toBe(false);
    expect(may(user('bob'), 'get', 'nodes')).toBe(true);
    happens(index('clusterrolebindings'), 'DELETED', binding('it', ['ClusterRole', 'it'], []));
    expect(may(user('bob'), 'get', 'nodes')).toBe(false);
  });

  test('are seen where a subject has many bindings, too', () => {
    const many = Array.from({ length: 100 }, (_, at) => at);
    index('clusterroles').replace(
      many.map((at) => entry(clusterRole(`r${at}`, on('get', 'core', `x${at}`)))),
    );
    index('clusterrolebindings').replace(
      many.map((at) => entry(binding(`b${at}`, ['ClusterRole', `r${at}`], [to('Group', 'devs')]))),
    );
    expect(many.every((at) => may(ann, 'get', `x${at}`))).toBe(true);
    expect(may(ann, 'get', 'x100')).toBe(false);
    happens(index('clusterroles'), 'MODIFIED', clusterRole('r7', on('get', 'core', 'x100')));
    expect(may(ann, 'get', 'x7')).toBe(false);
    expect(may(ann, 'get', 'x100')).toBe(true);
    happens(index('clusterrolebindings'), 'DELETED', binding('b7', ['ClusterRole', 'r7'], []));
    expect(may(ann, 'get', 'x100')).toBe(false);
    happens(index('clusterroles'), 'DELETED', clusterRole('r8'));
    expect(rbac.authorize(asks(ann, 'get', 'x8')).reason).toBe(
      'RBAC: clusterrole.rbac.authorization.k8s.io "r8" not found',
    );
  });

  test('a new start forgets what is gone, of its own kind only', () => {
    index('roles').replace([entry(role('shop', 'r', on('get', 'core', 'pods')))]);
    index('rolebindings').replace([entry(binding('b', ['Role', 'r'], [to('User', 'ann')], 'shop'))]);
    annMay(on('get', 'core', 'nodes'));
    index('clusterroles').replace([]);
    expect(may(ann, 'get', 'nodes')).toBe(false);
    expect(may(ann, 'get', 'pods', { namespace: 'shop' })).toBe(true);
    index('rolebindings').replace([]);
    expect(may(ann, 'get', 'pods', { namespace: 'shop' })).toBe(false);
  });
});

test('a rules review lists what the user holds in the namespace', () => {
  annMay(on('get', 'core', 'pods', 'web'), { verbs: ['get'], nonResourceURLs: ['/metrics'] });
  index('roles').replace([entry(role('shop', 'r', on('list', 'apps', 'deployments')))]);
  index('rolebindings').replace([
    entry(binding('b', ['Role', 'r'], [to('Group', 'devs')], 'shop')),
    entry(binding('c', ['Role', 'gone'], [to('Group', 'devs')], 'shop')),
  ]);
  expect(rbac.rules(ann, 'shop')).toEqual({
    resourceRules: [
      { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['web'] },
      { verbs: ['list'], apiGroups: ['apps'], resources: ['deployments'] },
    ],
    nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/metrics'] }],
    incomplete: false,
    error: 'role.rbac.authorization.k8s.io "gone" not found',
  });
  expect(rbac.rules(ann, 'bank').resourceRules).toHaveLength(1);
});
