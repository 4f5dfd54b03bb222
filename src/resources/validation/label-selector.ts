import type { JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { eachInvalid, forbiddenField, invalidValue, required } from '../../object/field-errors.ts';
import { checkLabelValue, checkQualifiedName } from '../../object/formats.ts';
import { part, parts, text } from '../cells.ts';
import { texts } from './fields.ts';

/** Rules of metav1.LabelSelector (apimachinery, apis/meta/v1/validation). */
export function validateLabelSelector(selector: JsonObject, path: string): FieldError[] {
  const labels = Object.entries(part(selector, 'matchLabels')).flatMap(([key, value]) => [
    ...eachInvalid(`${path}.matchLabels`, key, checkQualifiedName(key)),
    ...eachInvalid(`${path}.matchLabels`, value, checkLabelValue(text(value))),
  ]);
  const expressions = parts(selector, 'matchExpressions').flatMap((expression, at) =>
    validateExpression(expression, `${path}.matchExpressions[${at}]`),
  );
  return [...labels, ...expressions];
}

function validateExpression(expression: JsonObject, path: string): FieldError[] {
  const key = text(expression.key);
  const values = texts(expression, 'values');
  return [
    ...validateOperator(text(expression.operator), values, path),
    ...eachInvalid(`${path}.key`, key, checkQualifiedName(key)),
    ...values.flatMap((value, at) => eachInvalid(`${path}.values[${at}]`, value, checkLabelValue(value))),
  ];
}

function validateOperator(operator: string, values: readonly string[], path: string): FieldError[] {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values.length > 0
        ? []
        : [required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
    case 'Exists':
    case 'DoesNotExist':
      return values.length === 0
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
