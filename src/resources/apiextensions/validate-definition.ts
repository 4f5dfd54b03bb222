import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { equal } from '../../object/equality.ts';
import { invalidValue, notSupported, required } from '../../object/field-errors.ts';
import { checkName } from '../../object/formats.ts';
import { part, parts, text } from '../../object/parts.ts';
import { has, joinedInvalid } from '../validation/fields.ts';
import { validateImmutableField } from '../validation/immutable.ts';
import { strings } from '../validation/values.ts';
import { validateApproval } from './approval.ts';
import { someSchema } from './schema/node.ts';
import { validateAuthorities, validateConversion } from './validate-conversion.ts';
import { validateNames, validateNamesGiven } from './validate-names.ts';
import { validateVersions } from './validate-versions.ts';

const SCOPES = ['Cluster', 'Namespaced'] as const;

export function validateDefinition(definition: ApiObject): FieldError[] {
  const spec = part(definition, 'spec');
  const names = part(spec, 'names');
  const { name = '' } = definition.metadata;
  const wanted = `${text(names.plural)}.${text(spec.group)}`;
  return [
    ...(name === wanted
      ? []
      : [invalidValue('metadata.name', name, 'must be spec.names.plural+"."+spec.group')]),
    ...validateGroup(text(spec.group)),
    ...validateScope(text(spec.scope)),
    ...validateVersions(spec),
    ...validateNamesGiven(names, 'spec.names'),
    ...validateNames(names, 'spec.names'),
    ...validateConversion(spec),
    ...validatePreservation(spec),
    ...validateNames(part(definition, 'status', 'acceptedNames'), 'status.acceptedNames'),
    ...validateStoredVersions(definition),
    ...validateApproval(definition),
  ];
}

function validateGroup(group: string): FieldError[] {
  const reasons = group === '' ? [] : checkName(group, 'dns-subdomain');
  if (group === '') return [required('spec.group')];
  if (reasons.length > 0) return joinedInvalid('spec.group', group, reasons);
  return group.includes('.')
    ? []
    : [invalidValue('spec.group', group, 'should be a domain with at least one dot')];
}

function validateScope(scope: string): FieldError[] {
  if (scope === '') return [required('spec.scope')];
  return SCOPES.some((known) => known === scope) ? [] : [notSupported('spec.scope', scope, SCOPES)];
}

/** What v1beta1 could do for all fields at once, a schema says of each. */
function validatePreservation(spec: JsonObject): FieldError[] {
  if (spec.preserveUnknownFields !== true) return [];
  const path = 'spec.preserveUnknownFields';
  const defaulted = parts(spec, 'versions').some((version) =>
    someSchema(part(version, 'schema', 'openAPIV3Schema'), (schema) => has(schema, 'default')),
  );
  const why =
    'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
  return [
    ...(defaulted ? [invalidValue(path, true, 'must be false in order to use defaults in the schema')] : []),
    invalidValue(path, true, why),
  ];
}

/** Versions in which objects may still be stored must stay known. */
function validateStoredVersions(definition: ApiObject): FieldError[] {
  const path = 'status.storedVersions';
  const stored = strings(part(definition, 'status'), 'storedVersions');
  if (stored.length === 0) return [invalidValue(path, stored, 'must have at least one stored version')];
  const versions = parts(part(definition, 'spec'), 'versions');
  const unstored = versions.filter(({ name, storage }) => storage === true && !stored.includes(text(name)));
  const known = versions.map(({ name }) => name);
  return [
    ...unstored.map(({ name }) => invalidValue(path, stored, `must have the storage version ${text(name)}`)),
    ...stored.flatMap((name, at) =>
      known.includes(name) ? [] : [invalidValue(`${path}[${at}]`, name, 'must appear in spec.versions')],
    ),
  ];
}

/** Group and plural make up the name; scope and kind are in every stored object, so they stay once there may be any. */
export function validateDefinitionUpdate(definition: ApiObject, old: ApiObject): FieldError[] {
  const [spec, before] = [part(definition, 'spec'), part(old, 'spec')];
  const [names, namesBefore] = [part(spec, 'names'), part(before, 'names')];
  const established = isEstablished(old);
  return [
    ...(established
      ? [
          ...validateImmutableField('spec.scope', spec.scope, before.scope),
          ...validateImmutableField('spec.names.kind', names.kind, namesBefore.kind),
          ...validateAuthorities(definition, old),
        ]
      : []),
    ...validateImmutableField('spec.group', spec.group, before.group),
    ...validateImmutableField('spec.names.plural', names.plural, namesBefore.plural),
  ];
}

const isEstablished = (definition: ApiObject): boolean =>
  parts(part(definition, 'status'), 'conditions').some((condition) =>
    equal([condition.type, condition.status], ['Established', 'True']),
  );
