import type { ClusterRoleBinding, RoleBinding, RoleRef, Subject } from '../../api/types/rbac/v1.ts';
import { equal } from '../../object/equality.ts';
import type { FieldPath } from '../../object/field-path.ts';
import type { Strategy } from '../../registry/strategy.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn, type Table } from '../define.ts';
import { checked, checkedUpdate } from '../rules/checked.ts';
import { goRoleRef } from '../rules/go-structs.ts';
import { mustBeName, mustBeNamed, mustBeOneOf } from '../rules/name-rules.ts';

/** Both kinds of bindings grant a role to subjects, in a namespace or everywhere. */

const RBAC_GROUP = 'rbac.authorization.k8s.io';
const SUBJECT_KINDS = ['ServiceAccount', 'User', 'Group'];

type Binding = RoleBinding | ClusterRoleBinding;

const table: Table<Binding> = {
  columns: [
    nameColumn(),
    column('Role'),
    column('Age'),
    column('Users', 1),
    column('Groups', 1),
    column('ServiceAccounts', 1),
  ],
  cells: (binding, now) => {
    const { metadata, roleRef = {}, subjects = [] } = binding;
    const namesOf = (kind: string): string[] =>
      subjects
        .filter((subject) => subject.kind === kind)
        .map(({ namespace = '', name = '' }) => (kind === 'ServiceAccount' ? `${namespace}/${name}` : name));
    return [
      metadata.name ?? '',
      `${roleRef.kind ?? ''}/${roleRef.name ?? ''}`,
      age(binding, now),
      namesOf('User').join(', '),
      namesOf('Group').join(', '),
      namesOf('ServiceAccount').join(', '),
    ];
  },
};

/** `roleKinds`: the kinds of roles that a binding of this kind may give. */
const strategyOf = (roleKinds: readonly string[]): Partial<Strategy<Binding>> => ({
  nameRule: 'path-segment',
  allowCreateOnUpdate: true,
  defaults: setDefaults,
  validate: checked((at, { roleRef = {}, subjects }) => {
    validateRoleRef(at.field('roleRef'), roleRef, roleKinds);
    for (const [path, subject] of at.field('subjects').each(subjects))
      validateSubject(path, subject, !roleKinds.includes('Role'));
  }),
  validateUpdate: checkedUpdate(mustKeepRole),
});

export const rolebindings = define<Binding>({
  group: RBAC_GROUP,
  resource: 'rolebindings',
  kind: 'RoleBinding',
  namespaced: true,
  versions: [{ version: 'v1', type: 'rbac/v1.RoleBinding' }],
  table,
  strategy: strategyOf(['Role', 'ClusterRole']),
});

export const clusterrolebindings = define<Binding>({
  group: RBAC_GROUP,
  resource: 'clusterrolebindings',
  kind: 'ClusterRoleBinding',
  namespaced: false,
  versions: [{ version: 'v1', type: 'rbac/v1.ClusterRoleBinding' }],
  table,
  strategy: strategyOf(['ClusterRole']),
});

/** Users and groups belong to the RBAC group, service accounts to the core group. */
function setDefaults({ subjects = [] }: Binding): void {
  for (const subject of subjects)
    if (subject.kind === 'User' || subject.kind === 'Group') subject.apiGroup ||= RBAC_GROUP;
}

/** A binding to another role is another binding: otherwise the right to change subjects would grant any role. */
function mustKeepRole(at: FieldPath, { roleRef }: Binding, old: Binding): void {
  if (!equal(roleRef, old.roleRef))
    at.field('roleRef').invalid(goRoleRef(roleRef ?? {}), 'cannot change roleRef');
}

function validateRoleRef(at: FieldPath, ref: RoleRef, roleKinds: readonly string[]): void {
  const { apiGroup = '', kind = '', name = '' } = ref;
  mustBeOneOf(at.field('apiGroup'), apiGroup, [RBAC_GROUP]);
  mustBeOneOf(at.field('kind'), kind, roleKinds);
  mustBeNamed(at.field('name'), name, 'path-segment');
}

function validateSubject(at: FieldPath, subject: Subject, isClusterWide: boolean): void {
  const { kind = '', apiGroup = '', namespace = '', name = '' } = subject;
  if (name === '') at.field('name').required();
  if (kind === 'ServiceAccount') {
    if (name !== '') mustBeName(at.field('name'), name, 'dns-subdomain');
    mustBeOneOf(at.field('apiGroup'), apiGroup, ['']);
    if (isClusterWide && namespace === '') at.field('namespace').required();
  } else if (kind === 'User' || kind === 'Group') mustBeOneOf(at.field('apiGroup'), apiGroup, [RBAC_GROUP]);
  else at.field('kind').notSupported(kind, SUBJECT_KINDS);
}
