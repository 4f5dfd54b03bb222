import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import { cutAfter, MAX_SORTED } from './go-value.ts';
import { isObject } from './json-values.ts';
import { showWritten } from './written-number.ts';

/**
 * A malformed patch (`malformed`, 400), or one that does not fit the object (`inapplicable`, 422). `unmergeable`: a strategic
 * merge patch that does not fit its type, which Kubernetes answers with a 500 and the error's message.
 */
export class PatchError extends Error {
  readonly kind: 'malformed' | 'inapplicable' | 'unmergeable' | 'too-many';

  constructor(kind: PatchError['kind'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'PatchError';
    this.kind = kind;
  }
}

/** An operation `test` of a JSON patch found another value. */
export class TestFailed extends PatchError {
  constructor(path: string) {
    super('inapplicable', `testing value ${path} failed: test failed`);
  }
}

/**
 * The JSON of a patched object in Kubernetes' errors (evanphx/json-patch): objects that the patch changed have sorted keys,
 * others keep their order. Truncated to `mostLetters`.
 */
export function mergedJson(result: JsonValue, patch: JsonValue, mostLetters: number): string {
  const shown = JSON.stringify(sortedAlong(result, patch), showWritten).slice(0, mostLetters + 1);
  return cutAfter(shown.replace(FOR_HTML, escapeForHtml), mostLetters);
}

/** The same for a JSON patch, whose pointers show which objects it changed. */
export function operatedJson(result: JsonValue, operations: JsonValue, mostLetters: number): string {
  const way: JsonObject = {};
  const given = (Array.isArray(operations) ? operations : []).filter(isObject);
  for (const pointer of given.flatMap(({ path = null, from = null }) => [path, from]))
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

/** Characters that Go escapes in JSON, so that the JSON is safe inside HTML. */
const FOR_HTML = /[<>&\u2028\u2029]/g;

const escapeForHtml = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
