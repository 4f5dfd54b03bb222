import type { ValidationRule } from '../../../api/types/apiextensions/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import {
  additionalSchemaOf,
  hasProperties,
  propertyOf,
  type Schema,
} from '../../../structural/schema-node.ts';
import { mustBeOneOf } from '../../rules/name-rules.ts';

/** Validates CEL rules, except for the slow checks of compilation and cost (validation/compile-rules.ts). */

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
  const subject = subjectOf(at, 'message');
  const { rule: code = '', message = '', messageExpression = '' } = rule;
  if (isBlank(code)) at.field('rule').required('rule is not specified');
  else if (message !== '' && isBlank(message))
    at.field('message').invalid(message, `${subject}must be non-empty if specified`);
  else if (hasLineBreak(message.trim()))
    at.field('message').invalid(message, `${subject}must not contain line breaks`);
  else if (hasLineBreak(code.trim()) && message === '')
    at.field('message').required('message must be specified if rule contains line breaks');
  if (messageExpression !== '' && isBlank(messageExpression))
    at.field('messageExpression').required('messageExpression must be non-empty if specified');
}

/** Until 1.33, sentences begin with the name of the field. */
const subjectOf = (at: FieldPath, name: string): string => (at.minor < 34 ? `${name} ` : '');

function validateFieldPath(at: FieldPath, fieldPath: string, schema: Schema): void {
  if (fieldPath === '') return;
  const subject = subjectOf(at, 'fieldPath');
  if (isBlank(fieldPath)) at.invalid(fieldPath, `${subject}must be non-empty if specified`);
  if (hasLineBreak(fieldPath)) at.invalid(fieldPath, `${subject}must not contain line breaks`);
  if (followFieldReference(fieldPath, schema, true).kind === 'wrong')
    at.invalid(fieldPath, `${subject}must be a valid path`);
}

/** The field that a path such as `.spec.color` or `.spec['my.color']` names in a schema. */
type FieldReference =
  | { readonly kind: 'found'; readonly names: readonly string[]; readonly schema: Schema }
  | { readonly kind: 'wrong'; readonly why: string };

const TOKENS = /'(?:[^'\\]|\\.)*'|[.[\]]|[^.[\]]+/g;
const NO_FIELD = 'does not refer to a valid field';
const END = 'unexpected end of JSON path';

/** `arrays`: whether names in brackets are allowed. */
export function followFieldReference(jsonPath: string, root: Schema, arrays: boolean): FieldReference {
  const tokens = jsonPath.match(TOKENS) ?? [];
  const names: string[] = [];
  let schema = root;
  for (let at = 0; at < tokens.length; ) {
    const step = nameAt(tokens, at, arrays);
    if (typeof step === 'string') return { kind: 'wrong', why: step };
    const next = childOf(schema, step.name);
    if (next === undefined) return { kind: 'wrong', why: NO_FIELD };
    names.push(step.name);
    schema = next;
    at += step.tokens;
  }
  return { kind: 'found', names, schema };
}

/** The name that begins at a token, or an error. */
function nameAt(
  tokens: readonly string[],
  at: number,
  arrays: boolean,
): { readonly name: string; readonly tokens: number } | string {
  const [first = '', name, close] = tokens.slice(at, at + 3);
  if (first === '.') return name === undefined ? END : { name, tokens: 2 };
  if (first !== '[') return `expected [ or . but got: ${first}`;
  if (!arrays) return 'array notation is not allowed';
  if (name === undefined) return END;
  if (!/^'.*'$/s.test(name) || name.length < 2) return `expected single quoted string but got ${name}`;
  if (close === undefined) return END;
  return close === ']'
    ? { name: name.slice(1, -1).replace(/\\(.)/g, '$1'), tokens: 3 }
    : `expected ] but got ${close}`;
}

const childOf = (schema: Schema, name: string): Schema | undefined =>
  hasProperties(schema) ? propertyOf(schema, name) : additionalSchemaOf(schema);
