import type { JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { eachInvalid, invalidValue, notSupported, required, tooLong } from '../../object/field-errors.ts';
import { checkQualifiedName } from '../../object/formats.ts';
import { count, text } from '../cells.ts';
import { duplicates } from './fields.ts';

/** Rules of metav1.Condition in a status. */

export const CONDITION_STATUSES = ['False', 'True', 'Unknown'] as const;

const MAX_REASON_BYTES = 1024;
const MAX_MESSAGE_BYTES = 32 * 1024;
const REASON = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;
const REASON_TEXT =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and " +
  "must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', " +
  "regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";

export function validateConditions(
  conditions: readonly JsonObject[],
  path: string,
  timeField = 'lastTransitionTime',
): FieldError[] {
  const types = conditions.map(({ type }) => text(type));
  return [
    ...duplicates(types, (at) => `${path}[${at}].type`),
    ...conditions.flatMap((condition, at) => validateCondition(condition, `${path}[${at}]`, timeField)),
  ];
}

function validateCondition(condition: JsonObject, path: string, timeField: string): FieldError[] {
  const { type, status, observedGeneration, message } = condition;
  const errors = eachInvalid(`${path}.type`, text(type), checkQualifiedName(text(type)));
  if (!CONDITION_STATUSES.some((known) => known === status))
    errors.push(notSupported(`${path}.status`, text(status), CONDITION_STATUSES));
  if (count(observedGeneration) < 0) {
    const why = 'must be greater than or equal to zero';
    errors.push(invalidValue(`${path}.observedGeneration`, observedGeneration, why));
  }
  if (text(condition[timeField]) === '') errors.push(required(`${path}.lastTransitionTime`, 'must be set'));
  errors.push(...validateReason(text(condition.reason), `${path}.reason`));
  if (Buffer.byteLength(text(message)) > MAX_MESSAGE_BYTES)
    errors.push(tooLong(`${path}.message`, MAX_MESSAGE_BYTES));
  return errors;
}

function validateReason(reason: string, path: string): FieldError[] {
  if (reason === '') return [required(path, 'must be set')];
  return [
    ...(REASON.test(reason) ? [] : [invalidValue(path, reason, REASON_TEXT)]),
    ...(reason.length > MAX_REASON_BYTES ? [tooLong(path, MAX_REASON_BYTES)] : []),
  ];
}
