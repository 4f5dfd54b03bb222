import { Duration, UnsignedInt } from '@marcbachmann/cel-js/evaluator';
import { goQuote } from '../../object/go-value.ts';
import { table } from '../../util/text-table.ts';
import { spendOnSize } from '../budget.ts';
import { entriesOf, isMap, isNumber, isOptional } from '../cel-equality.ts';
import { doubleText } from './conversions.ts';

/**
 * `'%s has %d'.format(['x', 3])` (cel-go: ext/strings, version 2): the verbs s, d, f, e, b, x, X and o, and a precision for f and
 * e. Go's printer of American English writes the numbers of f and e.
 *
 * @throws Error that names the bad verb or argument
 */
export function formatText(template: string, args: readonly unknown[]): string {
  let next = 0;
  const formatted = template.replaceAll(/%(%|(?:\.(\d+))?(.?))/gs, (_, all: string, precision, verb) => {
    if (all === '%') return '%';
    if (next >= args.length) throw new Error(`index ${next} out of range`);
    const text = formatOne(String(verb), args[next], precision === undefined ? 6 : Number(precision));
    next += 1;
    spendOnSize(text.length);
    return text;
  });
  return formatted;
}

function formatOne(verb: string, value: unknown, precision: number): string {
  switch (verb) {
    case 's':
      return plainText(value);
    case 'd':
      return isWhole(value) ? String(value) : refuse('decimal clause can only be used on integers', value);
    case 'f':
      return fixed(toDouble(value, 'fixed-point'), precision);
    case 'e':
      return scientific(toDouble(value, 'scientific'), Math.min(precision, MAX_DIGITS));
    case 'b':
      if (typeof value === 'boolean') return value ? '1' : '0';
      return isWhole(value)
        ? value.valueOf().toString(2)
        : refuse('only integers and bools can be formatted as binary', value);
    case 'o':
      return isWhole(value)
        ? value.valueOf().toString(8)
        : refuse('octal clause can only be used on integers', value);
    case 'x':
      return hex(value);
    case 'X':
      return hex(value).toUpperCase();
    default:
      throw new Error(`could not parse formatting clause: unrecognized formatting clause "${verb}"`);
  }
}

const isWhole = (value: unknown): value is bigint | UnsignedInt =>
  typeof value === 'bigint' || value instanceof UnsignedInt;

const refuse = (clause: string, value: unknown): never => fail(`${clause}, was given ${typeOf(value)}`);

function fail(why: string): never {
  throw new Error(`error during formatting: ${why}`);
}

const NAMED: Readonly<Record<string, number>> = table({
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  '-Infinity': Number.NEGATIVE_INFINITY,
});

function toDouble(value: unknown, clause: string): number {
  if (typeof value === 'number') return value;
  const named = typeof value === 'string' ? NAMED[value] : undefined;
  return named ?? refuse(`${clause} clause can only be used on doubles`, value);
}

const MAX_DIGITS = 100;

/** 1,234.500000 */
function fixed(value: number, precision: number): string {
  if (!Number.isFinite(value)) return endless(value);
  const digits = Math.min(precision, MAX_DIGITS);
  // toFixed gives larger numbers an exponent. They are whole.
  const isLarge = Math.abs(value) >= 1e21;
  const text = isLarge
    ? `${BigInt(value)}${digits === 0 ? '' : `.${'0'.repeat(digits)}`}`
    : value.toFixed(digits);
  return text.replace(/^-?\d+/, (whole) => whole.replace(/\B(?=(?:\d{3})+$)/g, ','));
}

const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** 1.500000×10⁰⁶: cel-go takes the precision for the width. */
function scientific(value: number, width: number): string {
  if (!Number.isFinite(value)) return endless(value).padStart(width);
  const [digits, exponent = ''] = value.toExponential(6).split('e');
  const power = exponent.slice(1).padStart(2, '0');
  const raised = power.replace(/\d/g, (digit) => SUPERSCRIPTS[Number(digit)] ?? '');
  return `${digits}×10${exponent.startsWith('-') ? '⁻' : ''}${raised}`.padStart(width);
}

const endless = (value: number): string => (Number.isNaN(value) ? 'NaN' : value > 0 ? '∞' : '-∞');

function hex(value: unknown): string {
  if (typeof value === 'string' || value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (isWhole(value)) return value.valueOf().toString(16);
  return refuse('only integers, byte buffers, and strings can be formatted as hex', value);
}

const PRINTABLE =
  'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps';

/** `%s` of any value. */
function plainText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  if (value instanceof Date) return timestampText(value);
  if (value instanceof Duration) return durationText(value);
  if (typeof value === 'number') return doubleText(value);
  if (isOptional(value)) return refuse(PRINTABLE, value);
  return literal(value);
}

/** A value within a list or a map, as an expression would write it. */
function literal(value: unknown): string {
  if (typeof value === 'string') return goQuote(value);
  if (value === null || typeof value === 'boolean' || isWhole(value)) return String(value);
  if (typeof value === 'number')
    return Number.isFinite(value) ? value.toFixed(6) : goQuote(doubleText(value));
  if (value instanceof Uint8Array) return `b${goQuote(plainText(value))}`;
  if (value instanceof Date) return `timestamp(${goQuote(timestampText(value))})`;
  if (value instanceof Duration) return `duration(${goQuote(durationText(value))})`;
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (isMap(value)) {
    const entries = [...entriesOf(value)].map(([key, item]) => `${keyText(key)}:${literal(item)}`);
    return `{${entries.sort().join(', ')}}`;
  }
  if (isOptional(value)) fail('no formatting function for optional_type');
  return String(value).replace(/^Type<(.+)>$/, '$1');
}

const keyText = (key: unknown): string =>
  typeof key === 'number' || key === null
    ? fail(`no formatting function for map key of type ${typeOf(key)}`)
    : literal(key);

export const timestampText = (date: Date): string =>
  date
    .toISOString()
    .replace(/(\.\d*?)0+Z$/, '$1Z')
    .replace('.Z', 'Z');

const SECOND = 1_000_000_000n;

/** 1.5s */
export function durationText({ seconds, nanos }: Duration): string {
  const total = BigInt(seconds) * SECOND + BigInt(nanos);
  const size = total < 0n ? -total : total;
  const fraction = String(size % SECOND)
    .padStart(9, '0')
    .replace(/0+$/, '');
  return `${total < 0n ? '-' : ''}${size / SECOND}${fraction === '' ? '' : `.${fraction}`}s`;
}

/** The name of a value's type in messages. */
function typeOf(value: unknown): string {
  if (value === null) return 'null_type';
  if (Array.isArray(value)) return 'list';
  if (isOptional(value)) return 'optional_type';
  if (value instanceof Uint8Array) return 'bytes';
  if (value instanceof Date) return 'google.protobuf.Timestamp';
  if (value instanceof Duration) return 'google.protobuf.Duration';
  if (isNumber(value))
    return typeof value === 'bigint' ? 'int' : typeof value === 'number' ? 'double' : 'uint';
  if (typeof value === 'boolean') return 'bool';
  return isMap(value) ? 'map' : typeof value;
}
