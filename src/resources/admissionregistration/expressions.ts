import { type Gates, minorOf, newestForExpressions } from '../../api/feature-gates.ts';
import type { JsonValue } from '../../api/object-meta.ts';
import type {
  AuditAnnotation,
  Mutation,
  Validation,
  Variable,
} from '../../api/types/admissionregistration/v1.ts';
import type { Gives, NewPolicy, PolicyCompiler } from '../../cel/policies/compiler.ts';
import type { Compiled } from '../../cel/program.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { checkQualifiedName } from '../../object/text-formats.ts';
import { mustBeOneOf } from '../rules/name-rules.ts';

/** The parts of admission policies that carry expressions. */

/** What the expressions of a policy may use, of which `stored` is there already. */
export const newExpressions = (isOn: Gates, stored?: JsonValue): NewPolicy => ({
  minor: minorOf(isOn),
  newest: newestForExpressions(isOn),
  stored: new Set(textsIn(stored)),
});

/** All texts, trimmed as expressions are: one that is no expression is compiled nowhere. */
function* textsIn(value: JsonValue | undefined): Generator<string> {
  if (typeof value === 'string') {
    yield value;
    yield value.trim();
  } else if (typeof value === 'object' && value !== null)
    for (const inner of Object.values(value)) yield* textsIn(inner);
}

const isBlank = (value: string): boolean => value.trim() === '';

/** `value`: shown in the error. */
export function mustCompile(at: FieldPath, compiled: Compiled, value: string): void {
  if (compiled.program !== undefined) return;
  if (compiled.isInternal === true) at.internal(compiled.problem);
  else at.invalid(value, compiled.problem);
}

const IDENTIFIER = /^[_a-zA-Z][_a-zA-Z0-9]*$/;
/** Words the grammar of CEL keeps for itself. */
const RESERVED: ReadonlySet<string> = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

/** Each is compiled with all before it as its types: 250 take 50 ms, 2,000 take 600. Kubernetes has no limit. */
const MAX_VARIABLES = 250;

/** Returns whether expressions that use the variables can be compiled. */
export function validateVariables(
  at: FieldPath,
  variables: readonly Variable[] = [],
  compiler: PolicyCompiler,
): boolean {
  if (variables.length > MAX_VARIABLES) {
    at.tooMany(variables.length, MAX_VARIABLES);
    return false;
  }
  for (const [path, variable] of at.each(variables)) validateVariable(path, variable, compiler);
  return true;
}

/** Later expressions can use the variable. */
function validateVariable(at: FieldPath, variable: Variable, compiler: PolicyCompiler): void {
  const { name = '', expression = '' } = variable;
  if (isBlank(name)) at.field('name').required('name is not specified');
  else if (!IDENTIFIER.test(name) || RESERVED.has(name))
    at.field('name').invalid(
      name,
      at.minor < 34 ? 'name is not a valid CEL identifier' : 'must be a valid CEL identifier',
    );
  if (isBlank(expression)) at.field('expression').required('expression is not specified');
  else mustCompile(at.field('expression'), compiler.variable(name, expression), expression);
}

/** The parts of a validating policy. */

const REASONS = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];

export function validateValidation(at: FieldPath, validation: Validation, compiler: PolicyCompiler): void {
  const { expression = '', messageExpression = '', message = '', reason } = validation;
  if (isBlank(expression)) at.field('expression').required('expression is not specified');
  else mustCompile(at.field('expression'), compiler.compile(expression, 'bool'), expression);
  validateMessageExpression(at.field('messageExpression'), messageExpression, compiler);
  validateMessage(at.field('message'), message);
  mustBeOneOf(at.field('reason'), reason, REASONS);
}

/** The expression cannot ask about rights. */
function validateMessageExpression(at: FieldPath, expression: string, compiler: PolicyCompiler): void {
  if (expression === '') return;
  if (isBlank(expression)) at.invalid(expression, 'must be non-empty if specified');
  else mustCompile(at, compiler.compile(expression, 'string', { authorizer: false }), expression);
}

function validateMessage(at: FieldPath, message: string): void {
  if (message === '') return;
  const subject = at.minor < 34 ? 'message ' : '';
  if (isBlank(message)) at.invalid(message, `${subject}must be non-empty if specified`);
  else if (/[\r\n]/.test(message.trim())) at.invalid(message, `${subject}must not contain line breaks`);
}

const MAX_AUDIT_ANNOTATIONS = 20;

/** The key of an annotation is `<policy name>/<key>`. */
export function validateAuditAnnotations(
  at: FieldPath,
  annotations: readonly AuditAnnotation[],
  { policyName, compiler }: { readonly policyName: string; readonly compiler: PolicyCompiler },
): void {
  if (annotations.length > MAX_AUDIT_ANNOTATIONS)
    at.invalid(annotations, `must not have more than ${MAX_AUDIT_ANNOTATIONS} auditAnnotations`);
  const seen = new Set<string>();
  for (const [path, { key = '', valueExpression = '' }] of at.each(annotations)) {
    const fullKey = `${policyName}/${key}`;
    path.field('key').invalidFor(fullKey, checkQualifiedName(fullKey));
    validateValueExpression(path.field('valueExpression'), valueExpression, compiler);
    if (seen.has(key)) path.field('key').duplicate(key);
    seen.add(key);
  }
}

const MAX_VALUE_EXPRESSION_BYTES = 5 * 1024;

function validateValueExpression(at: FieldPath, value: string, compiler: PolicyCompiler): void {
  const expression = value.trim();
  if (expression === '') at.required('valueExpression is not specified');
  else if (Buffer.byteLength(expression) > MAX_VALUE_EXPRESSION_BYTES)
    at.required(`must not exceed ${MAX_VALUE_EXPRESSION_BYTES} bytes in length`);
  else mustCompile(at, compiler.compile(expression, 'string or null'), value);
}

/** A change of a mutating policy. */
export function validateMutation(at: FieldPath, mutation: Mutation, compiler: PolicyCompiler): void {
  const { patchType = '', applyConfiguration, jsonPatch } = mutation;
  if (patchType === '') at.field('patchType').required();
  // The type itself refuses other values.
  if (patchType === 'ApplyConfiguration') {
    const made = {
      field: 'applyConfiguration',
      patch: applyConfiguration,
      gives: 'apply configuration',
    } as const;
    validatePatch(at, made, patchType, compiler);
    mustNotBeGiven(at, { field: 'jsonPatch', patch: jsonPatch }, patchType);
  } else if (patchType === 'JSONPatch') {
    validatePatch(at, { field: 'jsonPatch', patch: jsonPatch, gives: 'JSON patch' }, patchType, compiler);
    mustNotBeGiven(at, { field: 'applyConfiguration', patch: applyConfiguration }, patchType);
  }
}

interface GivenPatch {
  readonly field: string;
  readonly patch: { readonly expression?: string } | undefined;
}

function mustNotBeGiven(at: FieldPath, { field, patch }: GivenPatch, patchType: string): void {
  if (patch !== undefined)
    at.field(field).invalid(`{${field}}`, `must not be specified when patchType is ${patchType}`);
}

function validatePatch(
  at: FieldPath,
  { field, patch, gives }: GivenPatch & { readonly gives: Gives },
  patchType: string,
  compiler: PolicyCompiler,
): void {
  const path = at.field(field);
  if (patch === undefined) {
    path.required(`must be specified when patchType is ${patchType}`);
    return;
  }
  const expression = (patch.expression ?? '').trim();
  if (expression === '') path.field('expression').required();
  else mustCompile(path.field('expression'), compiler.compile(expression, gives), expression);
}
