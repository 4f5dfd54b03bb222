import type { JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { equal } from '../../object/equality.ts';
import { invalidValue, required } from '../../object/field-errors.ts';
import { checkName } from '../../object/formats.ts';
import { goList, shown } from '../../object/go-value.ts';
import { part, parts, text } from '../../object/parts.ts';
import { has, joinedInvalid } from '../validation/fields.ts';
import { validateSchema } from './validate-schema.ts';
import {
  validateColumns,
  validateDeprecation,
  validateSelectableFields,
  validateSubresources,
} from './validate-version.ts';

const VERSION = 'apiextensions.CustomResourceDefinitionVersion';

export function validateVersions(spec: JsonObject): FieldError[] {
  const versions = parts(spec, 'versions');
  const names = versions.map(({ name }) => text(name));
  const path = 'spec.versions';
  const errors = versions.flatMap((version, at) => [
    ...joinedInvalid(
      `${path}[${at}].name`,
      text(version.name),
      checkName(text(version.name), 'dns-1035-label'),
    ),
    ...validateDeprecation(version, `${path}[${at}]`),
    ...(has(part(version, 'schema'), 'openAPIV3Schema')
      ? []
      : [required(`${path}[${at}].schema.openAPIV3Schema`, 'schemas are required')]),
  ]);
  if (new Set(names).size < names.length)
    errors.push(
      invalidValue(path, shown(goList(VERSION, spec.versions)), 'must contain unique version names'),
    );
  if (versions.filter(({ storage }) => storage === true).length !== 1)
    errors.push(
      invalidValue(
        path,
        shown(goList(VERSION, spec.versions)),
        'must have exactly one version marked as storage version',
      ),
    );
  return [...errors, ...validateContents(versions)];
}

/**
 * What all versions have in common Kubernetes keeps once, outside of them, and names it there: `spec.validation` rather than
 * `spec.versions[0].schema`. With a single version that is all of it.
 */
function validateContents(versions: readonly JsonObject[]): FieldError[] {
  const anyStatus = versions.some(hasStatus);
  return [
    ...eachOnce(versions, { name: 'schema', shared: 'validation' }, (version, path, shared) =>
      validateSchema(part(version, 'schema'), path, shared ? anyStatus : hasStatus(version)),
    ),
    ...eachOnce(versions, { name: 'subresources' }, (version, path) =>
      validateSubresources(part(version, 'subresources'), path),
    ),
    ...eachOnce(versions, { name: 'additionalPrinterColumns' }, (version, path) =>
      validateColumns(parts(version, 'additionalPrinterColumns'), path),
    ),
    ...eachOnce(versions, { name: 'selectableFields' }, validateSelectableFields),
  ];
}

const hasStatus = (version: JsonObject): boolean => has(part(version, 'subresources'), 'status');

function eachOnce(
  versions: readonly JsonObject[],
  { name, shared = name }: { readonly name: string; readonly shared?: string },
  validate: (version: JsonObject, path: string, shared: boolean) => FieldError[],
): FieldError[] {
  const [first] = versions;
  if (first === undefined) return [];
  if (versions.every((version) => equal(version[name], first[name])))
    return validate(first, `spec.${shared}`, true);
  return versions.flatMap((version, at) => validate(version, `spec.versions[${at}].${name}`, false));
}
