import type { JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { eachInvalid, forbiddenField, invalidValue, required } from '../../object/field-errors.ts';
import { checkLabelValue, checkQualifiedName } from '../../object/formats.ts';
import { validateLabels } from '../../registry/validate-metadata.ts';
import { part, parts, text } from '../cells.ts';

/** A meta/v1 LabelSelector (Kubernetes: apis/meta/v1/validation, ValidateLabelSelector). */
export function validateLabelSelector(selector: JsonObject, path: string): FieldError[] {
  return [
    ...validateLabels(part(selector, 'matchLabels') as Record<string, string>, `${path}.matchLabels`),
    ...parts(selector, 'matchExpressions').flatMap((requirement, at) =>
      validateRequirement(requirement, `${path}.matchExpressions[${at}]`),
    ),
  ];
}

function validateRequirement(requirement: JsonObject, path: string): FieldError[] {
  const values = Array.isArray(requirement.values) ? requirement.values.map((value) => text(value)) : [];
  const key = text(requirement.key);
  return [
    ...validateOperator(requirement, values.length, path),
    ...eachInvalid(`${path}.key`, key, checkQualifiedName(key)),
    ...values.flatMap((value, at) => eachInvalid(`${path}.values[${at}]`, value, checkLabelValue(value))),
  ];
}

function validateOperator({ operator }: JsonObject, values: number, path: string): FieldError[] {
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
      return [invalidValue(`${path}.operator`, text(operator), 'not a valid selector operator')];
  }
}
