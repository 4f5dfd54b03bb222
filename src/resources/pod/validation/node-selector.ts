import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { eachInvalid, forbiddenField, invalidValue, required } from '../../../object/field-errors.ts';
import { checkQualifiedName } from '../../../object/formats.ts';
import { parts, text } from '../../../object/parts.ts';
import { each, strings, validateName } from '../../validation/values.ts';

/** A NodeSelector: nodes for which one of its terms holds. Volumes have one, too. */
export function validateNodeSelector(selector: JsonObject, path: string): FieldError[] {
  const terms = parts(selector, 'nodeSelectorTerms');
  const at = `${path}.nodeSelectorTerms`;
  if (terms.length === 0) return [required(at, 'must have at least one node selector term')];
  return each(terms, at, validateNodeSelectorTerm);
}

export function validateNodeSelectorTerm(term: JsonObject, path: string): FieldError[] {
  return [
    ...each(parts(term, 'matchExpressions'), `${path}.matchExpressions`, validateExpression),
    ...each(parts(term, 'matchFields'), `${path}.matchFields`, validateField),
  ];
}

function validateExpression(requirement: JsonObject, path: string): FieldError[] {
  const key = text(requirement.key);
  return [...validateValues(requirement, path), ...eachInvalid(`${path}.key`, key, checkQualifiedName(key))];
}

function validateValues(requirement: JsonObject, path: string): FieldError[] {
  const amount = strings(requirement, 'values').length;
  const at = `${path}.values`;
  switch (requirement.operator) {
    case 'In':
    case 'NotIn':
      return amount > 0 ? [] : [required(at, "must be specified when `operator` is 'In' or 'NotIn'")];
    case 'Exists':
    case 'DoesNotExist':
      return amount === 0
        ? []
        : [forbiddenField(at, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
    case 'Gt':
    case 'Lt':
      return amount === 1
        ? []
        : [required(at, "must be specified single value when `operator` is 'Lt' or 'Gt'")];
    default:
      return [unknownOperator(requirement, path)];
  }
}

const unknownOperator = ({ operator }: JsonObject, path: string): FieldError =>
  invalidValue(`${path}.operator`, text(operator), 'not a valid selector operator');

/** Of the fields of a node only its name can be asked for, one at a time. */
function validateField(requirement: JsonObject, path: string): FieldError[] {
  const values = strings(requirement, 'values');
  const errors: FieldError[] = [];
  if (requirement.operator !== 'In' && requirement.operator !== 'NotIn')
    errors.push(unknownOperator(requirement, path));
  else if (values.length !== 1) {
    const why = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
    errors.push(required(`${path}.values`, why));
  }
  if (requirement.key !== 'metadata.name') {
    const why = 'not a valid field selector key';
    return [...errors, invalidValue(`${path}.key`, text(requirement.key), why)];
  }
  const names = each(values, `${path}.values`, (value, at) => validateName(at, value, 'dns-subdomain'));
  return [...errors, ...names];
}
