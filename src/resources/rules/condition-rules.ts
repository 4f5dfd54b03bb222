import type { Condition } from '../../api/types/meta/v1.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { checkQualifiedName } from '../../object/text-formats.ts';
import { mustBeOneOf, UniqueNames } from './name-rules.ts';

/** Conditions of meta/v1 (Kubernetes: apis/meta/v1/validation, ValidateConditions). */

const STATUSES = ['False', 'True', 'Unknown'];
const REASON = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;
const REASON_TEXT =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', " +
  "and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or " +
  "'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";
const MAX_REASON_BYTES = 1024;
const MAX_MESSAGE_BYTES = 32 * 1024;

export function mustBeConditions(at: FieldPath, conditions: readonly Condition[] | undefined): void {
  const seen = new Set<string>();
  for (const [path, condition] of at.each(conditions)) {
    const { type = '' } = condition;
    if (seen.has(type)) path.field('type').duplicate(type);
    seen.add(type);
    mustBeCondition(path, condition);
  }
}

interface Typed {
  readonly type?: string;
}

/** For APIs that only require conditions to have distinct types. */
export function mustHaveDistinctTypes(at: FieldPath, conditions: readonly Typed[] | undefined): void {
  for (const [path, { type = '' }] of at.each(conditions))
    if (type === '') path.field('type').required('must not be empty');
  const types = new UniqueNames();
  for (const [path, { type = '' }] of at.each(conditions)) types.add(path.field('type'), type);
}

function mustBeCondition(at: FieldPath, condition: Condition): void {
  const {
    type = '',
    status = '',
    observedGeneration = 0,
    lastTransitionTime,
    reason,
    message = '',
  } = condition;
  at.field('type').invalidFor(type, checkQualifiedName(type));
  mustBeOneOf(at.field('status'), status, STATUSES);
  if (observedGeneration < 0)
    at.field('observedGeneration').invalid(observedGeneration, 'must be greater than or equal to zero');
  if ((lastTransitionTime ?? '') === '') at.field('lastTransitionTime').required('must be set');
  mustBeReason(at.field('reason'), reason ?? '');
  if (Buffer.byteLength(message) > MAX_MESSAGE_BYTES) at.field('message').tooLong(MAX_MESSAGE_BYTES);
}

function mustBeReason(at: FieldPath, reason: string): void {
  if (reason === '') {
    at.required('must be set');
    return;
  }
  if (!REASON.test(reason)) at.invalid(reason, REASON_TEXT);
  if (Buffer.byteLength(reason) > MAX_REASON_BYTES) at.tooLong(MAX_REASON_BYTES);
}
