import { UnsignedInt } from '@marcbachmann/cel-js/evaluator';
import { goFloat } from '../../util/go-float.ts';

/** Conversions of types as Go's functions make them (cel-go: common/types). Undefined: the library's conversion will do. */

const [MIN_INT, MAX_INT] = [-(1n << 63n), (1n << 63n) - 1n];
const MAX_UINT = (1n << 64n) - 1n;

const cannot = (to: string): Error => new Error(`type conversion error from 'string' to '${to}'`);

/** @throws Error */
export function toInt(value: unknown): bigint | undefined {
  if (typeof value === 'number') {
    // The limits themselves are no int: as doubles they are rounded.
    if (!(value > -(2 ** 63) && value < 2 ** 63)) throw new Error('integer overflow');
    return BigInt(Math.trunc(value));
  }
  if (typeof value !== 'string') return undefined;
  const whole = /^[+-]?\d{1,100}$/.test(value) ? BigInt(value.replace(/^\+/, '')) : undefined;
  if (whole === undefined || whole < MIN_INT || whole > MAX_INT) throw cannot('int');
  return whole;
}

/** @throws Error */
export function toUint(value: unknown): UnsignedInt | undefined {
  if (typeof value === 'bigint' && value < 0n) throw new Error('unsigned integer overflow');
  if (typeof value === 'number') {
    if (!(value >= 0 && value < 2 ** 64)) throw new Error('unsigned integer overflow');
    return new UnsignedInt(BigInt(Math.trunc(value)));
  }
  if (typeof value !== 'string') return undefined;
  const whole = /^\d{1,100}$/.test(value) ? BigInt(value) : undefined;
  if (whole === undefined || whole > MAX_UINT) throw cannot('uint');
  return new UnsignedInt(whole);
}

const INFINITY = /^([+-]?)inf(?:inity)?$/i;
const DECIMAL = /^[+-]?(?:\d(?:_?\d)*\.?(?:\d(?:_?\d)*)?|\.\d(?:_?\d)*)(?:e[+-]?\d(?:_?\d)*)?$/i;

/** @throws Error */
export function toDouble(value: unknown): number | undefined {
  if (typeof value !== 'string') return undefined;
  const [infinite, sign] = INFINITY.exec(value) ?? [];
  if (infinite !== undefined) return sign === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  if (value.toLowerCase() === 'nan') return Number.NaN;
  const number = DECIMAL.test(value) ? Number(value.replaceAll('_', '')) : Number.NaN;
  if (!Number.isFinite(number)) throw cannot('double');
  return number;
}

const BOOLS: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'TRUE', 'true', 'True'].map((text) => [text, true] as const),
  ...['0', 'f', 'F', 'FALSE', 'false', 'False'].map((text) => [text, false] as const),
]);

/** @throws Error */
export function toBool(value: unknown): boolean | undefined {
  if (typeof value !== 'string') return undefined;
  const bool = BOOLS.get(value);
  if (bool === undefined) throw cannot('bool');
  return bool;
}

export const doubleText = (value: number): string =>
  Number.isFinite(value) || Number.isNaN(value) ? goFloat(value) : value > 0 ? '+Inf' : '-Inf';
