import type { JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { duplicate, eachInvalid, invalidValue, notSupported, required } from '../../object/field-errors.ts';
import { checkQualifiedName } from '../../object/formats.ts';
import { text } from '../../object/parts.ts';
import { has } from '../validation/fields.ts';

/** The parts of a validating admission policy that carry expressions. Whether an expression compiles is not checked here. */

const REASONS = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'] as const;
const MAX_AUDIT_ANNOTATIONS = 20;
const MAX_VALUE_EXPRESSION_BYTES = 5 * 1024;
const IDENTIFIER = /^[_a-zA-Z][_a-zA-Z0-9]*$/;
/** Words the grammar of CEL keeps for itself. */
const RESERVED: ReadonlySet<string> = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

const isBlank = (value: string): boolean => value.trim() === '';

export function validateVariables(variables: readonly JsonObject[], path: string): FieldError[] {
  return variables.flatMap((variable, at) => {
    const name = text(variable.name);
    const errors: FieldError[] = [];
    if (isBlank(name)) errors.push(required(`${path}[${at}].name`, 'name is not specified'));
    else if (!IDENTIFIER.test(name) || RESERVED.has(name))
      errors.push(invalidValue(`${path}[${at}].name`, name, 'name is not a valid CEL identifier'));
    if (isBlank(text(variable.expression)))
      errors.push(required(`${path}[${at}].expression`, 'expression is not specified'));
    return errors;
  });
}

export function validateValidations(validations: readonly JsonObject[], path: string): FieldError[] {
  return validations.flatMap((validation, at) => validateValidation(validation, `${path}[${at}]`));
}

function validateValidation(validation: JsonObject, path: string): FieldError[] {
  const { reason } = validation;
  const messageExpression = text(validation.messageExpression);
  const errors: FieldError[] = [];
  if (isBlank(text(validation.expression)))
    errors.push(required(`${path}.expression`, 'expression is not specified'));
  if (messageExpression !== '' && isBlank(messageExpression)) {
    const why = 'must be non-empty if specified';
    errors.push(invalidValue(`${path}.messageExpression`, messageExpression, why));
  }
  errors.push(...validateMessage(text(validation.message), `${path}.message`));
  if (has(validation, 'reason') && !REASONS.some((known) => known === reason))
    errors.push(notSupported(`${path}.reason`, reason, REASONS));
  return errors;
}

function validateMessage(message: string, path: string): FieldError[] {
  if (message === '') return [];
  if (isBlank(message)) return [invalidValue(path, message, 'message must be non-empty if specified')];
  return /[\r\n]/.test(message.trim())
    ? [invalidValue(path, message, 'message must not contain line breaks')]
    : [];
}

/** The key of an annotation is `<policy name>/<key>`. */
export function validateAuditAnnotations(
  annotations: readonly JsonObject[],
  policyName: string,
  path: string,
): FieldError[] {
  const errors: FieldError[] = [];
  if (annotations.length > MAX_AUDIT_ANNOTATIONS) {
    const why = `must not have more than ${MAX_AUDIT_ANNOTATIONS} auditAnnotations`;
    errors.push(invalidValue(path, annotations, why));
  }
  for (const [at, { key, valueExpression }] of annotations.entries()) {
    const full = `${policyName}/${text(key)}`;
    errors.push(...eachInvalid(`${path}[${at}].key`, full, checkQualifiedName(full)));
    errors.push(...validateValueExpression(text(valueExpression).trim(), `${path}[${at}].valueExpression`));
    if (annotations.findIndex((other) => other.key === key) < at)
      errors.push(duplicate(`${path}[${at}].key`, key));
  }
  return errors;
}

function validateValueExpression(expression: string, path: string): FieldError[] {
  if (expression === '') return [required(path, 'valueExpression is not specified')];
  return Buffer.byteLength(expression) > MAX_VALUE_EXPRESSION_BYTES
    ? [required(path, `must not exceed ${MAX_VALUE_EXPRESSION_BYTES} bytes in length`)]
    : [];
}
