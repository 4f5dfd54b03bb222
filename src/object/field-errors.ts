import type { FieldError } from '../api/status.ts';
import { goValue } from './go-value.ts';
import { counted } from './problem-bounds.ts';

/**
 * What validation says of one field, in Kubernetes' words (apimachinery, util/validation/field/errors.go). `field` is the
 * path, `spec.containers[0].image` or `metadata.labels[a/b]`; `why` follows the value.
 */

/** An absent or empty value that must be there. */
export const required = (field: string, why = ''): FieldError =>
  counted({
    type: 'FieldValueRequired',
    field,
    message: why === '' ? 'Required value' : `Required value: ${why}`,
  });

export const invalidValue = (field: string, value: unknown, why: string): FieldError =>
  counted({
    type: 'FieldValueInvalid',
    field,
    message: why === '' ? `Invalid value: ${goValue(value)}` : `Invalid value: ${goValue(value)}: ${why}`,
  });

/** A value that is too large to be shown, or none by itself. */
export const invalidUnshown = (field: string, why: string): FieldError =>
  counted({ type: 'FieldValueInvalid', field, message: `Invalid value: ${why}` });

/** A value outside an enumeration. */
export const notSupported = (field: string, value: unknown, supported: readonly string[]): FieldError =>
  counted({
    type: 'FieldValueNotSupported',
    field,
    message: `Unsupported value: ${goValue(value)}: supported values: ${supported.map((one) => goValue(one)).join(', ')}`,
  });

/** A value that would be good elsewhere, or by itself, but not here. */
export const forbiddenField = (field: string, why: string): FieldError =>
  counted({
    type: 'FieldValueForbidden',
    field,
    message: `Forbidden: ${why}`,
  });

export const duplicate = (field: string, value: unknown): FieldError =>
  counted({
    type: 'FieldValueDuplicate',
    field,
    message: `Duplicate value: ${goValue(value)}`,
  });

/** A reference inside the object to something that the object has not. */
export const notFoundValue = (field: string, value: unknown): FieldError =>
  counted({
    type: 'FieldValueNotFound',
    field,
    message: `Not found: ${goValue(value)}`,
  });

export const tooLong = (field: string, mostBytes: number): FieldError =>
  counted({
    type: 'FieldValueTooLong',
    field,
    message: `Too long: must have at most ${mostBytes} bytes`,
  });

export const tooMany = (field: string, actual: number, most: number): FieldError =>
  counted({
    type: 'FieldValueTooMany',
    field,
    message: `Too many: ${actual}: must have at most ${most} items`,
  });

/** Every text of a list as an invalid value of one field. */
export const eachInvalid = (field: string, value: unknown, reasons: readonly string[]): FieldError[] =>
  reasons.map((why) => invalidValue(field, value, why));

/** The same, for rules that add to one list of errors. */
export function addInvalid(
  errors: FieldError[],
  field: string,
  value: unknown,
  reasons: readonly string[],
): void {
  for (const why of reasons) errors.push(invalidValue(field, value, why));
}
