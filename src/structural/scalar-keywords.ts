import type { JsonValue } from '../api/json.ts';
import { identical } from '../object/equality.ts';
import { isInt64 } from '../object/exact-json.ts';
import { canonicalText } from './canonical.ts';
import type { Schema } from './schema-node.ts';
import { type Enumeration, isNearlyInteger } from './value-rules.ts';

/** Compares values as Kubernetes does in Go. */

/** Whether a text has more characters. Counts only if its length allows it. */
export function hasMoreThan(text: string, most: number): boolean {
  return text.length > most && lengthOf(text) > most;
}

export function hasFewerThan(text: string, least: number): boolean {
  return text.length < least || (text.length < least * 2 && lengthOf(text) < least);
}

function lengthOf(text: string): number {
  let pairs = 0;
  for (let at = 0; at < text.length - 1; at += 1) {
    if ((text.charCodeAt(at) & 0xfc00) !== 0xd800 || (text.charCodeAt(at + 1) & 0xfc00) !== 0xdc00) continue;
    pairs += 1;
    at += 1;
  }
  return text.length - pairs;
}

/**
 * Whether a value is in an enumeration. Kubernetes converts the value to the type of each member first: to an integer by
 * truncation, and an integer to a text by its code point.
 */
export function isAmong(value: JsonValue, known: Enumeration): boolean {
  if (typeof value === 'string') return known.hasText(value);
  if (value === null) return false;
  if (typeof value === 'number' || typeof value === 'bigint') return isNumberAmong(value, known);
  return known.others.some((one) => identical(one, value));
}

function isNumberAmong(value: number | bigint, known: Enumeration): boolean {
  if (isInteger(value) && known.hasText(characterOf(value))) return true;
  return known.others.some((one) => {
    if (typeof one !== 'number' && typeof one !== 'bigint') return false;
    return (
      one === value || (isInteger(one) && !isInteger(value) && Math.trunc(Number(value)) === Number(one))
    );
  });
}

function characterOf(code: number | bigint): string {
  const isCharacter = code >= 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  return isCharacter ? String.fromCodePoint(Number(code)) : '\ufffd';
}

/** Whether Go represents a number as an integer. */
export const isInteger = (value: number | bigint): boolean =>
  typeof value === 'bigint' ? isInt64(value) : Number.isSafeInteger(value);

/** The limit for a value: truncated for an integer. */
export const limitFor = (value: number | bigint, limit: number): number =>
  isInteger(value) ? Math.trunc(limit) + 0 : limit;

export function exceeds(value: number | bigint, { maximum, exclusiveMaximum }: Schema): boolean {
  if (maximum === undefined) return false;
  const limit = limitFor(value, maximum);
  return exclusiveMaximum === true ? value >= limit : value > limit;
}

export function fallsBelow(value: number | bigint, { minimum, exclusiveMinimum }: Schema): boolean {
  if (minimum === undefined) return false;
  const limit = limitFor(value, minimum);
  return exclusiveMinimum === true ? value <= limit : value < limit;
}

/** `bad-step`: the step is not positive. For an integer the step is truncated. */
export function divides(value: number | bigint, step: number): 'yes' | 'no' | 'bad-step' {
  const own = limitFor(value, step);
  if (own <= 0) return 'bad-step';
  if (isInteger(value)) {
    const exact = typeof value === 'number' && Number.isSafeInteger(own);
    return (exact ? value % own === 0 : BigInt(value) % BigInt(own) === 0n) ? 'yes' : 'no';
  }
  const times = own < 1 ? (1 / own) * Number(value) : Number(value) / own;
  return isNearlyInteger(times) ? 'yes' : 'no';
}

/** Whether a list has equal values. */
export function hasDuplicates(list: readonly JsonValue[]): boolean {
  const scalars = new Set<JsonValue>();
  const compounds = new Set<string>();
  for (const item of list)
    if (typeof item === 'object' && item !== null) compounds.add(canonicalText(item));
    else scalars.add(item);
  return scalars.size + compounds.size < list.length;
}
