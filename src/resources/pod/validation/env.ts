import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { eachInvalid, invalidValue, required } from '../../../object/field-errors.ts';
import { checkConfigMapKey, checkEnvironmentName } from '../../../object/formats.ts';
import { part, text } from '../../cells.ts';
import { each, validateName } from '../../validation/values.ts';
import { FIELDS_OF_VARIABLES, validateFieldRef, validateResourceFieldRef } from './downward-api.ts';

/** Environment variables: one by one, and whole config maps and secrets. */

export function validateEnv(variables: readonly JsonObject[], path: string): FieldError[] {
  return each(variables, path, (variable, at) => {
    const name = text(variable.name);
    return [
      ...(name === ''
        ? [required(`${at}.name`)]
        : eachInvalid(`${at}.name`, name, checkEnvironmentName(name))),
      ...validateValueFrom(variable, `${at}.valueFrom`),
    ];
  });
}

const SOURCES: readonly (readonly [string, (source: JsonObject, path: string) => FieldError[]])[] = [
  ['fieldRef', (source, path) => validateFieldRef(source, FIELDS_OF_VARIABLES, path)],
  ['resourceFieldRef', (source, path) => validateResourceFieldRef(source, path, false)],
  ['configMapKeyRef', validateKeySelector],
  ['secretKeyRef', validateKeySelector],
];

function validateValueFrom(variable: JsonObject, path: string): FieldError[] {
  if (variable.valueFrom === undefined) return [];
  const from = part(variable, 'valueFrom');
  const given = SOURCES.filter(([name]) => from[name] !== undefined);
  const errors = given.flatMap(([name, validate]) => validate(part(from, name), `${path}.${name}`));
  const why = whyNotOne(given.length, text(variable.value) !== '');
  return why === undefined ? errors : [...errors, invalidValue(path, '', why)];
}

function whyNotOne(sources: number, hasValue: boolean): string | undefined {
  if (sources === 0)
    return 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`';
  if (hasValue) return 'may not be specified when `value` is not empty';
  return sources > 1 ? 'may not have more than one field specified at a time' : undefined;
}

function validateKeySelector(selector: JsonObject, path: string): FieldError[] {
  const key = text(selector.key);
  return [
    ...validateName(`${path}.name`, text(selector.name), 'dns-subdomain'),
    ...(key === '' ? [required(`${path}.key`)] : eachInvalid(`${path}.key`, key, checkConfigMapKey(key))),
  ];
}

export function validateEnvFrom(sources: readonly JsonObject[], path: string): FieldError[] {
  return each(sources, path, (source, at) => {
    const prefix = text(source.prefix);
    const given = ['configMapRef', 'secretRef'].filter((name) => source[name] !== undefined);
    const errors = [
      ...(prefix === '' ? [] : eachInvalid(`${at}.prefix`, prefix, checkEnvironmentName(prefix))),
      ...given.flatMap((name) => validateReference(part(source, name), `${at}.${name}.name`)),
    ];
    if (given.length === 0)
      errors.push(invalidValue(path, '', 'must specify one of: `configMapRef` or `secretRef`'));
    if (given.length > 1)
      errors.push(invalidValue(path, '', 'may not have more than one field specified at a time'));
    return errors;
  });
}

function validateReference(reference: JsonObject, path: string): FieldError[] {
  const name = text(reference.name);
  // What is named need not exist yet, so a prefix of a generated name would do as well.
  return name === '' ? [required(path)] : validateName(path, name.replace(/-$/, 'a'), 'dns-subdomain');
}
