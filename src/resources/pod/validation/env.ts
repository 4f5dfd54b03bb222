import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { addInvalid, invalidValue, required } from '../../../object/field-errors.ts';
import { checkConfigMapKey, checkEnvironmentName } from '../../../object/formats.ts';
import { objectOf, text } from '../../../object/parts.ts';
import { addName, eachAt } from '../../validation/values.ts';
import { FIELDS_OF_VARIABLES, validateFieldRef, validateResourceFieldRef } from './downward-api.ts';

/** Environment variables: one by one, and whole config maps and secrets. */

export function validateEnv(variables: readonly JsonObject[], path: string, errors: FieldError[]): void {
  eachAt(variables, path, (variable, at) => {
    const name = text(variable.name);
    if (name === '') errors.push(required(`${at}.name`));
    else addInvalid(errors, `${at}.name`, name, checkEnvironmentName(name));
    if (variable.valueFrom !== undefined) validateValueFrom(variable, `${at}.valueFrom`, errors);
  });
}

function validateValueFrom(variable: JsonObject, path: string, errors: FieldError[]): void {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = objectOf(variable.valueFrom);
  let sources = 0;
  if (fieldRef !== undefined) {
    errors.push(...validateFieldRef(objectOf(fieldRef), FIELDS_OF_VARIABLES, `${path}.fieldRef`));
    sources += 1;
  }
  if (resourceFieldRef !== undefined) {
    const at = `${path}.resourceFieldRef`;
    errors.push(...validateResourceFieldRef(objectOf(resourceFieldRef), at, false));
    sources += 1;
  }
  if (configMapKeyRef !== undefined) {
    validateKeySelector(objectOf(configMapKeyRef), `${path}.configMapKeyRef`, errors);
    sources += 1;
  }
  if (secretKeyRef !== undefined) {
    validateKeySelector(objectOf(secretKeyRef), `${path}.secretKeyRef`, errors);
    sources += 1;
  }
  const why = whyNotOne(sources, text(variable.value) !== '');
  if (why !== undefined) errors.push(invalidValue(path, '', why));
}

function whyNotOne(sources: number, hasValue: boolean): string | undefined {
  if (sources === 0)
    return 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`';
  if (hasValue) return 'may not be specified when `value` is not empty';
  return sources > 1 ? 'may not have more than one field specified at a time' : undefined;
}

function validateKeySelector(selector: JsonObject, path: string, errors: FieldError[]): void {
  const key = text(selector.key);
  addName(errors, `${path}.name`, text(selector.name), 'dns-subdomain');
  if (key === '') errors.push(required(`${path}.key`));
  else addInvalid(errors, `${path}.key`, key, checkConfigMapKey(key));
}

const WHOLE = ['configMapRef', 'secretRef'];

export function validateEnvFrom(sources: readonly JsonObject[], path: string, errors: FieldError[]): void {
  eachAt(sources, path, (source, at) => {
    const prefix = text(source.prefix);
    if (prefix !== '') addInvalid(errors, `${at}.prefix`, prefix, checkEnvironmentName(prefix));
    const given = WHOLE.filter((name) => source[name] !== undefined);
    for (const name of given) validateReference(objectOf(source[name]), `${at}.${name}.name`, errors);
    if (given.length === 0)
      errors.push(invalidValue(path, '', 'must specify one of: `configMapRef` or `secretRef`'));
    if (given.length > 1)
      errors.push(invalidValue(path, '', 'may not have more than one field specified at a time'));
  });
}

function validateReference(reference: JsonObject, path: string, errors: FieldError[]): void {
  const name = text(reference.name);
  // What is named need not exist yet, so a prefix of a generated name would do as well.
  if (name === '') errors.push(required(path));
  else addName(errors, path, name.replace(/-$/, 'a'), 'dns-subdomain');
}
