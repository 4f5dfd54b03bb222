import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { invalidValue, notSupported, required } from '../../../object/field-errors.ts';
import { parts, text } from '../../../object/parts.ts';
import { has } from '../../validation/fields.ts';
import { followFieldPath } from './field-path.ts';
import type { Schema } from './node.ts';

/** Validation rules in CEL. Whether they compile, and what they cost, is not checked here. */

const REASONS = [
  'FieldValueDuplicate',
  'FieldValueForbidden',
  'FieldValueInvalid',
  'FieldValueRequired',
] as const;

const isBlank = (value: string): boolean => value.trim() === '';
const hasLineBreak = (value: string): boolean => /[\r\n]/.test(value);

export function validateRules(schema: Schema, path: string): FieldError[] {
  return parts(schema, 'x-kubernetes-validations').flatMap((rule, at) => {
    const field = `${path}.x-kubernetes-validations[${at}]`;
    return [
      ...validateMessage(rule, field),
      ...validateReason(rule, field),
      ...validateFieldPath(text(rule.fieldPath), schema, `${field}.fieldPath`),
    ];
  });
}

function validateMessage(rule: JsonObject, path: string): FieldError[] {
  const [code, message, expression] = [text(rule.rule), text(rule.message), text(rule.messageExpression)];
  const errors: FieldError[] = [];
  if (isBlank(code)) errors.push(required(`${path}.rule`, 'rule is not specified'));
  else if (message !== '' && isBlank(message))
    errors.push(invalidValue(`${path}.message`, message, 'message must be non-empty if specified'));
  else if (hasLineBreak(message.trim()))
    errors.push(invalidValue(`${path}.message`, message, 'message must not contain line breaks'));
  else if (hasLineBreak(code.trim()) && message === '')
    errors.push(required(`${path}.message`, 'message must be specified if rule contains line breaks'));
  if (expression !== '' && isBlank(expression)) {
    const why = 'messageExpression must be non-empty if specified';
    errors.push(required(`${path}.messageExpression`, why));
  }
  return errors;
}

const validateReason = (rule: JsonObject, path: string): FieldError[] =>
  !has(rule, 'reason') || REASONS.some((known) => known === rule.reason)
    ? []
    : [notSupported(`${path}.reason`, rule.reason, REASONS)];

function validateFieldPath(fieldPath: string, schema: Schema, path: string): FieldError[] {
  if (fieldPath === '') return [];
  const errors: FieldError[] = [];
  if (isBlank(fieldPath))
    errors.push(invalidValue(path, fieldPath, 'fieldPath must be non-empty if specified'));
  if (hasLineBreak(fieldPath))
    errors.push(invalidValue(path, fieldPath, 'fieldPath must not contain line breaks'));
  if (followFieldPath(fieldPath, schema, true).kind === 'wrong')
    errors.push(invalidValue(path, fieldPath, 'fieldPath must be a valid path'));
  return errors;
}
