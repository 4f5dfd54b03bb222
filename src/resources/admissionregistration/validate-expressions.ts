import type { JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import type { Compiled } from '../../cel/policies/compiled.ts';
import type { PolicyCompiler } from '../../cel/policies/compiler.ts';
import { duplicate, eachInvalid, invalidValue, notSupported, required } from '../../object/field-errors.ts';
import { checkQualifiedName } from '../../object/formats.ts';
import { text } from '../../object/parts.ts';
import { has } from '../validation/fields.ts';

/** The parts of a validating admission policy that carry expressions. */

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

/** What is wrong with an expression; `value` is what the error shows. */
export function compileErrors(compiled: Compiled, field: string, value: string): FieldError[] {
  return compiled.program === undefined ? [invalidValue(field, value, compiled.problem)] : [];
}

/** Each variable is known to what is compiled after it. */
export function validateVariables(
  variables: readonly JsonObject[],
  path: string,
  compiler: PolicyCompiler,
): FieldError[] {
  return variables.flatMap((variable, at) => {
    const name = text(variable.name);
    const errors: FieldError[] = [];
    if (isBlank(name)) errors.push(required(`${path}[${at}].name`, 'name is not specified'));
    else if (!IDENTIFIER.test(name) || RESERVED.has(name))
      errors.push(invalidValue(`${path}[${at}].name`, name, 'name is not a valid CEL identifier'));
    const expression = text(variable.expression);
    const field = `${path}[${at}].expression`;
    if (isBlank(expression)) errors.push(required(field, 'expression is not specified'));
    else errors.push(...compileErrors(compiler.variable(name, expression), field, expression));
    return errors;
  });
}

export function validateValidations(
  validations: readonly JsonObject[],
  path: string,
  compiler: PolicyCompiler,
): FieldError[] {
  return validations.flatMap((validation, at) => validateValidation(validation, `${path}[${at}]`, compiler));
}

function validateValidation(validation: JsonObject, path: string, compiler: PolicyCompiler): FieldError[] {
  const { reason } = validation;
  const expression = text(validation.expression);
  const field = `${path}.expression`;
  const errors: FieldError[] = [];
  if (isBlank(expression)) errors.push(required(field, 'expression is not specified'));
  else errors.push(...compileErrors(compiler.compile(expression, 'bool'), field, expression));
  errors.push(
    ...validateMessageExpression(text(validation.messageExpression), `${path}.messageExpression`, compiler),
  );
  errors.push(...validateMessage(text(validation.message), `${path}.message`));
  if (has(validation, 'reason') && !REASONS.some((known) => known === reason))
    errors.push(notSupported(`${path}.reason`, reason, REASONS));
  return errors;
}

/** It may not ask about rights. */
function validateMessageExpression(expression: string, path: string, compiler: PolicyCompiler): FieldError[] {
  if (expression === '') return [];
  if (isBlank(expression)) return [invalidValue(path, expression, 'must be non-empty if specified')];
  return compileErrors(compiler.compile(expression, 'string', { authorizer: false }), path, expression);
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
  compiler: PolicyCompiler,
): FieldError[] {
  const errors: FieldError[] = [];
  if (annotations.length > MAX_AUDIT_ANNOTATIONS) {
    const why = `must not have more than ${MAX_AUDIT_ANNOTATIONS} auditAnnotations`;
    errors.push(invalidValue(path, annotations, why));
  }
  for (const [at, { key, valueExpression }] of annotations.entries()) {
    const full = `${policyName}/${text(key)}`;
    errors.push(...eachInvalid(`${path}[${at}].key`, full, checkQualifiedName(full)));
    errors.push(
      ...validateValueExpression(text(valueExpression), `${path}[${at}].valueExpression`, compiler),
    );
    if (annotations.findIndex((other) => other.key === key) < at)
      errors.push(duplicate(`${path}[${at}].key`, key));
  }
  return errors;
}

function validateValueExpression(value: string, path: string, compiler: PolicyCompiler): FieldError[] {
  const expression = value.trim();
  if (expression === '') return [required(path, 'valueExpression is not specified')];
  return Buffer.byteLength(expression) > MAX_VALUE_EXPRESSION_BYTES
    ? [required(path, `must not exceed ${MAX_VALUE_EXPRESSION_BYTES} bytes in length`)]
    : compileErrors(compiler.compile(expression, 'string or null'), path, value);
}
