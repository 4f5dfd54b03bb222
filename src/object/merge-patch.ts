import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import type { FieldSchema, MessageSchema, ValueSchema } from '../api/schema.ts';
import { getOrAdd } from '../util/get-or-add.ts';
import { goPlain, goTypeOf } from './go-value.ts';
import { isObject, setField } from './json-values.ts';
import { PatchError } from './patch-error.ts';

/** JSON Merge Patch (RFC 7386): null deletes, objects merge, everything else replaces. The input is not changed. */
export function applyMergePatch(target: JsonValue | undefined, patch: JsonValue): JsonValue {
  if (!isObject(patch)) return patch;
  const out: JsonObject = isObject(target) ? { ...target } : {};
  for (const key of Object.keys(patch)) {
    const value = patch[key];
    if (value === undefined) continue;
    if (value === null) delete out[key];
    else setField(out, key, applyMergePatch(Object.hasOwn(out, key) ? out[key] : undefined, value));
  }
  return out;
}

/**
 * Strategic merge patch (apimachinery, util/strategicpatch): a merge patch that knows which lists are really maps. Lists
 * with a merge key merge element by element, lists of scalars marked so merge as sets, all others are replaced.
 *
 * Directives in a patch: `$patch: replace | delete | merge` in an object or as a list element, `$retainKeys` (only these
 * fields stay), `$deleteFromPrimitiveList/<field>`, `$setElementOrder/<field>`.
 *
 * @throws PatchError when the patch does not fit the type. The input is not changed.
 */
export function applyStrategicMerge(
  target: JsonObject,
  patch: JsonObject,
  schema: MessageSchema,
): JsonObject {
  return mergeObject(target, patch, schema) ?? {};
}

type Fields = MessageSchema | undefined;
/** Letters of a value that a message shows. */
const SHOWN_LETTERS = 4096;
const DELETE_FROM = '$deleteFromPrimitiveList/';
const ELEMENT_ORDER = '$setElementOrder/';

/** Undefined: the patch deletes the object. */
function mergeObject(target: JsonObject, patch: JsonObject, schema: Fields): JsonObject | undefined {
  const directive = patch.$patch;
  if (directive === 'delete') return undefined;
  if (directive === 'replace') return withoutDirectives(patch);
  if (directive !== undefined && directive !== 'merge') {
    const { $patch: _, ...rest } = patch;
    const shown = goPlain(rest, SHOWN_LETTERS);
    throw new PatchError('unmergeable', `unknown patch type: ${goPlain(directive)} in map: ${shown}`);
  }
  const out: JsonObject = { ...target };
  retainKeys(out, patch);
  for (const key of Object.keys(patch)) {
    const value = patch[key];
    if (value === undefined || key === '$patch' || key === '$retainKeys') continue;
    if (key.startsWith(DELETE_FROM)) deleteFromList(out, key.slice(DELETE_FROM.length), value);
    else if (key.startsWith(ELEMENT_ORDER)) orderOnly(out, patch, key.slice(ELEMENT_ORDER.length), schema);
    else if (value === null) delete out[key];
    else mergeField(out, patch, key, schema);
  }
  return out;
}

function retainKeys(out: JsonObject, patch: JsonObject): void {
  const retained = patch.$retainKeys;
  if (retained === undefined) return;
  if (!Array.isArray(retained)) throw new PatchError('malformed', 'invalid patch format of retainKeys');
  const kept = new Set(retained);
  for (const key of Object.keys(patch)) {
    if (!key.startsWith('$') && patch[key] !== null && !kept.has(key)) {
      throw new PatchError('inapplicable', "patch content doesn't match retainKeys list");
    }
  }
  for (const key of Object.keys(out)) if (!kept.has(key)) delete out[key];
}

function mergeField(out: JsonObject, patch: JsonObject, key: string, schema: Fields): void {
  const value = patch[key] ?? null;
  const field = schema?.fields.get(key);
  const current = Object.hasOwn(out, key) ? out[key] : undefined;
  if (isObject(value)) {
    if (field?.patchStrategy.includes('replace') === true) {
      setField(out, key, value);
      return;
    }
    const inner = messageOf(field?.value);
    const merged = mergeObject(isObject(current) ? current : {}, value, inner);
    if (merged === undefined) delete out[key];
    else setField(out, key, merged);
    return;
  }
  if (!Array.isArray(value)) {
    setField(out, key, value);
    return;
  }
  const order = patch[`${ELEMENT_ORDER}${key}`];
  setField(
    out,
    key,
    mergeList({ current: Array.isArray(current) ? current : [], patch: value, order, field }),
  );
}

function messageOf(value: ValueSchema | undefined): Fields {
  if (value?.kind === 'message') return value.message;
  if (value?.kind === 'list') return messageOf(value.items);
  return undefined;
}

interface ListMerge {
  readonly current: readonly JsonValue[];
  readonly patch: readonly JsonValue[];
  readonly order: JsonValue | undefined;
  readonly field: FieldSchema | undefined;
}

function mergeList({ current, patch, order, field }: ListMerge): JsonValue[] {
  const merges = field?.patchStrategy.includes('merge') === true;
  if (!merges) return patch.map(stripDirectives);
  const key = field.patchMergeKey;
  if (key === undefined)
    return orderScalars([...new Set([...current, ...patch])], current, order ?? [...patch]);
  const replace = patch.some((element) => isObject(element) && element.$patch === 'replace');
  const elements = patch.filter(
    (element) => !(isObject(element) && element.$patch === 'replace' && !(key in element)),
  );
  const base = replace ? [] : [...current];
  const merged = mergeElements(base, elements, key, messageOf(field.value));
  return orderElements(merged, current, order ?? elements, key);
}

function mergeElements(
  base: JsonValue[],
  patch: readonly JsonValue[],
  key: string,
  schema: Fields,
): JsonValue[] {
  const out: (JsonValue | undefined)[] = base;
  const places = placesById(base, key);
  for (const element of patch) {
    if (!isObject(element))
      throw new PatchError('unmergeable', `expected a ${goTypeOf({})}, but received a ${goTypeOf(element)}`);
    const id = element[key];
    if (id === undefined) {
      const shown = goPlain(element, SHOWN_LETTERS);
      throw new PatchError('unmergeable', `map: ${shown} does not contain declared merge key: ${key}`);
    }
    const known = places.get(id);
    const found = known === undefined ? undefined : out[known[0] ?? 0];
    const merged = mergeObject(isObject(found) ? found : {}, element, schema);
    if (merged === undefined) {
      for (const at of known ?? []) out[at] = undefined;
      places.delete(id);
    } else if (known !== undefined) out[known[0] ?? 0] = merged;
    else places.set(id, [out.push(merged) - 1]);
  }
  return out.filter((item) => item !== undefined);
}

/** The indexes of elements by value of the merge key. */
function placesById(list: readonly JsonValue[], key: string): Map<JsonValue, number[]> {
  const places = new Map<JsonValue, number[]>();
  for (const [at, item] of list.entries()) {
    const id = isObject(item) ? item[key] : undefined;
    if (id === undefined) continue;
    getOrAdd(places, id, () => []).push(at);
  }
  return places;
}

/**
 * Orders elements as the patch or `$setElementOrder` does; an element that only the server has comes before the first that
 * followed it, and after new ones. A container that a patch adds is therefore the first (Kubernetes:
 * apimachinery/pkg/util/strategicpatch, mergeSortedSlice).
 */
function orderElements(
  merged: JsonValue[],
  before: readonly JsonValue[],
  order: JsonValue,
  key: string,
): JsonValue[] {
  if (!Array.isArray(order)) return merged;
  const idOf = (item: JsonValue | undefined): JsonValue | undefined =>
    isObject(item) ? item[key] : undefined;
  return place(merged, before, order.map(idOf), idOf);
}

function orderScalars(merged: JsonValue[], before: readonly JsonValue[], order: JsonValue): JsonValue[] {
  return Array.isArray(order) ? place(merged, before, order, (item) => item) : merged;
}

function place(
  merged: readonly JsonValue[],
  before: readonly JsonValue[],
  order: readonly (JsonValue | undefined)[],
  idOf: (item: JsonValue | undefined) => JsonValue | undefined,
): JsonValue[] {
  const ranks = firstPlaces(order);
  const listed: { readonly item: JsonValue; readonly rank: number }[] = [];
  const others: JsonValue[] = [];
  for (const item of merged) {
    const rank = ranks.get(idOf(item));
    if (rank === undefined) others.push(item);
    else listed.push({ item, rank });
  }
  listed.sort((a, b) => a.rank - b.rank);
  if (others.length === 0) return listed.map(({ item }) => item);
  const oldPlaces = firstPlaces(before.map(idOf));
  const oldPlace = (item: JsonValue): number => oldPlaces.get(idOf(item)) ?? -1;
  const out: JsonValue[] = [];
  let next = 0;
  for (const { item } of listed) {
    for (; next < others.length; next += 1) {
      const other = others[next];
      if (other === undefined) break;
      const [a, b] = [oldPlace(other), oldPlace(item)];
      if (a < 0 || b < 0 || a > b) break;
      out.push(other);
    }
    out.push(item);
  }
  return [...out, ...others.slice(next)];
}

function firstPlaces(ids: readonly (JsonValue | undefined)[]): Map<JsonValue | undefined, number> {
  const places = new Map<JsonValue | undefined, number>();
  // Backwards, so that the first one stays.
  for (let at = ids.length - 1; at >= 0; at -= 1) places.set(ids[at], at);
  return places;
}

function deleteFromList(out: JsonObject, key: string, gone: JsonValue): void {
  if (!Array.isArray(gone)) throw new PatchError('malformed', 'invalid patch format of primitive list');
  const current = out[key];
  if (!Array.isArray(current)) return;
  const values = new Set(gone);
  setField(
    out,
    key,
    current.filter((item) => !values.has(item)),
  );
}

/** A list order without changes still reorders the list. */
function orderOnly(out: JsonObject, patch: JsonObject, key: string, schema: Fields): void {
  const current = out[key];
  if (patch[key] !== undefined || !Array.isArray(current)) return;
  const field = schema?.fields.get(key);
  setField(out, key, mergeList({ current, patch: [], order: patch[`${ELEMENT_ORDER}${key}`], field }));
}

function withoutDirectives(patch: JsonObject): JsonObject {
  const out: JsonObject = {};
  for (const key of Object.keys(patch)) {
    const value = patch[key];
    if (!key.startsWith('$') && value !== undefined && value !== null)
      setField(out, key, stripDirectives(value));
  }
  return out;
}

function stripDirectives(value: JsonValue): JsonValue {
  if (Array.isArray(value)) {
    return value.filter((item) => !(isObject(item) && item.$patch !== undefined)).map(stripDirectives);
  }
  return isObject(value) ? withoutDirectives(value) : value;
}
