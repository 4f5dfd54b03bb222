import type { JobSpec, SuccessPolicy, SuccessPolicyRule } from '../../../api/types/batch/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { mustBeNonNegative } from '../../rules/numbers.ts';
import { parseIndexes } from './indexes.ts';

/** Rules by which an indexed job is a success before all of its indexes are. */

const MAX_RULES = 20;
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
  if (rules.length > MAX_RULES) path.tooMany(rules.length, MAX_RULES);
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
