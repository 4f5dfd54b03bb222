import type { JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { eachInvalid, forbiddenField, invalidValue, required } from '../../object/field-errors.ts';
import { checkLabelValue, checkQualifiedName } from '../../object/formats.ts';
import { part, parts, text } from '../../object/parts.ts';
import { validateLabels } from '../../registry/validate-metadata.ts';
import { each, stringMap, strings } from './values.ts';

/** A LabelSelector, wherever it stands (apimachinery, apis/meta/v1/validation). */
export function validateLabelSelector(selector: JsonObject, path: string): FieldError[] {
  return [
    ...validateLabels(stringMap(selector, 'matchLabels'), `${path}.matchLabels`),
    ...each(parts(selector, 'matchExpressions'), `${path}.matchExpressions`, validateRequirement),
  ];
}

/** The selector in a field that may be absent. */
export function validateOptionalSelector(parent: JsonObject, field: string, path: string): FieldError[] {
  return parent[field] === undefined ? [] : validateLabelSelector(part(parent, field), `${path}.${field}`);
}

function validateRequirement(requirement: JsonObject, path: string): FieldError[] {
  const key = text(requirement.key);
  return [
    ...validateOperator(requirement, path),
    ...eachInvalid(`${path}.key`, key, checkQualifiedName(key)),
    ...each(strings(requirement, 'values'), `${path}.values`, (value, at) =>
      eachInvalid(at, value, checkLabelValue(value)),
    ),
  ];
}

function validateOperator(requirement: JsonObject, path: string): FieldError[] {
  const values = strings(requirement, 'values').length;
  const operator = text(requirement.operator);
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values > 0
        ? []
        : [required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
    case 'Exists':
    case 'DoesNotExist':
      return values === 0
        ? []
        : [
            forbiddenField(
              `${path}.values`,
              "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            ),
          ];
    default:
      return [invalidValue(`${path}.operator`, operator, 'not a valid selector operator')];
  }
}
