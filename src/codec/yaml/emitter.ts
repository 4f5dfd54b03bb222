import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import { sortedKeys, sortingKeys } from './key-order.ts';
import { toYamlNumber } from './numbers.ts';
import { toYamlKey, toYamlText } from './scalar.ts';

/**
 * YAML of JSON values, byte for byte what Kubernetes writes (sigs.k8s.io/yaml): block style, keys in order, lists no deeper
 * than the key they belong to. A pod of 7.7 kB takes 100 µs, where the library that reads YAML takes 1,500.
 */

/** A document. */
export function toYaml(value: JsonValue): string {
  if (isCollection(value)) return toBlock(value, 0);
  return `${toScalar(value, 0, 2)}\n`;
}

/** Items of a list that a key without indent has, without the list around them. */
export const toYamlItem = (value: JsonValue): string => itemOf(value, 0);

type Collection = JsonObject | JsonValue[];

/** Empty ones are written like scalars. */
function isCollection(value: JsonValue | undefined): value is Collection {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.length > 0;
  for (const _ in value) return true;
  return false;
}

const toBlock = (value: Collection, indent: number): string =>
  Array.isArray(value) ? toSequence(value, indent) : toMapping(value, indent);

const SPACES = Array.from({ length: 64 }, (_, width) => ' '.repeat(width));
const spaces = (width: number): string => SPACES[width] ?? ' '.repeat(width);

/** The first line begins where the caller is, the others with the indent. */
function toSequence(items: readonly JsonValue[], indent: number): string {
  const pad = spaces(indent);
  let text = '';
  for (const item of items) text += (text === '' ? '' : pad) + itemOf(item, indent);
  return text;
}

function itemOf(item: JsonValue, indent: number): string {
  const inner = indent + 2;
  return isCollection(item) ? `- ${toBlock(item, inner)}` : `- ${toScalar(item, inner, inner)}\n`;
}

function toMapping(object: JsonObject, indent: number): string {
  const pad = spaces(indent);
  let text = '';
  for (const name of sortedKeys(object)) {
    const value = object[name];
    if (value !== undefined) text += (text === '' ? '' : pad) + toEntry(name, value, indent);
  }
  return text;
}

function toEntry(name: string, value: JsonValue, indent: number): string {
  const key = toYamlKey(name);
  if (key === undefined) return toLongEntry(name, value, indent);
  if (!isCollection(value)) return `${key}: ${toScalar(value, indent + key.length + 2, indent + 2)}\n`;
  const inner = innerIndent(value, indent);
  return `${key}:\n${spaces(inner)}${toBlock(value, inner)}`;
}

const innerIndent = (value: Collection, indent: number): number =>
  Array.isArray(value) ? indent : indent + 2;

/** A key on lines of its own. */
function toLongEntry(name: string, value: JsonValue, indent: number): string {
  const inner = indent + 2;
  const key = toYamlText(name, { indent: inner, column: inner });
  const shown = isCollection(value) ? toBlock(value, inner) : `${toScalar(value, inner, inner)}\n`;
  return `? ${key}\n${spaces(indent)}: ${shown}`;
}

function toScalar(value: JsonValue, column: number, indent: number): string {
  switch (typeof value) {
    case 'string':
      return toYamlText(value, { indent, column });
    case 'number':
    case 'bigint':
      return toYamlNumber(value);
    case 'boolean':
      return value ? 'true' : 'false';
    default:
      return value === null ? 'null' : Array.isArray(value) ? '[]' : '{}';
  }
}

/** {@link toYamlItem} of what may be very large, in parts; an empty one is only there so that others have their turn. */
export function* yamlItemParts(value: JsonValue): Generator<string> {
  if (isLarge(value)) yield* blockParts('- ', value, 2);
  else yield toYamlItem(value);
}

/** {@link toYaml} of what may be very large. */
export function* yamlParts(value: JsonValue): Generator<string> {
  if (isLarge(value)) yield* blockParts('', value, 0);
  else yield toYaml(value);
}

function* blockParts(prefix: string, value: Collection, indent: number): Generator<string> {
  yield prefix;
  yield '';
  yield* Array.isArray(value) ? sequenceParts(value, indent) : mappingParts(value, indent);
}

function* sequenceParts(items: readonly JsonValue[], indent: number): Generator<string> {
  let pad = '';
  for (const item of items) {
    if (isLarge(item)) yield* blockParts(`${pad}- `, item, indent + 2);
    else yield pad + itemOf(item, indent);
    pad = spaces(indent);
  }
}

function* mappingParts(object: JsonObject, indent: number): Generator<string> {
  const sorting = sortingKeys(object);
  let sorted = sorting.next();
  for (; sorted.done !== true; sorted = sorting.next()) yield '';
  let pad = '';
  for (const name of sorted.value) {
    const value = object[name];
    if (value === undefined) continue;
    const key = toYamlKey(name);
    if (key !== undefined && isLarge(value)) {
      const inner = innerIndent(value, indent);
      yield* blockParts(`${pad}${key}:\n${spaces(inner)}`, value, inner);
    } else yield pad + toEntry(name, value, indent);
    pad = spaces(indent);
  }
}

/** Values that are written in one go: so many take less than 5 ms. */
const MAX_AT_ONCE = 4000;

const isLarge = (value: JsonValue): value is Collection => countValues(value, MAX_AT_ONCE) >= MAX_AT_ONCE;

/** Looks at no more of them than the limit. */
function countValues(value: JsonValue | undefined, limit: number): number {
  if (typeof value !== 'object' || value === null) return 1;
  const items = Array.isArray(value) ? value : Object.keys(value);
  let count = items.length;
  for (let at = 0; at < items.length && count < limit; at += 1) {
    const item = Array.isArray(value) ? value[at] : value[items[at] as string];
    if (typeof item === 'object' && item !== null) count += countValues(item, limit - count);
  }
  return count;
}
