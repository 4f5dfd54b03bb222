import type {
  JobSpec,
  PodFailurePolicy,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyOnPodConditionsPattern,
  PodFailurePolicyRule,
} from '../../../api/types/batch/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { checkQualifiedName } from '../../../object/formats.ts';
import { goList, shown } from '../../../object/go-value.ts';

/** Rules by which failed pods are counted, ignored, or end a job. */

const ACTIONS = ['Count', 'FailIndex', 'FailJob', 'Ignore'];
const OPERATORS = ['In', 'NotIn'];
const STATUSES = ['False', 'True', 'Unknown'];
const MAX_RULES = 20;
const MAX_PATTERNS = 20;
const MAX_EXIT_CODES = 255;

export function validateFailurePolicy(at: FieldPath, { rules }: PodFailurePolicy, spec: JobSpec): void {
  const path = at.field('rules');
  const { containers, initContainers } = spec.template?.spec ?? {};
  const names = [...(containers ?? []), ...(initContainers ?? [])].map(({ name = '' }) => name);
  const size = (rules ?? []).length;
  if (size > MAX_RULES) path.tooMany(size, MAX_RULES);
  for (const [item, rule] of path.each(rules)) {
    validateAction(item.field('action'), rule, spec);
    if (rule.onExitCodes !== undefined) validateExitCodes(item.field('onExitCodes'), rule.onExitCodes, names);
    validatePatterns(item.field('onPodConditions'), rule.onPodConditions ?? []);
    mustHaveOneRequirement(item, rule);
  }
}

/** A value of an enumeration that must be there. */
function mustBeListed(at: FieldPath, value: string, values: readonly string[]): void {
  if (value === '') at.required(`valid values: [${values.map((one) => JSON.stringify(one)).join(' ')}]`);
  else if (!values.includes(value)) at.notSupported(value, values);
}

function validateAction(at: FieldPath, { action = '' }: PodFailurePolicyRule, spec: JobSpec): void {
  if (action === 'FailIndex' && spec.backoffLimitPerIndex === undefined)
    at.invalid(action, 'requires the backoffLimitPerIndex to be set');
  else mustBeListed(at, action, ACTIONS);
}

function mustHaveOneRequirement(at: FieldPath, { onExitCodes, onPodConditions }: PodFailurePolicyRule): void {
  const hasCodes = onExitCodes !== undefined;
  const hasConditions = (onPodConditions ?? []).length > 0;
  if (hasCodes && hasConditions)
    at.invalidUnshown('specifying both OnExitCodes and OnPodConditions is not supported');
  if (!hasCodes && !hasConditions)
    at.invalidUnshown('specifying one of OnExitCodes and OnPodConditions is required');
}

function validateExitCodes(
  at: FieldPath,
  { operator = '', containerName, values }: PodFailurePolicyOnExitCodesRequirement,
  containers: readonly string[],
): void {
  mustBeListed(at.field('operator'), operator, OPERATORS);
  if (containerName !== undefined && !containers.includes(containerName))
    at.field('containerName').invalid(
      containerName,
      'must be one of the container or initContainer names in the pod template',
    );
  validateCodes(at.field('values'), values ?? [], operator);
}

function validateCodes(at: FieldPath, codes: readonly number[], operator: string): void {
  const list = shown(goList('int32', [...codes]));
  if (codes.length === 0) {
    at.invalid(list, 'at least one value is required');
    return;
  }
  if (codes.length > MAX_EXIT_CODES) at.tooMany(codes.length, MAX_EXIT_CODES);
  const seen = new Set<number>();
  for (const [path, code] of at.each(codes)) {
    if (operator === 'In' && code === 0) path.invalid(code, 'must not be 0 for the In operator');
    if (seen.has(code)) path.duplicate(code);
    seen.add(code);
  }
  if (codes.some((code, index) => code < (codes[index - 1] ?? code))) at.invalid(list, 'must be ordered');
}

function validatePatterns(at: FieldPath, patterns: readonly PodFailurePolicyOnPodConditionsPattern[]): void {
  if (patterns.length > MAX_PATTERNS) at.tooMany(patterns.length, MAX_PATTERNS);
  for (const [path, { type = '', status = '' }] of at.each(patterns)) {
    path.field('type').invalidFor(type, checkQualifiedName(type));
    mustBeListed(path.field('status'), status, STATUSES);
  }
}
