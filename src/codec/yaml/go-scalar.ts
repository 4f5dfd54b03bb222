import type { JsonValue } from '../../api/object-meta.ts';
import { goAny } from '../../object/go-value.ts';
import { goFloat } from '../../util/go-float.ts';

/**
 * Scalars as Kubernetes' reader of YAML (go-yaml 2, resolve.go) reads them, which is YAML 1.1 with exceptions: `1:30` is a text,
 * a date stays the text that it is, `0o17` is octal and `1e400` too large for a number and so a text.
 *
 *   resolvePlain('0o17') → 15     resolvePlain('1:30')       → '1:30'
 *   resolvePlain('1_000') → 1000  resolvePlain('2001-01-01') → '2001-01-01'
 */
type Scalar = string | number | bigint | boolean | null;

/** A text without quotes and without a tag. */
export function resolvePlain(text: string): Scalar {
  return resolve(text).value;
}

interface Resolved {
  readonly tag: ScalarTag;
  readonly value: Scalar;
}

type ScalarTag = 'str' | 'bool' | 'int' | 'float' | 'null' | 'timestamp' | 'merge';
/** Tags that a client may write before a scalar. */
export type WrittenTag = Exclude<ScalarTag, 'str' | 'merge'> | 'binary';

/** A scalar behind a tag such as `!!int`, in quotes or not. @throws Error in Kubernetes' words */
export function resolveTagged(tag: WrittenTag, text: string): Scalar {
  if (tag === 'binary') return toBinary(text);
  const { tag: found, value } = resolve(text, tag === 'timestamp');
  // A whole number may be called a float, unless it is beyond 63 bits.
  if (found === tag || (tag === 'float' && found === 'int' && isInt64(value))) return value;
  throw new Error(`cannot decode !!${found} \`${text}\` as a !!${tag}`);
}

const text = (value: string): Resolved => ({ tag: 'str', value });

/** `asTime`: distinguishes a time from other texts, though its value is the text in either case. */
function resolve(given: string, asTime = false): Resolved {
  if (given.length <= MAX_WORD) {
    const word = WORDS.get(given);
    if (word !== undefined) return word;
  }
  if (asTime) return isTimestamp(given) ? { tag: 'timestamp', value: given } : text(given);
  if (!NUMERIC.test(given)) return text(given);
  if (given.startsWith('.')) return toFloat(given) ?? text(given);
  const plain = given.includes('_') ? given.replaceAll('_', '') : given;
  return toInteger(plain) ?? toFloat(plain) ?? text(given);
}

/** Nothing else can be a number. Dates, addresses and versions are no numbers, and are found out here. */
const NUMERIC =
  /^(?:[-+]?[0-9][0-9a-fA-FoOxX_]*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9_]+)?|[-+]?\.[0-9_]+(?:[eE][-+]?[0-9_]+)?)$/;
const INTEGER = /^[-+]?(?:0|[1-9][0-9]*|0[0-7]+|0[oO][0-7]+|0[xX][0-9a-fA-F]+|0[bB][01]+)$/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const OLD_OCTAL = /^0[0-7]/;
/** All integers of this many characters are exact as numbers. */
const MAX_EXACT_CHARS = 15;
const MIN_INT64 = -(2n ** 63n);
const MAX_INT64 = 2n ** 63n - 1n;
const MAX_UINT64 = 2n ** 64n - 1n;

function toInteger(plain: string): Resolved | undefined {
  // No integer of 64 bits takes more characters than its bits, a sign and `0b`.
  if (plain.length > 67 || !INTEGER.test(plain)) return undefined;
  const sign = plain.startsWith('-') || plain.startsWith('+') ? plain.charAt(0) : '';
  const digits = plain.slice(sign.length);
  const written = OLD_OCTAL.test(digits) ? `0o${digits.slice(1)}` : digits;
  if (written.length <= MAX_EXACT_CHARS) {
    // Go has no negative zero among its integers.
    const number = Number(written);
    return { tag: 'int', value: sign === '-' && number !== 0 ? -number : number };
  }
  const magnitude = BigInt(written);
  const value = sign === '-' ? -magnitude : magnitude;
  if (value < MIN_INT64 || value > (sign === '' ? MAX_UINT64 : MAX_INT64)) return undefined;
  return { tag: 'int', value };
}

function toFloat(plain: string): Resolved | undefined {
  const value = FLOAT.test(plain) ? Number(plain) : Number.NaN;
  return Number.isFinite(value) ? { tag: 'float', value } : undefined;
}

const isInt64 = (value: Scalar): boolean =>
  typeof value === 'number' || (typeof value === 'bigint' && value >= MIN_INT64 && value <= MAX_INT64);

/** The bytes as text; what is no UTF-8 becomes U+FFFD. @throws Error */
function toBinary(given: string): string {
  const base64 = given.replace(/[\r\n]/g, '');
  if (base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(base64))
    throw new Error('!!binary value contains invalid base64 data');
  return Buffer.from(base64, 'base64').toString('utf8');
}

const TIMESTAMP =
  /^\d{4}-(\d\d?)-(\d\d?)(?:[Tt](\d\d?):(\d\d?):(\d\d?)(?:[.,]\d+)?(?:Z|[-+]\d\d:\d\d)| (\d\d?):(\d\d?):(\d\d?)(?:[.,]\d+)?)?$/;

function isTimestamp(given: string): boolean {
  const parts = TIMESTAMP.exec(given)?.slice(1).map(Number);
  if (parts === undefined) return false;
  const [month = 0, day = 0, ...times] = parts;
  const inYear = new Date(Date.UTC(Number(given.slice(0, 4)), month - 1, day));
  const limits = [24, 60, 60, 24, 60, 60];
  return (
    inYear.getUTCMonth() === month - 1 &&
    inYear.getUTCDate() === day &&
    times.every((time, at) => Number.isNaN(time) || time < (limits[at] ?? 0))
  );
}

const MAX_WORD = 5;

const words = (tag: ScalarTag, value: Scalar, list: string): [string, Resolved][] =>
  list.split(' ').map((word) => [word, { tag, value }]);

const WORDS: ReadonlyMap<string, Resolved> = new Map([
  ...words('bool', true, 'y Y yes Yes YES true True TRUE on On ON'),
  ...words('bool', false, 'n N no No NO false False FALSE off Off OFF'),
  ...words('null', null, '~ null Null NULL'),
  ['', { tag: 'null', value: null }],
  ...words('float', Number.NaN, '.nan .NaN .NAN'),
  ...words('float', Number.POSITIVE_INFINITY, '.inf .Inf .INF +.inf +.Inf +.INF'),
  ...words('float', Number.NEGATIVE_INFINITY, '-.inf -.Inf -.INF'),
  ...words('merge', '<<', '<<'),
]);

/** The key of a map as a field of JSON. `value` is for the message. @throws Error in Kubernetes' words */
export function toFieldName(key: unknown, value: JsonValue): string {
  switch (typeof key) {
    case 'string':
      return key;
    case 'boolean':
      return String(key);
    case 'number':
      return Number.isSafeInteger(key) ? String(key) : (NAMED_FLOATS.get(key) ?? goFloat(key));
    case 'bigint':
      if (isInt64(key)) return String(key);
      throw new Error(unsupported('uint64', `0x${key.toString(16)}`, value));
    default:
      if (key === null) throw new Error(unsupported('%!s(<nil>)', '<nil>', value));
      // The prefix tells errors of the reader from those of the conversion.
      throw new Error(
        `yaml: invalid map key: ${key instanceof Map ? goAny(Object.fromEntries(key)) : goAny(key)}`,
      );
  }
}

const unsupported = (type: string, key: string, value: JsonValue): string =>
  `unsupported map key of type: ${type}, key: ${key}, value: ${goAny(value)}`;

const NAMED_FLOATS: ReadonlyMap<number, string> = new Map([
  [Number.NaN, '.nan'],
  [Number.POSITIVE_INFINITY, '.inf'],
  [Number.NEGATIVE_INFINITY, '-.inf'],
]);
