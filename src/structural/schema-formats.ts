import { type Gates, newestForExpressions } from '../api/feature-gates.ts';
import { parseCidr, parseIp } from '../object/ip.ts';
import { table } from '../util/text-table.ts';
import { matchesPattern } from './patterns.ts';
import { type Schema, someSchema } from './schema-node.ts';
import { isEmail, isRequestUri } from './uri-and-email.ts';

/**
 * Formats in schemas of custom resources (apiextensions-apiserver, validation/formats.go; kube-openapi, validation/strfmt). Any
 * other format accepts every value, also int32 and int64.
 */
export type FormatCheck = (text: string) => boolean;

/** The check of a format, `date-time` or `datetime`; undefined for a format that is not checked. */
export const checkOfFormat = (format: string): FormatCheck | undefined => FORMATS[normalized(format)];

const normalized = (format: string): string => format.replaceAll('-', '');

/** Formats of names, which versions before 1.34 leave unchecked. */
const NAMES: ReadonlySet<string> = new Set(['k8sshortname', 'k8slongname']);

/** Whether formats of names are checked: like new functions of expressions, one version after they came. */
export const checksNames = (gates: Gates): boolean => newestForExpressions(gates) >= 34;

/** The schema without formats of names; the same one where it has none. */
export function withoutNames(schema: Schema): Schema {
  const isOfName = ({ format = '' }: Schema): boolean => NAMES.has(normalized(format));
  if (!someSchema(schema, isOfName)) return schema;
  const copy = structuredClone(schema);
  someSchema(copy, (one) => {
    if (isOfName(one)) delete one.format;
    return false;
  });
  return copy;
}

const NUMBERS: Readonly<Record<string, readonly string[]>> = table({
  integer: ['int32', 'int64'],
  number: ['float', 'double'],
});

/** Whether a format means anything for a type (GetUnrecognizedFormats). */
export function isRecognized({ type = '', format = '' }: Schema, hasNames: boolean): boolean {
  if (type !== '' && type !== 'string') return NUMBERS[type]?.includes(format) === true;
  const name = normalized(format);
  return FORMATS[name] !== undefined && (hasNames || !NAMES.has(name));
}

const matching =
  (pattern: RegExp): FormatCheck =>
  (text) =>
    pattern.test(text);

const MAX_HOST_BYTES = 255;
const MAX_HOST_LABEL_BYTES = 63;
const HOST =
  '^([a-zA-Z0-9\\p{S}\\p{L}]((-?[a-zA-Z0-9\\p{S}\\p{L}]{0,62})?)|([a-zA-Z0-9\\p{S}\\p{L}](([a-zA-Z0-9-\\p{S}\\p{L}]{0,61}[a-zA-Z0-9\\p{S}\\p{L}])?)(\\.)){1,}([a-zA-Z\\p{L}]){2,63})$';

function isHostname(text: string): boolean {
  if (Buffer.byteLength(text) > MAX_HOST_BYTES || !matchesPattern(HOST, text)) return false;
  return text.split('.').every((label) => Buffer.byteLength(label) <= MAX_HOST_LABEL_BYTES);
}

/** An IPv4 address may be written as IPv6 here, but not as hexadecimal digits alone. */
const isIpv4 = (text: string): boolean => text.includes('.') && isIp(text);

/** Unlike elsewhere, an IPv4 address at the end has no leading zeros. */
const isIpv6 = (text: string): boolean =>
  text.includes(':') && isIp(text) && !/[:.]0\d+\.|\.0\d+$/.test(text);

/** Addresses and ranges are shorter, and parsing long texts takes long. */
const MAX_IP_CHARS = 64;

const isIp = (text: string): boolean => text.length <= MAX_IP_CHARS && parseIp(text) !== undefined;
const isCidr = (text: string): boolean => text.length <= MAX_IP_CHARS && parseCidr(text) !== undefined;

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;

function isDate(text: string): boolean {
  const [, year = '', month = '', day = ''] = DATE.exec(text) ?? [];
  return Number(month) >= 1 && Number(month) <= 12 && Number(day) >= 1 && Number(day) <= daysOf(year, month);
}

/** Day 0 of the next month is the last one of this month. Years below 100 are years of the first century. */
function daysOf(year: string, month: string): number {
  const last = new Date(0);
  last.setUTCFullYear(Number(year), Number(month), 0);
  return last.getUTCDate();
}

const TIME = /^(\d{2}):(\d{2}):(\d{2})(.\d+)?(z|[+-]\d{2}:\d{2})$/u;

/** Rejects second 60, and accepts any character before a fraction. */
function isDateTime(text: string): boolean {
  const [date = '', time] = text.toLowerCase().split('t');
  const [, hours = '', minutes = '', seconds = ''] = TIME.exec(time ?? '') ?? [];
  return hours !== '' && hours <= '23' && minutes <= '59' && seconds <= '59' && isDate(date);
}

const GO_DURATION = /^[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;
const MAX_DURATION_DIGITS = 10;
/** Matches each number once, from its first digit: starting at each digit takes quadratic time. */
const AMOUNTS = /(?<!\d)(\d+)\s*([A-Za-zµ]+)/g;
/** Units of durations in words. A `*` accepts any ending: `hours`. */
const UNIT = /^(?:ns|nano.*|us|µs|micro.*|ms|milli.*|s|sec.*|m|min.*|h|hr|hour.*|d|day.*|w|wk|week.*)$/i;

/** Accepts Go's durations, or amounts with units in words anywhere in the text: `2 hours`. */
function isDuration(text: string): boolean {
  if (GO_DURATION.test(text) && !/\d{11}/.test(text)) return true;
  return isInWords(text);
}

function isInWords(text: string): boolean {
  let found = false;
  for (const [, amount = '', unit = ''] of text.matchAll(AMOUNTS)) {
    if (amount.length > MAX_DURATION_DIGITS && BigInt(amount.slice(0, 32)) >= 2n ** 63n) return false;
    found ||= UNIT.test(unit);
  }
  return found;
}

const withoutDashes = (text: string): string => text.replace(/[\s-]+/g, '');

/** The last digit of an ISBN-10, which may be X for ten, makes the weighted sum a multiple of eleven. */
function isIsbn10(text: string): boolean {
  const digits = withoutDashes(text);
  if (!/^\d{9}[\dX]$/.test(digits)) return false;
  let sum = 0;
  for (let at = 0; at < 10; at += 1) sum += (at + 1) * (digits[at] === 'X' ? 10 : Number(digits[at]));
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = withoutDashes(text);
  if (!/^\d{13}$/.test(digits)) return false;
  let sum = 0;
  for (let at = 0; at < 12; at += 1) sum += Number(digits[at]) * (at % 2 === 0 ? 1 : 3);
  return Number(digits[12]) === (10 - (sum % 10)) % 10;
}

const CARD =
  /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})$/;

/** Numbers of known issuers with a valid check digit (Luhn). Ignores other characters than digits. */
function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, '');
  if (!CARD.test(digits)) return false;
  let sum = 0;
  for (let at = 0; at < digits.length; at += 1) {
    const digit = Number(digits[digits.length - 1 - at]);
    const doubled = at % 2 === 0 ? digit : digit * 2;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

const CHANNEL = '(?:0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])';

const SHORT_NAME = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;
/** Its parts may be longer than 63 characters. */
const LONG_NAME = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;

const FORMATS: Readonly<Record<string, FormatCheck>> = table({
  bsonobjectid: matching(/^[0-9a-f]{24}$/i),
  byte: (text: string) => text !== '' && text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text),
  cidr: isCidr,
  creditcard: isCreditCard,
  date: isDate,
  datetime: isDateTime,
  duration: isDuration,
  email: isEmail,
  hexcolor: matching(/^#?([0-9a-f]{3}|[0-9a-f]{6})$/i),
  hostname: isHostname,
  ipv4: isIpv4,
  ipv6: isIpv6,
  isbn: (text: string) => isIsbn10(text) || isIsbn13(text),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  k8slongname: (text: string) => text.length <= 253 && LONG_NAME.test(text),
  k8sshortname: (text: string) => text.length <= 63 && SHORT_NAME.test(text),
  mac: matching(
    /^(?:[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1){4}(?:(?:[0-9a-f]{2}\1){2})?[0-9a-f]{2}|[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\2){18}[0-9a-f]{2}|(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}|(?:[0-9a-f]{4}\.){3}[0-9a-f]{4}|(?:[0-9a-f]{4}\.){9}[0-9a-f]{4})$/i,
  ),
  password: () => true,
  rgbcolor: matching(new RegExp(`^rgb\\(\\s*${CHANNEL}\\s*,\\s*${CHANNEL}\\s*,\\s*${CHANNEL}\\s*\\)$`)),
  ssn: (text: string) => text.length === 11 && /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text),
  uri: isRequestUri,
  uuid: matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i),
  uuid3: matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i),
  uuid4: matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i),
  uuid5: matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i),
});
