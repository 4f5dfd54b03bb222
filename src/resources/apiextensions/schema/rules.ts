import type { ValidationRule } from '../../../api/types/apiextensions/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { mustBeOneOf } from '../../rules/names.ts';
import { followFieldReference } from './field-reference.ts';
import type { Schema } from './node.ts';

/** Validation rules in CEL. Whether they compile, and what they cost, is not checked here. */

const REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];

const isBlank = (value: string): boolean => value.trim() === '';
const hasLineBreak = (value: string): boolean => /[\r\n]/.test(value);

export function validateRules(at: FieldPath, schema: Schema): void {
  const rules = schema['x-kubernetes-validations'];
  if (rules === undefined) return;
  for (const [path, rule] of at.field('x-kubernetes-validations').each(rules)) {
    validateMessage(path, rule);
    mustBeOneOf(path.field('reason'), rule.reason, REASONS);
    validateFieldPath(path.field('fieldPath'), rule.fieldPath ?? '', schema);
  }
}

function validateMessage(at: FieldPath, rule: ValidationRule): void {
  const { rule: code = '', message = '', messageExpression = '' } = rule;
  if (isBlank(code)) at.field('rule').required('rule is not specified');
  else if (message !== '' && isBlank(message))
    at.field('message').invalid(message, 'message must be non-empty if specified');
  else if (hasLineBreak(message.trim()))
    at.field('message').invalid(message, 'message must not contain line breaks');
  else if (hasLineBreak(code.trim()) && message === '')
    at.field('message').required('message must be specified if rule contains line breaks');
  if (messageExpression !== '' && isBlank(messageExpression))
    at.field('messageExpression').required('messageExpression must be non-empty if specified');
}

function validateFieldPath(at: FieldPath, fieldPath: string, schema: Schema): void {
  if (fieldPath === '') return;
  if (isBlank(fieldPath)) at.invalid(fieldPath, 'fieldPath must be non-empty if specified');
  if (hasLineBreak(fieldPath)) at.invalid(fieldPath, 'fieldPath must not contain line breaks');
  if (followFieldReference(fieldPath, schema, true).kind === 'wrong')
    at.invalid(fieldPath, 'fieldPath must be a valid path');
}
