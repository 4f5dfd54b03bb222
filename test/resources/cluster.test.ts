import { describe, expect, test } from 'vitest';
import { clusterroles, roles } from '../../src/resources/rbac/role.ts';
import { clusterrolebindings, rolebindings } from '../../src/resources/rbac/role-binding.ts';
import { created, problemsOnCreate, problemsOnUpdate } from '../kit/manifests.ts';
import { shortened, type Variation } from '../kit/variation-tables.ts';
import { varyAll } from '../kit/variations.ts';

/** Who may do what in the cluster. */

describe('roles', () => {
  const good = { rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] }] };

  test('one that is right in all its fields is taken', () => {
    expect(problemsOnCreate(roles, good)).toEqual([]);
  });

  test.each<Variation>([
    [{ 'rules.0.verbs': [] }, ['rules[0].verbs: Required value: verbs must contain at least one value']],
    [
      { 'rules.0.apiGroups': [], 'rules.0.resources': [] },
      [
        'rules[0].apiGroups: Required value: resource rules must supply at least one api group',
        'rules[0].resources: Required value: resource rules must supply at least one resource',
      ],
    ],
    [
      { 'rules.0': { verbs: ['get'], nonResourceURLs: ['/healthz'] } },
      [
        'rules[0].nonResourceURLs: Invalid value: []string{"/healthz"}: namespaced rules cannot apply to non-resource URLs',
      ],
    ],
    [
      { 'rules.0.nonResourceURLs': ['/healthz'] },
      [
        'rules[0].nonResourceURLs: Invalid value: []string{"/healthz"}: namespaced rules cannot apply to non-resource URLs',
        'rules[0].nonResourceURLs: Invalid value: []string{"/healthz"}: rules cannot apply to both regular resources and non-resource URLs',
      ],
    ],
    [{ metadata: { name: 'a/b' } }, ['metadata.name: Invalid value: "a/b": may not contain \'/\'']],
  ])('%j is refused', (changes, lines) => {
    expect(shortened(problemsOnCreate(roles, varyAll(good, changes)))).toEqual(lines);
  });
});

describe('cluster roles', () => {
  const good = {
    rules: [{ verbs: ['get'], nonResourceURLs: ['/healthz'] }],
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] },
  };

  test('one that is right in all its fields is taken', () => {
    expect(problemsOnCreate(clusterroles, good)).toEqual([]);
  });

  test.each<Variation>([
    [
      { 'rules.0.resources': ['pods'] },
      [
        'rules[0].nonResourceURLs: Invalid value: []string{"/healthz"}: rules cannot apply to both regular resources and non-resource URLs',
      ],
    ],
    [
      { 'aggregationRule.clusterRoleSelectors': [] },
      [
        'aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil',
      ],
    ],
    [
      {
        'aggregationRule.clusterRoleSelectors.0': {
          matchExpressions: [
            { key: 'a', operator: 'In' },
            { key: '-', operator: 'Has' },
            { key: 'a', operator: 'Exists', values: ['b'] },
          ],
        },
      },
      [
        "aggregationRule.clusterRoleSelectors[0].matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
        "aggregationRule.clusterRoleSelectors[0].matchExpressions[1].key: Invalid value: \"-\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
        'aggregationRule.clusterRoleSelectors[0].matchExpressions[1].operator: Invalid value: "Has": not a valid selector operator',
        "aggregationRule.clusterRoleSelectors[0].matchExpressions[2].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
      ],
    ],
    [
      { 'aggregationRule.clusterRoleSelectors.0': { matchLabels: { a: 'b c' } } },
      [
        "aggregationRule.clusterRoleSelectors[0].matchLabels: Invalid value: \"b c\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
      ],
    ],
  ])('%j is refused', (changes, lines) => {
    expect(shortened(problemsOnCreate(clusterroles, varyAll(good, changes)))).toEqual(lines);
  });
});

describe('role bindings', () => {
  const good = {
    roleRef: { kind: 'Role', name: 'reader' },
    subjects: [
      { kind: 'User', name: 'jane' },
      { kind: 'Group', name: 'devs' },
      { kind: 'ServiceAccount', name: 'bot', namespace: 'default' },
    ],
  };

  test('one that is right in all its fields is taken', () => {
    expect(problemsOnCreate(rolebindings, good)).toEqual([]);
  });

  test.each<Variation>([
    [
      { 'roleRef.kind': 'Pod' },
      ['roleRef.kind: Unsupported value: "Pod": supported values: "Role", "ClusterRole"'],
    ],
    [{ 'roleRef.name': 'a/b' }, ['roleRef.name: Invalid value: "a/b": may not contain \'/\'']],
    [
      { 'roleRef.apiGroup': 'apps' },
      ['roleRef.apiGroup: Unsupported value: "apps": supported values: "rbac.authorization.k8s.io"'],
    ],
    [{ 'roleRef.name': undefined }, ['roleRef.name: Required value']],
    [{ 'subjects.0.name': '' }, ['subjects[0].name: Required value']],
    [
      { 'subjects.0.kind': 'Robot' },
      ['subjects[0].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"'],
    ],
    [
      { 'subjects.0.apiGroup': 'apps' },
      ['subjects[0].apiGroup: Unsupported value: "apps": supported values: "rbac.authorization.k8s.io"'],
    ],
    [
      { 'subjects.2.apiGroup': 'rbac.authorization.k8s.io' },
      ['subjects[2].apiGroup: Unsupported value: "rbac.authorization.k8s.io": supported values: ""'],
    ],
    [
      { 'subjects.2.name': 'A' },
      [
        "subjects[2].name: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
      ],
    ],
  ])('%j is refused', (changes, lines) => {
    expect(shortened(problemsOnCreate(rolebindings, varyAll(good, changes)))).toEqual(lines);
  });

  test.each<Variation>([
    [
      { 'roleRef.name': 'writer' },
      [
        'roleRef: Invalid value: rbac.RoleRef{APIGroup:"rbac.authorization.k8s.io", Kind:"Role", Name:"writer"}: cannot change roleRef',
      ],
    ],
    [{ subjects: [] }, []],
  ])('an update to %j is answered as Kubernetes does', (changes, lines) => {
    expect(shortened(problemsOnUpdate(rolebindings, good, varyAll(good, changes)))).toEqual(lines);
  });

  test('users and groups are of the RBAC group unless they say so, service accounts of none', () => {
    const { subjects, roleRef } = created(rolebindings, good);
    expect(roleRef).toEqual({ apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' });
    expect(subjects).toEqual([
      { kind: 'User', name: 'jane', apiGroup: 'rbac.authorization.k8s.io' },
      { kind: 'Group', name: 'devs', apiGroup: 'rbac.authorization.k8s.io' },
      { kind: 'ServiceAccount', name: 'bot', namespace: 'default' },
    ]);
  });

  test('a wide table shows who is bound, by kind', () => {
    const cells = rolebindings.cells(created(rolebindings, good), 0);
    expect(cells).toEqual(['it', 'Role/reader', '<unknown>', 'jane', 'devs', 'default/bot']);
  });
});

describe('cluster role bindings', () => {
  const good = {
    roleRef: { kind: 'ClusterRole', name: 'reader' },
    subjects: [{ kind: 'ServiceAccount', name: 'bot', namespace: 'default' }],
  };

  test('one that is right in all its fields is taken', () => {
    expect(problemsOnCreate(clusterrolebindings, good)).toEqual([]);
  });

  test.each<Variation>([
    [
      { 'roleRef.kind': 'Role' },
      ['roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"'],
    ],
    [{ 'subjects.0.namespace': undefined }, ['subjects[0].namespace: Required value']],
  ])('%j is refused', (changes, lines) => {
    expect(shortened(problemsOnCreate(clusterrolebindings, varyAll(good, changes)))).toEqual(lines);
  });

  test.each<Variation>([
    [
      { 'roleRef.name': 'writer' },
      [
        'roleRef: Invalid value: rbac.RoleRef{APIGroup:"rbac.authorization.k8s.io", Kind:"ClusterRole", Name:"writer"}: cannot change roleRef',
      ],
    ],
  ])('an update to %j is answered as Kubernetes does', (changes, lines) => {
    expect(shortened(problemsOnUpdate(clusterrolebindings, good, varyAll(good, changes)))).toEqual(lines);
  });
});
