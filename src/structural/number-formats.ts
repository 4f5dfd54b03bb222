import { type Gates, minorOf } from '../api/feature-gates.ts';
import { isInt64 } from '../object/exact-json.ts';

/** Types and formats of numbers, which Kubernetes checks since 1.36 (kube-openapi, validation/validate, numberValidator). */

interface NumberRules {
  /** Undefined: of another type. */
  readonly numberType: 'integer' | 'number' | undefined;
  readonly numberFormat: string;
}

const SINCE = 36;

export const checksNumbers = (gates: Gates): boolean => minorOf(gates) >= SINCE;

const MAX_INT32 = 2n ** 31n - 1n;
const MIN_INT32 = -(2n ** 31n);
/** A larger number is nearer to 2^128 than to the largest float. */
const BEYOND_FLOAT = 2 ** 128 - 2 ** 103;

/** What a schema says of numbers: their type, and '' or their format. */
interface NumberRules {
  readonly numberType: 'integer' | 'number' | undefined;
  readonly numberFormat: string;
}

/** Why a number does not fit its type and format; undefined: it fits. */
export function misfitOfNumber(
  value: number | bigint,
  { numberType: type, numberFormat: format }: NumberRules,
  path: string,
): string | undefined {
  if (type === undefined || isOfNumberType(value, type, format)) return undefined;
  const shown = format === '' ? `${type} (default format)` : `${type} with format ${format}`;
  return `Checked value must be of type ${shown} in ${path}`;
}

export const fitsNumber = (value: number | bigint, { numberType, numberFormat }: NumberRules): boolean =>
  numberType === undefined || isOfNumberType(value, numberType, numberFormat);

function isOfNumberType(value: number | bigint, type: 'integer' | 'number', format: string): boolean {
  if (type === 'number') return format !== 'float' || Math.abs(Number(value)) < BEYOND_FLOAT;
  if (Number.isSafeInteger(value) && format !== 'int32') return true;
  if (typeof value === 'number' && !Number.isInteger(value)) return false;
  const whole = BigInt(value);
  return format === 'int32' ? whole >= MIN_INT32 && whole <= MAX_INT32 : isInt64(whole);
}

const FORMATS: Readonly<Record<string, readonly string[]>> = {
  integer: ['int32', 'int64'],
  number: ['float', 'double'],
};

/** The format of numbers of a type; '' for another. */
export const numberFormatOf = (type: string, format: string): string =>
  FORMATS[type]?.includes(format) === true ? format : '';
