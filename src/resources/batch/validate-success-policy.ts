import type { JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { invalidValue, required, tooLong, tooMany } from '../../object/field-errors.ts';
import { count, part, parts, text } from '../../object/parts.ts';
import { validateCounts } from '../validation/numbers.ts';
import { parseIndexes } from './indexes.ts';

/** Rules by which an indexed job is a success before all of its indexes are. */

const MAX_RULES = 20;
const MAX_INDEXES_BYTES = 64 * 1024;

export function validateSuccessPolicy(spec: JsonObject, path: string): FieldError[] {
  if (spec.completionMode !== 'Indexed')
    return [invalidValue(path, spec.successPolicy, 'requires indexed completion mode')];
  const rules = parts(part(spec, 'successPolicy'), 'rules');
  const completions = count(spec.completions);
  const errors: FieldError[] = [];
  if (rules.length === 0) {
    const why = 'at least one rules must be specified when the successPolicy is specified';
    errors.push(required(`${path}.rules`, why));
  }
  if (rules.length > MAX_RULES) errors.push(tooMany(`${path}.rules`, rules.length, MAX_RULES));
  return [...errors, ...rules.flatMap((rule, at) => validateRule(rule, completions, `${path}.rules[${at}]`))];
}

function validateRule(rule: JsonObject, completions: number, path: string): FieldError[] {
  const { succeededIndexes: indexes, succeededCount } = rule;
  if (indexes === undefined && succeededCount === undefined)
    return [required(path, 'at least one of succeededCount or succeededIndexes must be specified')];
  const { total, problem } = parseIndexes(text(indexes), completions);
  const errors: FieldError[] = [];
  const field = `${path}.succeededIndexes`;
  if (Buffer.byteLength(text(indexes)) > MAX_INDEXES_BYTES) errors.push(tooLong(field, MAX_INDEXES_BYTES));
  if (problem !== undefined)
    errors.push(invalidValue(field, text(indexes), `error parsing succeededIndexes: ${problem}`));
  const known = indexes === undefined ? undefined : total;
  return [...errors, ...validateCount(rule, { completions, indexes: known }, path)];
}

function validateCount(
  rule: JsonObject,
  most: { readonly completions: number; readonly indexes: number | undefined },
  path: string,
): FieldError[] {
  if (rule.succeededCount === undefined) return [];
  const wanted = count(rule.succeededCount);
  const errors = validateCounts(rule, ['succeededCount'], path);
  const exceed = (limit: number, what: string): void => {
    const why = `must be less than or equal to ${limit} (${what})`;
    if (wanted > limit) errors.push(invalidValue(`${path}.succeededCount`, wanted, why));
  };
  exceed(most.completions, 'the number of specified completions');
  if (most.indexes !== undefined)
    exceed(most.indexes, 'the number of indexes in the specified succeededIndexes field');
  return errors;
}
