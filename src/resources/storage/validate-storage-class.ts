import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { equal } from '../../object/equality.ts';
import { duplicate, eachInvalid, notSupported, required } from '../../object/field-errors.ts';
import { checkQualifiedName } from '../../object/formats.ts';
import { part, parts, text } from '../../object/parts.ts';
import { each, strings } from '../validation/values.ts';
import { validateParameters, validateProvisioner } from './validation/class-parameters.ts';

/** Volumes made on demand are not recycled, though the type knows the word. */
const RECLAIM_POLICIES = ['Delete', 'Retain'];

export function validateStorageClass(object: ApiObject): FieldError[] {
  const policy = text(object.reclaimPolicy);
  return [
    ...validateProvisioner(text(object.provisioner), 'provisioner'),
    ...validateParameters(part(object, 'parameters'), 'parameters'),
    ...(policy === '' || RECLAIM_POLICIES.includes(policy)
      ? []
      : [notSupported('reclaimPolicy', policy, RECLAIM_POLICIES)]),
    ...validateTopologies(parts(object, 'allowedTopologies'), 'allowedTopologies'),
  ];
}

/** No two terms may say the same, and none may say nothing. */
function validateTopologies(terms: readonly JsonObject[], path: string): FieldError[] {
  const seen: JsonObject[] = [{}];
  return each(terms, path, (term, at) => {
    const errors = validateTerm(term, `${at}.matchLabelExpressions`);
    const meaning = meaningOf(term);
    if (seen.some((earlier) => equal(earlier, meaning))) {
      errors.push(duplicate(`${at}.matchLabelExpressions`, ''));
    }
    seen.push(meaning);
    return errors;
  });
}

/** Values by key, whatever the order in which they were written. */
const meaningOf = (term: JsonObject): JsonObject =>
  Object.fromEntries(
    parts(term, 'matchLabelExpressions').map((expression) => [
      text(expression.key),
      [...new Set(strings(expression, 'values'))].sort(),
    ]),
  );

function validateTerm(term: JsonObject, path: string): FieldError[] {
  const seen = new Set<string>();
  return each(parts(term, 'matchLabelExpressions'), path, (expression, at) => {
    const key = text(expression.key);
    const errors = [
      ...validateValues(strings(expression, 'values'), `${at}.values`),
      ...eachInvalid(`${at}.key`, key, checkQualifiedName(key)),
      ...(seen.has(key) ? [duplicate(`${at}.key`, key)] : []),
    ];
    seen.add(key);
    return errors;
  });
}

function validateValues(values: readonly string[], path: string): FieldError[] {
  if (values.length === 0) return [required(path)];
  return each(values, path, (value, at, index) =>
    values.indexOf(value) < index ? [duplicate(at, value)] : [],
  );
}
