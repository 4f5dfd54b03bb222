import { spendOnSize } from '../budget.ts';

/** Functions of texts that count code points (cel-go: ext/strings). The library counts UTF-16 units and words errors otherwise. */

const SURROGATE = /[\uD800-\uDFFF]/;

/** The UTF-16 units of the code point at a unit. */
const unitsAt = (text: string, unit: number): number => ((text.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1);

/** The number of code points before a UTF-16 unit. */
function pointAt(text: string, end: number): bigint {
  if (end < 0 || !SURROGATE.test(text)) return BigInt(end);
  let points = 0;
  for (let unit = 0; unit < end; unit += unitsAt(text, unit)) points += 1;
  return BigInt(points);
}

/** The UTF-16 unit at which a code point begins, or at which the text ends. @throws Error when the text is shorter */
function unitOf(text: string, at: bigint): number {
  const outside = (): Error => new Error(`index out of range: ${at}`);
  if (at < 0n || at > BigInt(text.length)) throw outside();
  if (!SURROGATE.test(text)) return Number(at);
  let unit = 0;
  for (let left = Number(at); left > 0; left -= 1) {
    if (unit >= text.length) throw outside();
    unit += unitsAt(text, unit);
  }
  return unit;
}

/** @throws Error */
export function substring(text: string, start: bigint, end?: bigint): string {
  if (end !== undefined && start > end)
    throw new Error(`invalid substring range. start: ${start}, end: ${end}`);
  const from = unitOf(text, start);
  return text.slice(from, end === undefined ? undefined : unitOf(text, end));
}

/** @throws Error */
export function charAt(text: string, at: bigint): string {
  const unit = unitOf(text, at);
  return text.slice(unit, unit + unitsAt(text, unit));
}

/** Where a search may begin: at a character. @throws Error */
function searchFrom(text: string, at: bigint): number {
  const unit = unitOf(text, at);
  if (unit === text.length) throw new Error(`index out of range: ${at}`);
  return unit;
}

/** @throws Error */
export function indexOf(text: string, sought: string, from?: bigint): bigint {
  if (sought === '') return from ?? 0n;
  return pointAt(text, text.indexOf(sought, from === undefined ? 0 : searchFrom(text, from)));
}

/** @throws Error */
export function lastIndexOf(text: string, sought: string, from?: bigint): bigint {
  if (sought === '') return from ?? pointAt(text, text.length);
  return pointAt(text, text.lastIndexOf(sought, from === undefined ? text.length : searchFrom(text, from)));
}

/** What a part of one character costs, in characters. */
const PART_SIZE = 4;

export function split(text: string, separator: string, most = -1n): string[] {
  if (separator === '') spendOnSize(text.length * PART_SIZE);
  const parts = separator === '' ? [...text] : text.split(separator);
  if (most < 0n || BigInt(parts.length) <= most) return parts;
  const count = Number(most);
  return count === 0 ? [] : [...parts.slice(0, count - 1), parts.slice(count - 1).join(separator)];
}

/** An empty `from` is in front of each code point, and at the end. */
export function replace(text: string, from: string, to: string, most = -1n): string {
  if (from === '') spendOnSize(text.length * PART_SIZE);
  const parts = from === '' ? ['', ...text, ''] : text.split(from);
  const count = most < 0n ? parts.length - 1 : Math.min(Number(most), parts.length - 1);
  spendOnSize(text.length + count * to.length);
  const replaced = count === 0 ? '' : parts.slice(0, count).join(to) + to;
  return replaced + parts.slice(count).join(from);
}

export const lowerAscii = (text: string): string => text.replace(/[A-Z]+/g, (some) => some.toLowerCase());
export const upperAscii = (text: string): string => text.replace(/[a-z]+/g, (some) => some.toUpperCase());

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\x07', '\\a'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\v', '\\v'],
  ['\\', '\\\\'],
  ['"', '\\"'],
]);

const ESCAPED = /[\p{Cc}\\"]/gu;

/** `strings.quote`: other control characters stay as they are. */
export const quote = (text: string): string =>
  `"${text.toWellFormed().replace(ESCAPED, (one) => ESCAPES.get(one) ?? one)}"`;
