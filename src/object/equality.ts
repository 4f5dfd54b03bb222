import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import { setField } from './json-values.ts';

/**
 * Structural equality of JSON values; an absent field equals an undefined one. Key order does not matter. A creationTimestamp that
 * is null equals an absent one: templates have none, which versions of Kubernetes before 1.34 store as null and later ones leave
 * out. So a change of the emulated version changes no object and begins no generation.
 */
export const equal = (a: unknown, b: unknown): boolean => isSame(a, b, false);

/** As {@link equal}, but null equals nothing else: for owners of fields, patches and custom resources. */
export const identical = (a: unknown, b: unknown): boolean => isSame(a, b, true);

function isSame(a: unknown, b: unknown, exactly: boolean): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) return Array.isArray(b) && haveSameItems(a, b, exactly);
  return isFields(a) && isFields(b) && haveSameFields(a, b, NOTHING, exactly);
}

function haveSameItems(a: readonly unknown[], b: readonly unknown[], exactly: boolean): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at += 1) if (!isSame(a[at], b[at], exactly)) return false;
  return true;
}

type Fields = Readonly<Record<string, unknown>>;
const NOTHING: readonly string[] = [];

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Equality of two objects, as {@link equal} has it, that leaves some of their fields out. */
export function equalExcept(a: object, b: object, except: readonly string[]): boolean {
  return isFields(a) && isFields(b) && haveSameFields(a, b, except, false);
}

/** Counts instead of looking both ways: when `b` has every field of `a`, a field of its own makes its count larger. */
function haveSameFields(a: Fields, b: Fields, except: readonly string[], exactly: boolean): boolean {
  let more = 0;
  for (const key in a) {
    const value = a[key];
    if (isAbsent(value, key, exactly) || except.includes(key)) continue;
    if (!isSame(value, b[key], exactly)) return false;
    more -= 1;
  }
  for (const key in b) if (!isAbsent(b[key], key, exactly) && !except.includes(key)) more += 1;
  return more === 0;
}

const isAbsent = (value: unknown, key: string, exactly: boolean): boolean =>
  value === undefined || (value === null && !exactly && key === 'creationTimestamp');

/**
 * A deep copy of plain JSON, texts shared: 11 µs for a pod of 4.5 kB that takes 30 µs to parse again and 78 µs to copy by
 * structuredClone.
 */
export function copyJson<Value extends JsonValue | undefined>(value: Value): Value;
export function copyJson(value: JsonValue | undefined): JsonValue | undefined {
  return value === undefined ? undefined : copy(value);
}

function copy(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copy);
  const out: JsonObject = {};
  for (const key in value) {
    const item = value[key];
    if (item === undefined) out[key] = undefined;
    else if (key === '__proto__') setField(out, key, copy(item));
    else out[key] = copy(item);
  }
  return out;
}
