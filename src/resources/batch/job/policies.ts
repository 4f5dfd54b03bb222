import type {
  JobSpec,
  PodFailurePolicy,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyOnPodConditionsPattern,
  PodFailurePolicyRule,
  SuccessPolicy,
  SuccessPolicyRule,
} from '../../../api/types/batch/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { goList } from '../../../object/go-value.ts';
import { checkQualifiedName } from '../../../object/text-formats.ts';
import { mustBeNonNegative } from '../../rules/numbers.ts';

/** Rules by which failed pods are counted, ignored, or end a job. */

const ACTIONS = ['Count', 'FailIndex', 'FailJob', 'Ignore'];
const OPERATORS = ['In', 'NotIn'];
const STATUSES = ['False', 'True', 'Unknown'];
const MAX_FAILURE_RULES = 20;
const MAX_PATTERNS = 20;
const MAX_EXIT_CODES = 255;

export function validateFailurePolicy(at: FieldPath, { rules }: PodFailurePolicy, spec: JobSpec): void {
  const path = at.field('rules');
  const { containers, initContainers } = spec.template?.spec ?? {};
  const names = [...(containers ?? []), ...(initContainers ?? [])].map(({ name = '' }) => name);
  const size = (rules ?? []).length;
  if (size > MAX_FAILURE_RULES) path.tooMany(size, MAX_FAILURE_RULES);
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
  const list = goList('int32', [...codes]);
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

/** Rules by which an indexed job is a success before all of its indexes are. */

const MAX_SUCCESS_RULES = 20;
const MAX_INDEXES_BYTES = 64 * 1024;

export function validateSuccessPolicy(at: FieldPath, policy: SuccessPolicy, spec: JobSpec): void {
  if (spec.completionMode !== 'Indexed') {
    at.invalid(policy, 'requires indexed completion mode');
    return;
  }
  const rules = policy.rules ?? [];
  const path = at.field('rules');
  if (rules.length === 0)
    path.required('at least one rules must be specified when the successPolicy is specified');
  if (rules.length > MAX_SUCCESS_RULES) path.tooMany(rules.length, MAX_SUCCESS_RULES);
  for (const [item, rule] of path.each(rules)) validateRule(item, rule, spec.completions ?? 0);
}

function validateRule(at: FieldPath, rule: SuccessPolicyRule, completions: number): void {
  const { succeededIndexes: indexes, succeededCount } = rule;
  if (indexes === undefined && succeededCount === undefined) {
    at.required('at least one of succeededCount or succeededIndexes must be specified');
    return;
  }
  const { total, problem } = parseIndexes(indexes ?? '', completions);
  const path = at.field('succeededIndexes');
  if (Buffer.byteLength(indexes ?? '') > MAX_INDEXES_BYTES) path.tooLong(MAX_INDEXES_BYTES);
  if (problem !== undefined) path.invalid(indexes ?? '', `error parsing succeededIndexes: ${problem}`);
  if (succeededCount === undefined) return;
  const most = { completions, indexes: indexes === undefined ? undefined : total };
  validateCount(at.field('succeededCount'), succeededCount, most);
}

interface Limits {
  readonly completions: number;
  readonly indexes: number | undefined;
}

function validateCount(at: FieldPath, wanted: number, { completions, indexes }: Limits): void {
  mustBeNonNegative(at, wanted);
  if (wanted > completions)
    at.invalid(wanted, `must be less than or equal to ${completions} (the number of specified completions)`);
  if (indexes !== undefined && wanted > indexes)
    at.invalid(
      wanted,
      `must be less than or equal to ${indexes} (the number of indexes in the specified succeededIndexes field)`,
    );
}

/**
 * Sets of a job's indexes as text: `1,3-5,7`, rising, each below the number of completions
 * (Kubernetes: batch validation, validateIndexesFormat).
 */
interface Indexes {
  readonly total: number;
  /** Why the text is none; undefined when it is good. */
  readonly problem: string | undefined;
}

function parseIndexes(text: string, completions: number): Indexes {
  let total = 0;
  let last: number | undefined;
  for (const part of text === '' ? [] : text.split(',')) {
    const interval = parseInterval(part, completions);
    if (typeof interval === 'string') return { total: 0, problem: interval };
    const [first, end] = interval;
    if (last !== undefined && last >= first) return { total: 0, problem: notRising(last, first) };
    total += end - first + 1;
    last = end;
  }
  return { total, problem: undefined };
}

/** First and last index, or an error. */
function parseInterval(text: string, completions: number): readonly [number, number] | string {
  const limits = text.split('-');
  if (limits.length > 2) {
    return `the fragment ${JSON.stringify(text)} violates the requirement that an index interval can have at most two parts separated by '-'`;
  }
  for (const limit of limits) {
    if (!/^\+?\d+$/.test(limit))
      return `cannot convert string to integer for index: ${JSON.stringify(limit)}`;
    if (Number(limit) >= completions) return `too large index: ${JSON.stringify(limit)}`;
  }
  const [first = 0, end = first] = limits.map(Number);
  return limits.length === 2 && first >= end ? notRising(first, end) : [first, end];
}

const notRising = (previous: number, current: number): string =>
  `non-increasing order, previous: ${previous}, current: ${current}`;
