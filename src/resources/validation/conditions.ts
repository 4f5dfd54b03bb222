import type { JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import {
  duplicate,
  eachInvalid,
  invalidValue,
  notSupported,
  required,
  tooLong,
} from '../../object/field-errors.ts';
import { checkQualifiedName } from '../../object/formats.ts';
import { count, text } from '../../object/parts.ts';

/** Conditions of meta/v1 (Kubernetes: apis/meta/v1/validation, ValidateConditions). */

const STATUSES = ['False', 'True', 'Unknown'];
const REASON = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;
const REASON_TEXT =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', " +
  "and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or " +
  "'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";
const MAX_REASON_BYTES = 1024;
const MAX_MESSAGE_BYTES = 32 * 1024;

export function validateConditions(conditions: readonly JsonObject[], path: string): FieldError[] {
  return conditions.flatMap((condition, at) => {
    const repeated = conditions.findIndex(({ type }) => type === condition.type) < at;
    return [
      ...(repeated ? [duplicate(`${path}[${at}].type`, text(condition.type))] : []),
      ...validateCondition(condition, `${path}[${at}]`),
    ];
  });
}

function validateCondition(condition: JsonObject, path: string): FieldError[] {
  const type = text(condition.type);
  const errors = eachInvalid(`${path}.type`, type, checkQualifiedName(type));
  if (!STATUSES.includes(text(condition.status)))
    errors.push(notSupported(`${path}.status`, text(condition.status), STATUSES));
  const generation = count(condition.observedGeneration);
  if (generation < 0)
    errors.push(
      invalidValue(`${path}.observedGeneration`, generation, 'must be greater than or equal to zero'),
    );
  if (text(condition.lastTransitionTime) === '')
    errors.push(required(`${path}.lastTransitionTime`, 'must be set'));
  errors.push(...validateReason(text(condition.reason), `${path}.reason`));
  if (Buffer.byteLength(text(condition.message)) > MAX_MESSAGE_BYTES)
    errors.push(tooLong(`${path}.message`, MAX_MESSAGE_BYTES));
  return errors;
}

function validateReason(reason: string, path: string): FieldError[] {
  if (reason === '') return [required(path, 'must be set')];
  return [
    ...(REASON.test(reason) ? [] : [invalidValue(path, reason, REASON_TEXT)]),
    ...(Buffer.byteLength(reason) > MAX_REASON_BYTES ? [tooLong(path, MAX_REASON_BYTES)] : []),
  ];
}
