import { describe, expect, test } from 'vitest';
import { MINORS, type Minor } from '../../../src/api/emulation.ts';
import type { ApiObject, JsonObject } from '../../../src/api/object-meta.ts';
import {
  bootstrapPolicy,
  nodeRules,
  reconcileBinding,
  reconcileRole,
} from '../../../src/authz/rbac/bootstrap/bootstrap-policy.ts';
import { uncoveredRules } from '../../../src/authz/rbac/escalation.ts';
import { RbacAuthorizer } from '../../../src/authz/rbac/rbac.ts';
import type { PolicyRule } from '../../../src/authz/rbac/role-rules.ts';
import { aggregatedRules } from '../../../src/controllers/role-aggregation.ts';
import { parseFeatureGates } from '../../../src/options/feature-gates.ts';
import { asks, asksPath, entry, user } from '../kit.ts';

const AUTO_UPDATE = 'rbac.authorization.kubernetes.io/autoupdate';

type AggregatedRole = Parameters<typeof aggregatedRules>[0];

const SINCE_32: readonly Minor[] = [32, 33, 34, 35, 36];
const SIGN_BUNDLES = 'attest certificates.k8s.io/signers';
const PATCH_DEFINITIONS = 'patch apiextensions.k8s.io/customresourcedefinitions/status';

const DEFAULT_GATES = (gate: string): boolean => gate === 'StatefulSetAutoDeletePVC';
const policy = bootstrapPolicy(DEFAULT_GATES);
const rulesOf = (object: JsonObject): PolicyRule[] => (object.rules ?? []) as unknown as PolicyRule[];

function named(objects: readonly ApiObject[], name: string): ApiObject {
  const found = objects.find(({ metadata }) => metadata.name === name);
  if (found === undefined) throw new Error(`the policy has no ${name}`);
  return found;
}

/** All cluster roles, with those that are gathered filled, as the controller leaves them. */
function gathered(): ApiObject[] {
  const roles = structuredClone([...policy.clusterRoles]);
  for (let changed = true; changed; ) {
    changed = false;
    for (const role of roles) {
      const rules = aggregatedRules(role as AggregatedRole, roles as AggregatedRole[]);
      if (rules === undefined) continue;
      role.rules = rules as never;
      changed = true;
    }
  }
  return roles;
}

describe('the default policy', () => {
  test('has the roles and bindings of Kubernetes 1.31 with its default gates, and those of history', () => {
    expect(policy.clusterRoles).toHaveLength(64 + 1);
    expect(policy.clusterRoleBindings).toHaveLength(45 + 1);
    expect(policy.roles).toHaveLength(7);
    expect(policy.roleBindings).toHaveLength(7);
  });

  test('has the rules of each version and of its gates', () => {
    const grants = (minor: Minor, role: string, resource: string): boolean => {
      const { isEnabled } = parseFeatureGates([], '--feature-gates', minor);
      const found = bootstrapPolicy(isEnabled).clusterRoles.find(({ metadata }) => metadata.name === role);
      const words = (found?.rules ?? []).flatMap(({ resources, nonResourceURLs }) => [
        ...(resources ?? []),
        ...(nonResourceURLs ?? []),
      ]);
      return words.includes(resource);
    };
    const versions = (role: string, resource: string): readonly Minor[] =>
      MINORS.filter((minor) => grants(minor, role, resource));
    expect(versions('system:aggregate-to-view', 'resourceclaims')).toEqual([34, 35, 36]);
    expect(versions('system:aggregate-to-edit', 'resourceclaimtemplates')).toEqual([34, 35, 36]);
    expect(versions('system:monitoring', '/flagz')).toEqual([36]);
    expect(versions('system:monitoring', '/statusz')).toEqual([36]);
    expect(versions('system:kubelet-api-admin', 'nodes/healthz')).toEqual([33, 34, 35, 36]);
    expect(versions('system:node', 'serviceaccounts')).toEqual([34, 35, 36]);
    expect(versions('system:controller:selinux-warning-controller', 'pods')).toEqual([33, 34, 35, 36]);
    expect(versions('system:controller:device-taint-eviction-controller', 'pods')).toEqual([36]);
    // Rules for taints have a gate of their own since 1.35.
    expect(versions('system:controller:device-taint-eviction-controller', 'devicetaintrules')).toEqual([]);
    expect(versions('system:aggregate-to-edit', 'pods/resize')).toEqual([]);
    expect(versions('system:aggregate-to-edit', 'endpoints')).toEqual([]);
    expect(versions('system:aggregate-to-view', 'endpoints')).toEqual(MINORS);
    expect(versions('system:monitoring', 'nodes/metrics')).toEqual([34, 35, 36]);
    expect(versions('system:controller:selinux-warning-controller', 'configmaps')).toEqual([36]);
    expect(versions('system:controller:pvc-protection-controller', 'persistentvolumeclaims/status')).toEqual([
      36,
    ]);
    expect(versions('system:controller:device-taint-eviction-controller', 'deviceclasses')).toEqual([36]);
    expect(versions('system:controller:expand-controller', 'secrets')).toEqual([31]);
    expect(versions('system:controller:expand-controller', 'services')).toEqual([31, 32, 33, 34, 35]);
    expect(versions('system:controller:persistent-volume-binder', 'endpoints')).toEqual([31]);
    expect(
      versions('system:controller:volumeattributesclass-protection-controller', 'persistentvolumes'),
    ).toEqual([34, 35, 36]);
    // The scheduler of 1.31 alone wrote them, where its gate was on.
    const withDevices = (minor: Minor) =>
      bootstrapPolicy(
        parseFeatureGates(['DynamicResourceAllocation=true'], '--feature-gates', minor).isEnabled,
      ).clusterRoles.find(({ metadata }) => metadata.name === 'system:kube-scheduler')?.rules ?? [];
    const contexts = (minor: Minor): boolean =>
      withDevices(minor).some(({ resources = [] }) => resources?.includes('podschedulingcontexts'));
    expect([contexts(31), contexts(32)]).toEqual([true, false]);
  });

  test.each<[gates: 'default' | 'all', role: string, right: string, minors: readonly Minor[]]>([
    ['default', 'system:aggregate-to-view', 'get events.k8s.io/events', [35, 36]],
    ['default', 'system:aggregate-to-edit', 'update events.k8s.io/events', [35, 36]],
    ['default', 'system:aggregate-to-edit', 'update core/events', MINORS],
    ['default', 'system:node', 'create events.k8s.io/events', [35, 36]],
    ['default', 'system:node', 'create core/events', MINORS],
    ['default', 'system:monitoring', 'get core/nodes/metrics', [34, 35, 36]],
    ['all', 'system:aggregate-to-view', 'get scheduling.k8s.io/podgroups/status', [36]],
    ['all', 'system:aggregate-to-edit', 'create scheduling.k8s.io/workloads', [36]],
    ['all', 'system:kube-scheduler', 'list scheduling.k8s.io/workloads', [35]],
    ['all', 'system:kube-scheduler', 'get core/pods/finalizers', [31, 32, 33]],
    ['all', 'system:kube-scheduler', 'update core/pods/finalizers', MINORS],
    ['all', 'system:controller:podgroup-protection-controller', 'update scheduling.k8s.io/podgroups', [36]],
    ['default', 'system:controller:podgroup-protection-controller', 'get core/pods', []],
    ['all', 'system:controller:resource-claim-controller', 'patch scheduling.k8s.io/podgroups/status', [36]],
    [
      'all',
      'system:controller:device-taint-eviction-controller',
      'list resource.k8s.io/deviceclasses',
      [33, 34, 35, 36],
    ],
    ['all', 'system:controller:kube-apiserver-serving-clustertrustbundle-publisher', SIGN_BUNDLES, SINCE_32],
    [
      'default',
      'system:controller:pvc-protection-controller',
      'update core/persistentvolumeclaims/status',
      [36],
    ],
    ['default', 'system:controller:selinux-warning-controller', 'create core/configmaps', [36]],
    ['default', 'system:controller:expand-controller', 'get core/secrets', [31]],
    ['default', 'system:controller:expand-controller', 'get core/services', [31, 32, 33, 34, 35]],
    ['default', 'system:controller:persistent-volume-binder', 'create core/endpoints', [31]],
    ['default', 'system:controller:persistent-volume-binder', 'get core/services', [31, 32, 33, 34, 35]],
    ['default', 'system:controller:persistent-volume-binder', 'get core/nodes', [31]],
    ['default', 'system:controller:namespace-controller', 'watch */*', SINCE_32],
    ['all', 'system:controller:storage-version-migrator-controller', 'watch */*', [32, 33, 34]],
    ['all', 'system:controller:storage-version-migrator-controller', PATCH_DEFINITIONS, [36]],
  ])('with %s gates, %s may %s where its version says so', (gates, role, right, minors) => {
    const [verb = '', path = ''] = right.split(' ');
    const [group = '', ...names] = path.split('/');
    const on = gates === 'all' ? ['AllAlpha=true', 'AllBeta=true'] : [];
    const grants = (minor: Minor): boolean => {
      const { clusterRoles } = bootstrapPolicy(parseFeatureGates(on, '--feature-gates', minor).isEnabled);
      return (clusterRoles.find(({ metadata }) => metadata.name === role)?.rules ?? []).some(
        ({ verbs, apiGroups, resources }) =>
          verbs?.includes(verb) === true &&
          apiGroups?.includes(group === 'core' ? '' : group) === true &&
          resources?.includes(names.join('/')) === true,
      );
    };
    expect(MINORS.filter(grants)).toEqual(minors);
  });

  test('a leader is elected with leases alone since 1.35', () => {
    const resources = (minor: Minor): string[] =>
      bootstrapPolicy(parseFeatureGates([], '--feature-gates', minor).isEnabled)
        .roles.filter(({ metadata }) => metadata.name === 'system::leader-locking-kube-scheduler')
        .flatMap(({ rules }) => (rules ?? []).flatMap((rule) => rule.resources ?? []));
    expect(resources(34)).toEqual(['configmaps', 'configmaps', 'leases', 'leasecandidates']);
    expect(resources(35)).toEqual(['leases', 'leasecandidates']);
  });

  test('events are of both groups for users and nodes since 1.35', () => {
    const groupsOf = (minor: Minor, role: string): unknown =>
      bootstrapPolicy(parseFeatureGates([], '--feature-gates', minor).isEnabled)
        .clusterRoles.find(({ metadata }) => metadata.name === role)
        ?.rules?.find(({ resources = [] }) => resources?.includes('events'))?.apiGroups;
    for (const role of ['system:aggregate-to-view', 'system:aggregate-to-edit', 'system:node'])
      expect([groupsOf(34, role), groupsOf(35, role)]).toEqual([[''], ['', 'events.k8s.io']]);
  });

  test('controllers may watch what they list since their lists are streamed', () => {
    const unwatched = (minor: Minor): string[] =>
      bootstrapPolicy(parseFeatureGates([], '--feature-gates', minor).isEnabled)
        .clusterRoles.filter(({ metadata }) => metadata.name?.startsWith('system:controller:') === true)
        .flatMap(({ metadata, rules }) => {
          const all = rules ?? [];
          const watched = (resource: string): boolean =>
            all.some(
              ({ verbs, resources = [] }) => verbs?.includes('watch') && resources?.includes(resource),
            );
          const listed = all.flatMap(({ verbs, resources }) =>
            verbs?.includes('list') ? (resources ?? []) : [],
          );
          return listed.filter((resource) => !watched(resource)).map((name) => `${metadata.name} ${name}`);
        });
    expect(unwatched(31)).toContain('system:controller:namespace-controller *');
    expect([unwatched(32), unwatched(35)]).toEqual([[], []]);
  });

  test('has objects as Kubernetes writes them', () => {
    expect(named(policy.clusterRoles, 'system:kube-dns')).toEqual({
      kind: 'ClusterRole',
      apiVersion: 'rbac.authorization.k8s.io/v1',
      metadata: {
        name: 'system:kube-dns',
        labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults' },
        annotations: { [AUTO_UPDATE]: 'true' },
      },
      rules: [{ verbs: ['list', 'watch'], apiGroups: [''], resources: ['endpoints', 'services'] }],
    });
    expect(named(policy.clusterRoleBindings, 'system:controller:job-controller')).toMatchObject({
      roleRef: {
        apiGroup: 'rbac.authorization.k8s.io',
        kind: 'ClusterRole',
        name: 'system:controller:job-controller',
      },
      subjects: [{ kind: 'ServiceAccount', name: 'job-controller', namespace: 'kube-system' }],
    });
    expect(named(policy.clusterRoles, 'edit')).toMatchObject({
      metadata: { labels: { 'rbac.authorization.k8s.io/aggregate-to-admin': 'true' } },
      aggregationRule: {
        clusterRoleSelectors: [{ matchLabels: { 'rbac.authorization.k8s.io/aggregate-to-edit': 'true' } }],
      },
    });
  });

  test('binds only roles that it has, and has no name twice', () => {
    for (const [bindings, roles] of [
      [policy.clusterRoleBindings, policy.clusterRoles],
      [policy.roleBindings, policy.roles],
    ] as const) {
      const key = ({ metadata }: ApiObject, name = metadata.name) => `${metadata.namespace ?? ''}/${name}`;
      const keys = roles.map((role) => key(role));
      expect(new Set(keys).size).toBe(keys.length);
      for (const binding of bindings) {
        const { name } = binding.roleRef as { name: string };
        expect(keys).toContain(key(binding, name));
      }
    }
  });

  test('has more behind feature gates', () => {
    const jobs = ({ clusterRoles }: typeof policy): unknown =>
      named(clusterRoles, 'system:controller:job-controller').rules;
    expect(jobs(bootstrapPolicy((gate) => gate === 'WorkloadWithJob'))).toContainEqual({
      apiGroups: ['scheduling.k8s.io'],
      resources: ['podgroups', 'workloads'],
      verbs: ['create', 'get', 'list', 'watch'],
    });
    const all = bootstrapPolicy(() => true);
    expect(all.clusterRoles.length - policy.clusterRoles.length).toBe(6);
    expect(nodeRules(() => true).length - nodeRules(() => false).length).toBe(3);
    expect(
      named(bootstrapPolicy(() => false).clusterRoles, 'system:controller:statefulset-controller').rules,
    ).toHaveLength(8);
  });

  test('gathers view into edit and edit into admin', () => {
    const roles = gathered();
    const [view, edit, admin] = ['view', 'edit', 'admin'].map((name) => rulesOf(named(roles, name)));
    expect(uncoveredRules(edit ?? [], view ?? [])).toEqual([]);
    expect(uncoveredRules(admin ?? [], edit ?? [])).toEqual([]);
    expect(uncoveredRules(view ?? [], edit ?? [])).not.toEqual([]);
    expect(uncoveredRules(edit ?? [], admin ?? [])).not.toEqual([]);
  });

  test('decides as a fresh cluster does', () => {
    const rbac = new RbacAuthorizer();
    const objects = [policy.roles, gathered(), policy.roleBindings, policy.clusterRoleBindings];
    for (const [at, { index }] of rbac.sources.entries())
      index.replace((objects[at] ?? []).map((object) => entry(object as Parameters<typeof entry>[0])));
    const decide = (question: Parameters<typeof rbac.authorize>[0]) => rbac.authorize(question).decision;
    const known = user('ann', 'system:authenticated');
    const stranger = user('system:anonymous', 'system:unauthenticated');
    expect(decide(asksPath(stranger, 'get', '/healthz'))).toBe('allow');
    expect(decide(asksPath(stranger, 'get', '/apis'))).toBe('no-opinion');
    expect(decide(asksPath(known, 'get', '/apis/apps/v1'))).toBe('allow');
    expect(decide(asks(known, 'create', 'selfsubjectaccessreviews.authorization.k8s.io'))).toBe('allow');
    expect(decide(asks(known, 'list', 'pods'))).toBe('no-opinion');
    expect(decide(asks(user('root', 'system:masters'), 'delete', 'nodes'))).toBe('allow');
    const controller = user('system:serviceaccount:kube-system:horizontal-pod-autoscaler');
    expect(decide(asks(controller, 'update', 'deployments.apps/scale', { namespace: 'shop' }))).toBe('allow');
    const node = user('system:node:n1', 'system:nodes');
    expect(decide(asks(node, 'get', 'pods', { namespace: 'shop' }))).toBe('no-opinion');
  });
});

describe('reconciling a role', () => {
  const expected = named(policy.clusterRoles, 'system:kube-dns');
  const stored = (): ApiObject => ({
    ...structuredClone(expected),
    metadata: { ...expected.metadata, uid: 'u', resourceVersion: '7' },
  });

  test('creates it when it is missing, and leaves it alone when nothing is', () => {
    expect(reconcileRole(undefined, expected)).toEqual({ kind: 'create', object: expected });
    expect(reconcileRole(stored(), expected)).toEqual({ kind: 'none' });
  });

  test('adds the rules it lacks and keeps those that people added', () => {
    const own = { verbs: ['list'], apiGroups: [''], resources: ['endpoints', 'nodes'] };
    const existing = { ...stored(), rules: [own] };
    expect(reconcileRole(existing, expected)).toMatchObject({
      kind: 'update',
      object: {
        metadata: { uid: 'u', resourceVersion: '7' },
        rules: [
          own,
          { verbs: ['watch'], apiGroups: [''], resources: ['endpoints'] },
          { verbs: ['list'], apiGroups: [''], resources: ['services'] },
          { verbs: ['watch'], apiGroups: [''], resources: ['services'] },
        ],
      },
    });
    expect(existing.rules).toEqual([own]);
  });

  test('leaves a protected one as it is', () => {
    const existing = stored();
    existing.metadata = { ...existing.metadata, annotations: { [AUTO_UPDATE]: 'false' } };
    expect(reconcileRole({ ...existing, rules: [] }, expected)).toEqual({ kind: 'protected' });
    expect(reconcileRole(existing, expected)).toEqual({ kind: 'none' });
  });

  test('adds labels it lacks and keeps the values of others', () => {
    const existing = stored();
    existing.metadata = { ...existing.metadata, labels: { mine: 'yes' } };
    expect(reconcileRole(existing, expected)).toMatchObject({
      kind: 'update',
      object: { metadata: { labels: { mine: 'yes', 'kubernetes.io/bootstrapping': 'rbac-defaults' } } },
    });
  });

  test('adds selectors of an aggregation rule, and takes away a rule that should not be', () => {
    const view = named(policy.clusterRoles, 'view');
    const mine = { matchLabels: { mine: 'yes' } };
    const existing = {
      ...structuredClone(view),
      aggregationRule: { clusterRoleSelectors: [mine] },
      rules: [],
    };
    expect(reconcileRole(existing, view)).toMatchObject({
      kind: 'update',
      object: {
        aggregationRule: {
          clusterRoleSelectors: [
            mine,
            { matchLabels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' } },
          ],
        },
      },
    });
    const gathering = reconcileRole({ ...stored(), aggregationRule: existing.aggregationRule }, expected);
    expect(gathering.kind).toBe('update');
    expect('object' in gathering && 'aggregationRule' in gathering.object).toBe(false);
  });
});

describe('reconciling a binding', () => {
  const expected = named(policy.clusterRoleBindings, 'system:public-info-viewer');
  const group = (name: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name });

  test('adds the subjects it lacks and keeps those that people added', () => {
    const existing = {
      ...structuredClone(expected),
      subjects: [group('mine'), group('system:authenticated')],
    };
    expect(reconcileBinding(existing, expected)).toMatchObject({
      kind: 'update',
      object: { subjects: [group('mine'), group('system:authenticated'), group('system:unauthenticated')] },
    });
    expect(reconcileBinding(structuredClone(expected), expected)).toEqual({ kind: 'none' });
    expect(reconcileBinding(undefined, expected)).toEqual({ kind: 'create', object: expected });
  });

  test('makes one to another role anew, unless it is protected', () => {
    const other = {
      ...structuredClone(expected),
      roleRef: { ...(expected.roleRef as JsonObject), name: 'x' },
    };
    expect(reconcileBinding(other, expected)).toEqual({ kind: 'recreate', object: expected });
    other.metadata = { ...other.metadata, annotations: { [AUTO_UPDATE]: 'false' } };
    expect(reconcileBinding(other, expected)).toEqual({ kind: 'protected' });
  });

  test('a binding without subjects needs none', () => {
    const node = named(policy.clusterRoleBindings, 'system:node');
    expect(node.subjects).toBeUndefined();
    expect(reconcileBinding({ ...structuredClone(node), subjects: [group('system:nodes')] }, node)).toEqual({
      kind: 'none',
    });
  });
});
