import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import { hasLongInteger, parseExactly, parsePlainly } from '../object/exact-json.ts';
import { isObject, setField } from '../object/json-values.ts';
import { parseStored, skipString, skipValue } from './stored-object.ts';

/**
 * A stored object as history looks at it: without managedFields, which are half of many objects and tell nothing there, and parsed
 * field by field, because two states that follow each other differ in one or two of them. A pod of 5 kB takes 40 µs to parse; to
 * find that only its status is another one takes 5 for each state.
 *
 *   {"kind":"Pod","apiVersion":"v1","metadata":{"name":"web","managedFields":[…]},"spec":{…},"status":{…}}
 *
 * Nobody may change what it gives out: others look at the same.
 */
export class StoredState {
  readonly #json: Buffer;
  readonly #fields: ReadonlyMap<string, Field> | undefined;
  readonly #parse: (text: string) => JsonValue;
  readonly #values = new Map<string, JsonValue>();
  #object: JsonObject | undefined;

  /** A state is the newer one of one pair and the older one of the next: the same bytes are looked at once. */
  static of(json: Buffer): StoredState {
    const known = states.get(json);
    if (known !== undefined) return known;
    const state = new StoredState(json);
    states.set(json, state);
    return state;
  }

  private constructor(json: Buffer) {
    this.#json = json;
    this.#fields = findFields(json);
    this.#parse = this.#fields !== undefined && hasLongInteger(json) ? parseExactly : parsePlainly;
  }

  /** All of it. */
  get object(): JsonObject {
    this.#object ??= this.#fields === undefined ? parseWhole(this.#json) : this.pick(this.#fields);
    return this.#object;
  }

  /** The fields of one or the other whose bytes are not the same. Undefined: their form is unusual, and they may differ anywhere. */
  differing(other: StoredState): ReadonlySet<string> | undefined {
    const [own, others] = [this.#fields, other.#fields];
    if (own === undefined || others === undefined) return undefined;
    const found = new Set<string>();
    for (const [name, field] of own) {
      const same = others.get(name);
      if (same === undefined || !this.#isSame(field, other, same)) found.add(name);
    }
    for (const name of others.keys()) if (!own.has(name)) found.add(name);
    return found;
  }

  /** These fields, in their order, and the first of all, which says what the object is and keeps it from being empty. */
  pick(names: { has(name: string): boolean } | undefined): JsonObject {
    if (names === undefined || this.#fields === undefined) return this.object;
    const picked: JsonObject = {};
    let isFirst = true;
    for (const [name, field] of this.#fields) {
      if (isFirst || names.has(name)) setField(picked, name, this.#valueOf(name, field));
      isFirst = false;
    }
    return picked;
  }

  #valueOf(name: string, field: Field): JsonValue {
    const known = this.#values.get(name);
    if (known !== undefined) return known;
    const value = this.#parse(this.#textOf(field));
    this.#values.set(name, value);
    return value;
  }

  #textOf({ from, to, cut, uncut }: Field): string {
    if (cut === to) return this.#json.toString('utf8', from, to);
    return this.#json.toString('utf8', from, cut) + this.#json.toString('utf8', uncut, to);
  }

  #isSame(field: Field, other: StoredState, { from, to, cut, uncut }: Field): boolean {
    const head = cut - from;
    const tail = to - uncut;
    if (field.cut - field.from !== head || field.to - field.uncut !== tail) return false;
    const [bytes, others] = [this.#json, other.#json];
    if (bytes.compare(others, from, cut, field.from, field.cut) !== 0) return false;
    return tail === 0 || bytes.compare(others, uncut, to, field.uncut, field.to) === 0;
  }
}

const states = new WeakMap<Buffer, StoredState>();

function parseWhole(json: Buffer): JsonObject {
  const object: JsonObject = parseStored(json);
  const { metadata } = object;
  if (!isObject(metadata) || metadata.managedFields === undefined) return object;
  const { managedFields: _, ...kept } = metadata;
  return { ...object, metadata: kept };
}

/** Where the value of a field is. What is between `cut` and `uncut` does not count; both are its end where nothing is left out. */
interface Field {
  readonly from: number;
  readonly to: number;
  readonly cut: number;
  readonly uncut: number;
}

const OPEN = 0x7b;
const CLOSE = 0x7d;
const QUOTE = 0x22;
const COLON = 0x3a;
const COMMA = 0x2c;

/** Undefined for what is not as this server writes it. */
function findFields(json: Buffer): Map<string, Field> | undefined {
  const fields = new Map<string, Field>();
  let whole = true;
  const end = eachField(json, 0, (key, from, to) => {
    const name = json.toString('utf8', key + 1, from - 2);
    whole &&= !fields.has(name) && !name.includes('\\');
    fields.set(name, (name === 'metadata' ? cutManagedFields(json, from, to) : undefined) ?? uncut(from, to));
  });
  return whole && end === json.length && fields.size > 0 ? fields : undefined;
}

const uncut = (from: number, to: number): Field => ({ from, to, cut: to, uncut: to });

/** Undefined: there are none. */
function cutManagedFields(json: Buffer, from: number, to: number): Field | undefined {
  let found: Field | undefined;
  eachField(json, from, (key, valueFrom, valueTo) => {
    if (!isManagedFields(json, key, valueFrom)) return;
    const isFirst = key === from + 1;
    const isLast = json[valueTo] !== COMMA;
    // With the comma on one side of it.
    found = { from, to, cut: isFirst ? key : key - 1, uncut: isFirst && !isLast ? valueTo + 1 : valueTo };
  });
  return found;
}

const MANAGED_FIELDS = Buffer.from('"managedFields":');

const isManagedFields = (json: Buffer, key: number, valueFrom: number): boolean =>
  valueFrom - key === MANAGED_FIELDS.length &&
  json.compare(MANAGED_FIELDS, 0, MANAGED_FIELDS.length, key, valueFrom) === 0;

/** Tells of each field of an object where its name and its value begin, and where that ends. Answers where the object ends; -1 where it has spaces. */
function eachField(
  json: Buffer,
  open: number,
  tell: (key: number, from: number, to: number) => void,
): number {
  if (json[open] !== OPEN) return -1;
  for (let at = open + 1; json[at] === QUOTE; ) {
    const from = skipString(json, at) + 1;
    if (json[from - 1] !== COLON) return -1;
    const to = skipValue(json, from);
    tell(at, from, to);
    if (json[to] === CLOSE) return to + 1;
    if (json[to] !== COMMA) return -1;
    at = to + 1;
  }
  return -1;
}
