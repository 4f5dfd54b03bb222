import type { Environment } from '@marcbachmann/cel-js';
import { Duration, UnsignedInt } from '@marcbachmann/cel-js/evaluator';
import { table } from '../../util/text-table.ts';
import { spendOnSize } from '../budget.ts';
import { entriesOf, isMap, isNumber } from '../cel-equality.ts';

/** The namespace in `strings.quote(…)`. */
class Strings {}

const TIMESTAMP = 'google.protobuf.Timestamp';
const DURATION = 'google.protobuf.Duration';

/** Functions of texts and conversions that the library lacks (cel-go: ext/strings, standard library). */
export const registerTexts = (environment: Environment): Environment =>
  environment
    .registerType('kubernetes.Strings', Strings)
    .registerConstant('strings', 'kubernetes.Strings', new Strings())
    .registerFunction('kubernetes.Strings.quote(string): string', (_: Strings, text: string) =>
      JSON.stringify(text),
    )
    .registerFunction('string.format(list): string', formatText)
    .registerFunction(`string(${TIMESTAMP}): string`, timestampText)
    .registerFunction(`string(${DURATION}): string`, durationText)
    .registerFunction(`timestamp(${TIMESTAMP}): ${TIMESTAMP}`, (date: Date) => date)
    .registerFunction(`duration(${DURATION}): ${DURATION}`, (duration: Duration) => duration)
    .registerFunction(`duration(int): ${DURATION}`, (nanos: bigint) => {
      return new Duration(nanos / 1_000_000_000n, Number(nanos % 1_000_000_000n));
    })
    .registerFunction('int(uint): int', intOf)
    .registerOperator('bytes < bytes: bool', (a: Uint8Array, b: Uint8Array) => orderOf(a, b) < 0)
    .registerOperator('bytes <= bytes: bool', (a: Uint8Array, b: Uint8Array) => orderOf(a, b) <= 0)
    .registerOperator('bytes > bytes: bool', (a: Uint8Array, b: Uint8Array) => orderOf(a, b) > 0)
    .registerOperator('bytes >= bytes: bool', (a: Uint8Array, b: Uint8Array) => orderOf(a, b) >= 0)
    .registerFunction(`int(${TIMESTAMP}): int`, (date: Date) => BigInt(Math.floor(date.getTime() / 1000)))
    .registerFunction(`int(${DURATION}): int`, ({ seconds, nanos }: Duration) => {
      return BigInt(seconds) * 1_000_000_000n + BigInt(nanos);
    });

/** @throws Error when the number takes more than 63 bits */
function intOf(value: UnsignedInt): bigint {
  const whole = BigInt(value.valueOf());
  if (whole >= 1n << 63n) throw new Error('integer overflow');
  return whole;
}

function orderOf(a: Uint8Array, b: Uint8Array): number {
  spendOnSize(Math.min(a.length, b.length));
  return Buffer.compare(a, b);
}

/**
 * `'%s has %d'.format(['x', 3])` (cel-go: ext/strings, version 1): the verbs s, d, f, e, b, x, X and o, and a precision for f and e.
 *
 * @throws Error that names the bad verb or argument
 */
function formatText(template: string, args: readonly unknown[]): string {
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
      return isNumber(value) ? decimal(value) : refuse('decimal', value);
    case 'f':
      return fixed(toDouble(value, 'fixed-point'), precision);
    case 'e':
      return scientific(toDouble(value, 'scientific notation'), precision);
    case 'b':
      return typeof value === 'boolean' ? (value ? '1' : '0') : inBase(value, 2, 'binary');
    case 'o':
      return inBase(value, 8, 'octal');
    case 'x':
      return hex(value);
    case 'X':
      return hex(value).toUpperCase();
    default:
      throw new Error(`could not parse formatting clause: unrecognized formatting clause "${verb}"`);
  }
}

function refuse(clause: string, value: unknown): never {
  throw new Error(
    `error during formatting: ${clause} clause can only be used on numbers, was given ${typeOf(value)}`,
  );
}

function decimal(value: bigint | number | UnsignedInt): string {
  if (typeof value === 'number' && Number.isNaN(value)) return 'NaN';
  if (value === Number.POSITIVE_INFINITY) return 'Infinity';
  return value === Number.NEGATIVE_INFINITY ? '-Infinity' : String(value);
}

function toDouble(value: unknown, clause: string): number {
  if (typeof value === 'number') return value;
  if (isNumber(value)) return Number(value.valueOf());
  const named: Readonly<Record<string, number>> = table({
    NaN: Number.NaN,
    Infinity: Number.POSITIVE_INFINITY,
    '-Infinity': Number.NEGATIVE_INFINITY,
  });
  return named[String(value)] ?? refuse(clause, value);
}

const fixed = (value: number, precision: number): string =>
  Number.isFinite(value) ? value.toFixed(Math.min(precision, 100)) : decimal(value);

/** Go writes at least two digits of an exponent. */
const scientific = (value: number, precision: number): string =>
  Number.isFinite(value)
    ? value.toExponential(Math.min(precision, 100)).replace(/e([+-])(\d)$/, 'e$10$2')
    : decimal(value);

function inBase(value: unknown, base: number, clause: string): string {
  if (typeof value === 'bigint') return value.toString(base);
  if (value instanceof UnsignedInt) return value.valueOf().toString(base);
  return refuse(clause, value);
}

function hex(value: unknown): string {
  if (typeof value === 'string') return Buffer.from(value).toString('hex');
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  return inBase(value, 16, 'hex');
}

/** `%s` of any value; texts within lists and maps are quoted. */
function plainText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === null) return 'null';
  if (typeof value === 'boolean') return String(value);
  if (isNumber(value)) return decimal(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  if (value instanceof Date) return timestampText(value);
  if (value instanceof Duration) return durationText(value);
  if (Array.isArray(value)) return `[${value.map(quotedText).join(', ')}]`;
  if (isMap(value)) {
    const entries = [...entriesOf(value)].map(([key, item]) => `${quotedText(key)}: ${quotedText(item)}`);
    return `{${entries.sort().join(', ')}}`;
  }
  return String(value);
}

const quotedText = (value: unknown): string =>
  typeof value === 'string' ? JSON.stringify(value) : plainText(value);

export const timestampText = (date: Date): string =>
  date
    .toISOString()
    .replace(/(\.\d*?)0+Z$/, '$1Z')
    .replace('.Z', 'Z');

export const durationText = (duration: Duration): string =>
  `${Number(duration.seconds) + duration.nanos / 1e9}s`;

function typeOf(value: unknown): string {
  if (value === null) return 'null_type';
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'boolean') return 'bool';
  return isMap(value) ? 'map' : typeof value;
}
