import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import { cutAfter, MAX_SORTED } from './go-plain.ts';
import { isObject } from './merge-patch.ts';

/**
 * The JSON of a patched object as Kubernetes shows it (evanphx/json-patch): what the patch went through has its keys sorted,
 * the rest stands as it was. At most so many letters of it.
 */
export function mergedJson(result: JsonValue, patch: JsonValue, mostLetters: number): string {
  const shown = JSON.stringify(sortedAlong(result, patch)).slice(0, mostLetters + 1);
  return cutAfter(shown.replace(FOR_HTML, escapeForHtml), mostLetters);
}

/** The same for a patch of operations, by what their pointers go through. */
export function operatedJson(result: JsonValue, operations: JsonValue, mostLetters: number): string {
  const way: JsonObject = {};
  for (const operation of Array.isArray(operations) ? operations : [])
    if (isObject(operation))
      for (const pointer of [operation.path, operation.from])
        if (typeof pointer === 'string') addSteps(way, pointer);
  return mergedJson(result, way, mostLetters);
}

function addSteps(way: JsonObject, pointer: string): void {
  let at = way;
  for (const step of pointer.split('/').slice(1, -1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    const next: JsonValue | undefined = Object.hasOwn(at, key) ? at[key] : undefined;
    const inner = isObject(next) ? next : {};
    if (key !== '__proto__') at[key] = inner;
    at = inner;
  }
}

function sortedAlong(value: JsonValue, way: JsonValue | undefined): JsonValue {
  if (typeof value !== 'object' || value === null || typeof way !== 'object' || way === null) return value;
  if (Array.isArray(value)) return value.map((item, at) => sortedAlong(item, stepOf(way, String(at))));
  const keys = Object.keys(value);
  if (keys.length > MAX_SORTED) return value;
  return Object.fromEntries(
    keys.sort().map((key) => [key, sortedAlong(value[key] ?? null, stepOf(way, key))]),
  );
}

const stepOf = (way: JsonObject | JsonValue[], key: string): JsonValue | undefined => {
  if (Array.isArray(way)) return way[Number(key)];
  return Object.hasOwn(way, key) ? way[key] : undefined;
};

/** What Go escapes in JSON for the sake of pages it might stand in. */
const FOR_HTML = /[<>&\u2028\u2029]/g;

const escapeForHtml = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
