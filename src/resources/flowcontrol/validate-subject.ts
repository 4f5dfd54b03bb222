import type { JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { eachInvalid, forbiddenField, notSupported, required } from '../../object/field-errors.ts';
import { checkName } from '../../object/formats.ts';
import { part, text } from '../../object/parts.ts';
import { table } from '../../util/table.ts';
import { has } from '../validation/fields.ts';

/** The kinds of subjects and the field each has of its own. */
const FIELDS: Readonly<Record<string, string>> = table({
  Group: 'group',
  ServiceAccount: 'serviceAccount',
  User: 'user',
});

export function validateSubject(subject: JsonObject, path: string): FieldError[] {
  const kind = text(subject.kind);
  const own = FIELDS[kind];
  if (own === undefined) return [notSupported(`${path}.kind`, kind, Object.keys(FIELDS))];
  const others = Object.entries(FIELDS)
    .filter(([, field]) => field !== own && has(subject, field))
    .map(([other, field]) =>
      forbiddenField(`${path}.${field}`, `${field} is forbidden when subject kind is not '${other}'`),
    );
  if (!has(subject, own))
    return [required(`${path}.${own}`, `${own} is required when subject kind is '${kind}'`), ...others];
  const named = part(subject, own);
  return [
    ...(kind === 'ServiceAccount'
      ? validateServiceAccount(named, `${path}.${own}`)
      : validateName(named, `${path}.${own}`)),
    ...others,
  ];
}

const validateName = (named: JsonObject, path: string): FieldError[] =>
  text(named.name) === '' ? [required(`${path}.name`)] : [];

function validateServiceAccount(account: JsonObject, path: string): FieldError[] {
  const name = text(account.name);
  const namespace = text(account.namespace);
  return [
    ...validateName(account, path),
    ...(name === '' || name === '*'
      ? []
      : eachInvalid(`${path}.name`, name, checkName(name, 'dns-subdomain'))),
    ...(namespace === ''
      ? [required(`${path}.namespace`, 'must specify namespace for service account')]
      : eachInvalid(`${path}.namespace`, namespace, checkName(namespace, 'dns-label'))),
  ];
}
