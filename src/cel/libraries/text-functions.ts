import { spendOnSize } from '../budget.ts';

/** Functions of texts that count code points (cel-go: ext/strings). The library counts UTF-16 units and words errors otherwise. */

const SURROGATE = /[\uD800-\uDFFF]/;

/** The code points of a text; most texts are their own. */
const pointsOf = (text: string): string | string[] => (SURROGATE.test(text) ? [...text] : text);

const joined = (points: string | readonly string[]): string =>
  typeof points === 'string' ? points : points.join('');

/** The number of code points before a UTF-16 unit. */
const pointAt = (text: string, unit: number): bigint =>
  unit < 0 ? -1n : BigInt(pointsOf(text.slice(0, unit)).length);

/** @throws Error */
function inText(at: bigint, length: number): number {
  if (at < 0n || at > BigInt(length)) throw new Error(`index out of range: ${at}`);
  return Number(at);
}

/** @throws Error */
export function substring(text: string, start: bigint, end?: bigint): string {
  const points = pointsOf(text);
  if (end !== undefined && start > end)
    throw new Error(`invalid substring range. start: ${start}, end: ${end}`);
  const from = inText(start, points.length);
  return joined(points.slice(from, end === undefined ? undefined : inText(end, points.length)));
}

/** @throws Error */
export function charAt(text: string, at: bigint): string {
  const points = pointsOf(text);
  return points[inText(at, points.length)] ?? '';
}

/** The UTF-16 unit of a code point. @throws Error when the text does not have it */
function unitOf(text: string, at: bigint): number {
  const points = pointsOf(text);
  if (at < 0n || at >= BigInt(points.length)) throw new Error(`index out of range: ${at}`);
  return joined(points.slice(0, Number(at))).length;
}

/** @throws Error */
export function indexOf(text: string, sought: string, from?: bigint): bigint {
  if (sought === '') return from ?? 0n;
  return pointAt(text, text.indexOf(sought, from === undefined ? 0 : unitOf(text, from)));
}

/** @throws Error */
export function lastIndexOf(text: string, sought: string, from?: bigint): bigint {
  if (sought === '') return from ?? BigInt(pointsOf(text).length);
  return pointAt(text, text.lastIndexOf(sought, from === undefined ? text.length : unitOf(text, from)));
}

export function split(text: string, separator: string, most = -1n): string[] {
  const parts = separator === '' ? [...text] : text.split(separator);
  if (most < 0n || BigInt(parts.length) <= most) return parts;
  const count = Number(most);
  return count === 0 ? [] : [...parts.slice(0, count - 1), parts.slice(count - 1).join(separator)];
}

/** An empty `from` is in front of each code point, and at the end. */
export function replace(text: string, from: string, to: string, most = -1n): string {
  const parts = from === '' ? ['', ...text, ''] : text.split(from);
  const count = most < 0n ? parts.length - 1 : Math.min(Number(most), parts.length - 1);
  spendOnSize(text.length + count * to.length);
  return (
    parts
      .slice(0, count)
      .map((part) => part + to)
      .join('') + parts.slice(count).join(from)
  );
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

/** `strings.quote`: other control characters stay as they are. */
export const quote = (text: string): string =>
  `"${[...text.toWellFormed()].map((one) => ESCAPES.get(one) ?? one).join('')}"`;
