import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import { setField } from './merge-patch.ts';
import { PatchError } from './patch-error.ts';

/** The last step of a JSON pointer: a member of an object or an item of a list. Each throws a PatchError for a bad index. */
export type Container = JsonObject | JsonValue[];

export const isContainer = (value: JsonValue): value is Container =>
  typeof value === 'object' && value !== null;

export function elementOf(container: Container, key: string): JsonValue | undefined {
  if (Array.isArray(container)) return container[toIndex(key, container.length)];
  return Object.hasOwn(container, key) ? container[key] : undefined;
}

export function setElement(container: Container, key: string, value: JsonValue): void {
  if (Array.isArray(container)) container[toIndex(key, container.length)] = value;
  else setMember(container, key, value);
}

/** In front of the item that is there; `-` is behind the last. */
export function insertElement(container: Container, key: string, value: JsonValue): void {
  if (!Array.isArray(container)) setMember(container, key, value);
  else if (key === '-') container.push(value);
  else container.splice(toInsertionIndex(key, container.length), 0, value);
}

export function removeElement(container: Container, key: string): void {
  if (Array.isArray(container)) container.splice(toIndex(key, container.length), 1);
  else if (!Object.hasOwn(container, key) || container[key] === undefined)
    throw new PatchError('inapplicable', `Unable to remove nonexistent key: ${key}: missing value`);
  else delete container[key];
}

function setMember(container: JsonObject, key: string, value: JsonValue): void {
  if (key === '__proto__') setField(container, key, value);
  else container[key] = value;
}

function toInsertionIndex(key: string, length: number): number {
  try {
    return toIndex(key, length + 1);
  } catch (cause) {
    if (!(cause instanceof PatchError) || !cause.message.startsWith('strconv')) throw cause;
    throw new PatchError('inapplicable', `value was not a proper array index: '${key}': ${cause.message}`, {
      cause,
    });
  }
}

function toIndex(key: string, length: number): number {
  if (!/^[+-]?\d+$/.test(key))
    throw new PatchError('inapplicable', `strconv.Atoi: parsing ${JSON.stringify(key)}: invalid syntax`);
  const index = Number(key);
  if (index >= length || index < -length) {
    throw new PatchError(
      'inapplicable',
      `Unable to access invalid index: ${index}: invalid index referenced`,
    );
  }
  return index < 0 ? index + length : index;
}
