import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import { copyJson } from '../../object/equality.ts';
import { isObject, setField } from '../../object/json-values.ts';
import type { Steps } from '../../util/turns.ts';

/**
 * Paths of changed fields, and how a restore copies their values from an earlier state:
 *
 *   spec.template.spec.containers[name=web].image      the element of a list that has these fields
 *   spec.ports[port=80,protocol=TCP].nodePort
 *   spec.args[0]                                        the element at a place
 *   metadata.annotations["a.example/b"]                 a field whose name is no word
 */
type Step =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'element'; readonly keys: readonly (readonly [field: string, value: string])[] }
  | { readonly kind: 'place'; readonly at: number };

export type Path = readonly Step[];

const WORD = /(\.?)([A-Za-z_][A-Za-z0-9_-]*)/y;
const QUOTED = /\[("(?:[^"\\]|\\.)*")\]/y;
const PLACE = /\[(\d{1,9})\]/y;
/** A bracket belongs to the value unless the path could continue after it. */
const ELEMENT = /\[([A-Za-z_][A-Za-z0-9_-]*=(?:[^\]]|\](?![.[]|$))*)\]/y;
/** A comma may be part of a value; one before a field and its equals sign is not. */
const NEXT_KEY = /,(?=[A-Za-z_][A-Za-z0-9_-]*=)/;

/** Undefined: the text is no path. The whole object has no path. */
export function parsePath(text: string): Path | undefined {
  const steps: Step[] = [];
  let at = 0;
  while (at < text.length) {
    const found = stepAt(text, at);
    if (found === undefined) return undefined;
    steps.push(found.step);
    at = found.end;
  }
  return steps.length === 0 ? undefined : steps;
}

function stepAt(text: string, from: number): { step: Step; end: number } | undefined {
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = from;
    return pattern.exec(text);
  };
  const word = match(WORD);
  if (word !== null) {
    const [whole, dot, name = ''] = word;
    // A dot must stand between words, and nowhere else.
    return (dot === '') === (from === 0)
      ? { step: { kind: 'field', name }, end: from + whole.length }
      : undefined;
  }
  const quoted = match(QUOTED);
  if (quoted !== null) {
    const name = readQuoted(quoted[1] ?? '');
    return name === undefined ? undefined : { step: { kind: 'field', name }, end: from + quoted[0].length };
  }
  const place = match(PLACE);
  if (place !== null) return { step: { kind: 'place', at: Number(place[1]) }, end: from + place[0].length };
  const element = match(ELEMENT);
  if (element === null) return undefined;
  const keys = (element[1] ?? '').split(NEXT_KEY).map(toKey);
  return { step: { kind: 'element', keys }, end: from + element[0].length };
}

function readQuoted(text: string): string | undefined {
  try {
    return String(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function toKey(text: string): readonly [string, string] {
  const equals = text.indexOf('=');
  return [text.slice(0, equals), text.slice(equals + 1)];
}

/** The value at a path; undefined where there is none. */
export function valueAtPath(object: JsonValue | undefined, path: Path): JsonValue | undefined {
  let value = object;
  for (const step of path) value = childOf(value, step);
  return value;
}

function childOf(value: JsonValue | undefined, step: Step): JsonValue | undefined {
  if (step.kind === 'field')
    return isObject(value) && Object.hasOwn(value, step.name) ? value[step.name] : undefined;
  if (!Array.isArray(value)) return undefined;
  const at = placeOf(value, step);
  return at < 0 ? undefined : value[at];
}

/** The index of the element; -1: none. */
function placeOf(list: readonly JsonValue[], step: Exclude<Step, { kind: 'field' }>): number {
  if (step.kind === 'place') return step.at < list.length ? step.at : -1;
  return list.findIndex((element) => hasKeys(element, step.keys));
}

const hasKeys = (element: JsonValue, keys: readonly (readonly [string, string])[]): boolean =>
  isObject(element) &&
  keys.every(([field, value]) => {
    const own = Object.hasOwn(element, field) ? element[field] : undefined;
    return own !== undefined && own !== null && typeof own !== 'object' && String(own) === value;
  });

/** Why a path was not copied; undefined: it was. */
export type Refusal = 'names-nothing' | 'parent-is-gone';

/** Paths copied between yields: in the longest lists each takes milliseconds. */
const STRIDE = 8;

/**
 * Copies the value at each path from `then` to `now`, which it changes, and removes what `then` lacks. Returns the
 * refused paths by their index.
 */
export function* takeOver(
  now: JsonObject,
  then: JsonObject,
  paths: readonly Path[],
): Steps<ReadonlyMap<number, Refusal>> {
  const refusals = new Map<number, Refusal>();
  const removals: Path[] = [];
  for (const [at, path] of paths.entries()) {
    if (at % STRIDE === STRIDE - 1) yield;
    const value = valueAtPath(then, path);
    if (value === undefined) {
      if (valueAtPath(now, path) === undefined) refusals.set(at, 'names-nothing');
      else removals.push(path);
    } else if (!put(now, then, path)) refusals.set(at, 'parent-is-gone');
  }
  // Removes from the end of lists, so that earlier indexes stay valid.
  for (const [at, path] of removals.sort(byPlaceDescending).entries()) {
    if (at % STRIDE === STRIDE - 1) yield;
    removeAt(now, path);
  }
  return refusals;
}

const lastPlace = (path: Path): number => {
  const last = path.at(-1);
  return last?.kind === 'place' ? last.at : -1;
};

const byPlaceDescending = (a: Path, b: Path): number => lastPlace(b) - lastPlace(a);

/** False: the path leads through an element that is gone, of which only a part would be restored. */
function put(now: JsonObject, then: JsonObject, path: Path): boolean {
  let to: JsonValue = now;
  let from: JsonValue | undefined = then;
  for (const [at, step] of path.entries()) {
    const value: JsonValue | undefined = childOf(from, step);
    if (at === path.length - 1) return setChild(to, step, { value, siblings: from });
    const next: JsonValue | undefined =
      childOf(to, step) ?? (step.kind === 'field' ? emptyLike(value) : undefined);
    if (next === undefined || next === null || typeof next !== 'object') return false;
    if (step.kind === 'field' && isObject(to)) setField(to, step.name, next);
    to = next;
    from = value;
  }
  return false;
}

const emptyLike = (value: JsonValue | undefined): JsonValue => (Array.isArray(value) ? [] : {});

interface Taken {
  readonly value: JsonValue | undefined;
  /** The list or object that contained the value in the earlier state. */
  readonly siblings: JsonValue | undefined;
}

function setChild(parent: JsonValue, step: Step, { value, siblings }: Taken): boolean {
  const copy = copyJson(value);
  if (copy === undefined) return false;
  if (step.kind === 'field') {
    if (isObject(parent)) setField(parent, step.name, copy);
    return isObject(parent);
  }
  if (!Array.isArray(parent)) return false;
  const at = placeOf(parent, step);
  if (at >= 0) parent[at] = copy;
  else parent.splice(placeFor(parent, step, siblings), 0, copy);
  return true;
}

/** Where to insert a missing element: before the first existing one of those that followed it. */
function placeFor(
  list: readonly JsonValue[],
  step: Exclude<Step, { kind: 'field' }>,
  siblings: JsonValue | undefined,
): number {
  if (step.kind === 'place' || !Array.isArray(siblings)) return list.length;
  const fields = step.keys.map(([field]) => field);
  for (const follower of siblings.slice(placeOf(siblings, step) + 1)) {
    const keys = fields.map((field) => [field, String(isObject(follower) ? follower[field] : '')] as const);
    const at = list.findIndex((element) => hasKeys(element, keys));
    if (at >= 0) return at;
  }
  return list.length;
}

function removeAt(object: JsonObject, path: Path): void {
  const last = path.at(-1);
  const parent = valueAtPath(object, path.slice(0, -1));
  if (last?.kind === 'field') {
    if (isObject(parent)) delete parent[last.name];
  } else if (last !== undefined && Array.isArray(parent)) {
    const at = placeOf(parent, last);
    if (at >= 0) parent.splice(at, 1);
  }
}
