import protobuf from 'protobufjs/minimal.js';
import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import { asObject } from '../../object/field-errors.ts';
import { Pace } from '../../util/concurrency.ts';

/**
 * Building blocks for the protobuf form of OpenAPI documents (github.com/google/gnostic-models). Each message is a table from
 * the keys of its JSON to its fields; keys that the table does not have are left out.
 */
const { Writer } = protobuf;
type Wire = ReturnType<typeof Writer.create>;

/** Writes a value as the body of a message. */
export type Body = (value: JsonValue) => Uint8Array;
/** Writes a value as a field, tag included. */
type Field = (writer: Wire, value: JsonValue) => void;

const VARINT = 0;
const FIXED64 = 1;
const DELIMITED = 2;

export const text =
  (number: number): Field =>
  (writer, value) => {
    if (typeof value === 'string') writer.uint32((number << 3) | DELIMITED).string(value);
  };

export const flag =
  (number: number): Field =>
  (writer, value) => {
    if (value === true) writer.uint32((number << 3) | VARINT).bool(true);
  };

export const double =
  (number: number): Field =>
  (writer, value) => {
    if (typeof value === 'number') writer.uint32((number << 3) | FIXED64).double(value);
  };

export const texts =
  (number: number): Field =>
  (writer, value) => {
    for (const item of Array.isArray(value) ? value : [value]) text(number)(writer, item);
  };

export const one =
  (number: number, body: Body): Field =>
  (writer, value) => {
    writer.uint32((number << 3) | DELIMITED).bytes(body(value));
  };

export const many =
  (number: number, body: Body): Field =>
  (writer, value) => {
    if (Array.isArray(value)) for (const item of value) one(number, body)(writer, item);
  };

/** A value of any form travels as YAML; JSON is YAML. */
export const any: Body = (value) => {
  const writer = Writer.create();
  text(2)(writer, `${JSON.stringify(value)}\n`);
  return writer.finish();
};

/** One entry of a map. */
const entry =
  (body: Body): Body =>
  (pair) => {
    const [name, value = null] = Array.isArray(pair) ? pair : [];
    const writer = Writer.create();
    text(1)(writer, String(name));
    one(2, body)(writer, value);
    return writer.finish();
  };

/** A map, as entries of the given field. */
export const map =
  (number: number, body: Body): Body =>
  (value) => {
    const writer = Writer.create();
    for (const pair of Object.entries(asObject(value))) one(number, entry(body))(writer, pair as JsonValue);
    return writer.finish();
  };

/** A {@link map} of very many entries; yields the event loop between them. */
export async function mapInTurns(number: number, body: Body, value: JsonObject): Promise<Uint8Array> {
  const encode = map(number, body);
  const pace = new Pace(1);
  const entries: Uint8Array[] = [];
  for (const [name, item] of Object.entries(value)) {
    if (pace.isOver()) await pace.rest();
    entries.push(encode({ [name]: item }));
  }
  return Buffer.concat(entries);
}

/** `extensions`: the field for keys that begin with `x-`. */
export function message(fields: Readonly<Record<string, Field>>, extensions = 0): Body {
  return (value) => {
    const writer = Writer.create();
    for (const [key, item] of Object.entries(asObject(value))) {
      if (item === undefined || item === null) continue;
      const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
      if (field !== undefined) field(writer, item);
      else if (extensions > 0 && key.startsWith('x-')) one(extensions, entry(any))(writer, [key, item]);
    }
    return writer.finish();
  };
}

/** One of several messages: `choose` tells which one, and its field. */
export const either =
  (choose: (value: JsonObject) => Field): Body =>
  (value) => {
    const writer = Writer.create();
    choose(asObject(value))(writer, value);
    return writer.finish();
  };
