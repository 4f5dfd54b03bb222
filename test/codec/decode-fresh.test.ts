import { expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { JsonObject, JsonValue } from '../../src/api/object-meta.ts';
import type { MessageSchema } from '../../src/api/schema.ts';
import { decodeObject } from '../../src/codec/decode.ts';
import { DecodeError } from '../../src/codec/decode-error.ts';
import { isObject } from '../../src/object/json-values.ts';
import { RandomObjects } from './random-object.ts';

const types = loadTypes();
const parse = (text: string): JsonObject => JSON.parse(text) as JsonObject;

test('a fresh value that is canonical becomes the object itself', () => {
  for (const [seed, name] of [...types.names()].entries()) {
    const schema = types.message(name);
    const { object: canonical } = decodeObject(new RandomObjects(seed).object(schema), schema);
    const value = parse(JSON.stringify(canonical));
    expect(decodeObject(value, schema, { fresh: true }).object, name).toBe(value);
  }
});

test('a value that is not fresh is neither changed nor shared', () => {
  const schema = types.message('core/v1.Pod');
  const { object: canonical } = decodeObject(new RandomObjects(3).object(schema), schema);
  const text = JSON.stringify(canonical);
  const { object } = decodeObject(canonical, schema);
  expect(object).not.toBe(canonical);
  expect(object.spec).not.toBe(canonical.spec);
  expect(JSON.stringify(object)).toBe(text);
  expect(JSON.stringify(canonical)).toBe(text);
});

/** The object or the error, and the unknown fields, as text. */
function outcome(text: string, schema: MessageSchema, fresh: boolean): string {
  try {
    return JSON.stringify(decodeObject(parse(text), schema, { fresh }));
  } catch (error) {
    if (error instanceof DecodeError) return error.message;
    throw error;
  }
}

const ODD: readonly JsonValue[] = [
  null,
  0,
  '',
  false,
  {},
  [],
  1,
  'x',
  { a: 1 },
  [null],
  { a: null },
  '1000m',
];
const KEYS = ['nope', '__proto__', 'constructor', 'kind', '5'];

/** Values replaced, fields in another order, fields that no type has. */
class Mangler {
  #state = 1;

  mangle(value: JsonValue | undefined): JsonValue {
    if (value === undefined || this.#below(40) === 0)
      return structuredClone(ODD[this.#below(ODD.length)] ?? null);
    if (Array.isArray(value)) return value.map((item) => this.mangle(item));
    if (!isObject(value)) return value;
    const entries = Object.entries(value).map(([key, item]) => [key, this.mangle(item)] as const);
    if (this.#below(3) === 0) entries.sort(([a], [b]) => (a < b ? -1 : 1));
    if (this.#below(40) === 0) entries.push([KEYS[this.#below(KEYS.length)] ?? '', this.mangle(undefined)]);
    return Object.fromEntries(entries);
  }

  #below(limit: number): number {
    this.#state = (Math.imul(this.#state, 1664525) + 1013904223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * limit);
  }
}

test('keeping what may be kept comes to the same as making everything anew', () => {
  const mangler = new Mangler();
  for (const [seed, name] of [...types.names()].entries()) {
    const schema = types.message(name);
    const text = JSON.stringify(mangler.mangle(new RandomObjects(seed).object(schema)));
    expect(outcome(text, schema, true), `${name} ${text}`).toBe(outcome(text, schema, false));
  }
});

test('fields come in the order of the type from every order of the input', () => {
  for (const [seed, name] of [...types.names()].entries()) {
    const schema = types.message(name);
    const { object } = decodeObject(new RandomObjects(seed).object(schema), schema);
    const backwards = Object.fromEntries(Object.entries(object).reverse());
    expect(JSON.stringify(decodeObject(backwards, schema, { fresh: true }).object)).toBe(
      JSON.stringify(object),
    );
  }
});
