import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { equal } from '../../object/equality.ts';
import { eachInvalid, invalidValue, notSupported, required } from '../../object/field-errors.ts';
import { checkName } from '../../object/formats.ts';
import { part, parts, text } from '../../object/parts.ts';
import { age } from '../cells.ts';
import { column, nameColumn, type StrategyOutline, type Table } from '../define.ts';
import { goRoleRef } from '../validation/go-structs.ts';
import { defaultSubjects, RBAC_GROUP, SUBJECT_KINDS } from './subjects.ts';

/** What role bindings and cluster role bindings have in common. */

export const bindingTable: Table = {
  columns: [
    nameColumn(),
    column('Role'),
    column('Age'),
    column('Users', 1),
    column('Groups', 1),
    column('ServiceAccounts', 1),
  ],
  cells: (binding, now) => {
    const role = part(binding, 'roleRef');
    const subjects = parts(binding, 'subjects');
    const named = (kind: string, nameOf: (subject: JsonObject) => string): string =>
      subjects
        .filter((subject) => subject.kind === kind)
        .map(nameOf)
        .join(', ');
    return [
      binding.metadata.name ?? '',
      `${text(role.kind)}/${text(role.name)}`,
      age(binding, now),
      named('User', ({ name }) => text(name)),
      named('Group', ({ name }) => text(name)),
      named('ServiceAccount', ({ namespace, name }) => `${text(namespace)}/${text(name)}`),
    ];
  },
};

/** `roleKinds`: what a binding of this kind may refer to. */
export const bindingStrategy = (roleKinds: readonly string[]): StrategyOutline => ({
  nameRule: 'path-segment',
  tracksGeneration: false,
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: true,
  defaults: defaultSubjects,
  validate: (binding) => validateBinding(binding, roleKinds),
  validateUpdate: validateBindingUpdate,
});

function validateBinding(binding: ApiObject, roleKinds: readonly string[]): FieldError[] {
  const clusterWide = !roleKinds.includes('Role');
  return [
    ...validateRoleRef(part(binding, 'roleRef'), roleKinds),
    ...parts(binding, 'subjects').flatMap((subject, at) =>
      validateSubject(subject, `subjects[${at}]`, clusterWide),
    ),
  ];
}

/** A binding to another role is another binding: whoever may change subjects could otherwise grant any role. */
function validateBindingUpdate(binding: ApiObject, old: ApiObject): FieldError[] {
  return equal(binding.roleRef, old.roleRef)
    ? []
    : [invalidValue('roleRef', goRoleRef(part(binding, 'roleRef')), 'cannot change roleRef')];
}

function validateRoleRef(ref: JsonObject, roleKinds: readonly string[]): FieldError[] {
  const errors: FieldError[] = [];
  if (ref.apiGroup !== RBAC_GROUP)
    errors.push(notSupported('roleRef.apiGroup', text(ref.apiGroup), [RBAC_GROUP]));
  if (!roleKinds.includes(text(ref.kind)))
    errors.push(notSupported('roleRef.kind', text(ref.kind), roleKinds));
  const name = text(ref.name);
  if (name === '') return [...errors, required('roleRef.name')];
  return [...errors, ...eachInvalid('roleRef.name', name, checkName(name, 'path-segment'))];
}

function validateSubject(subject: JsonObject, path: string, clusterWide: boolean): FieldError[] {
  const name = text(subject.name);
  const errors = name === '' ? [required(`${path}.name`)] : [];
  const group = text(subject.apiGroup);
  switch (subject.kind) {
    case 'ServiceAccount':
      if (name !== '') errors.push(...eachInvalid(`${path}.name`, name, checkName(name, 'dns-subdomain')));
      if (group !== '') errors.push(notSupported(`${path}.apiGroup`, group, ['']));
      if (clusterWide && text(subject.namespace) === '') errors.push(required(`${path}.namespace`));
      return errors;
    case 'User':
    case 'Group':
      if (group !== RBAC_GROUP) errors.push(notSupported(`${path}.apiGroup`, group, [RBAC_GROUP]));
      return errors;
    default:
      return [...errors, notSupported(`${path}.kind`, text(subject.kind), SUBJECT_KINDS)];
  }
}
