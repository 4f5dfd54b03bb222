import type { JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { eachInvalid, forbiddenField, invalidValue, required } from '../../object/field-errors.ts';
import { checkName, checkQualifiedName } from '../../object/formats.ts';
import { parts, text } from '../cells.ts';
import { strings } from './values.ts';

/** Terms of which one must hold of a node. */
export function validateNodeSelector(selector: JsonObject, path: string): FieldError[] {
  const terms = parts(selector, 'nodeSelectorTerms');
  const termsPath = `${path}.nodeSelectorTerms`;
  if (terms.length === 0) return [required(termsPath, 'must have at least one node selector term')];
  return terms.flatMap((term, at) => validateNodeSelectorTerm(term, `${termsPath}[${at}]`));
}

export function validateNodeSelectorTerm(term: JsonObject, path: string): FieldError[] {
  return [
    ...parts(term, 'matchExpressions').flatMap((requirement, at) =>
      validateLabelRequirement(requirement, `${path}.matchExpressions[${at}]`),
    ),
    ...parts(term, 'matchFields').flatMap((requirement, at) =>
      validateFieldRequirement(requirement, `${path}.matchFields[${at}]`),
    ),
  ];
}

function validateLabelRequirement(requirement: JsonObject, path: string): FieldError[] {
  const key = text(requirement.key);
  return [
    ...validateValues(text(requirement.operator), strings(requirement, 'values').length, path),
    ...eachInvalid(`${path}.key`, key, checkQualifiedName(key)),
  ];
}

function validateValues(operator: string, count: number, path: string): FieldError[] {
  const values = `${path}.values`;
  switch (operator) {
    case 'In':
    case 'NotIn':
      return count > 0 ? [] : [required(values, "must be specified when `operator` is 'In' or 'NotIn'")];
    case 'Exists':
    case 'DoesNotExist':
      return count === 0
        ? []
        : [forbiddenField(values, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
    case 'Gt':
    case 'Lt':
      return count === 1
        ? []
        : [required(values, "must be specified single value when `operator` is 'Lt' or 'Gt'")];
    default:
      return [invalidValue(`${path}.operator`, operator, 'not a valid selector operator')];
  }
}

/** Of a node's fields only the name can be selected by. */
function validateFieldRequirement(requirement: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const operator = text(requirement.operator);
  const key = text(requirement.key);
  const values = strings(requirement, 'values');
  if (operator !== 'In' && operator !== 'NotIn') {
    errors.push(invalidValue(`${path}.operator`, operator, 'not a valid selector operator'));
  } else if (values.length !== 1) {
    const why = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
    errors.push(required(`${path}.values`, why));
  }
  if (key !== 'metadata.name') {
    return [...errors, invalidValue(`${path}.key`, key, 'not a valid field selector key')];
  }
  const names = values.flatMap((value, at) =>
    eachInvalid(`${path}.values[${at}]`, value, checkName(value, 'dns-subdomain')),
  );
  return [...errors, ...names];
}
