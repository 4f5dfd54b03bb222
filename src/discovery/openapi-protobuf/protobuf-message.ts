import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import { BackwardWriter } from '../../codec/protobuf/backward-writer.ts';
import { asObject } from '../../object/field-errors.ts';
import { Pace } from '../../util/turns.ts';

/**
 * Building blocks for the protobuf form of OpenAPI documents (github.com/google/gnostic-models). Each message is a table from
 * the keys of its JSON to its fields; unknown keys are left out. Writes everything from its end to its beginning, so that deep
 * nesting needs no copies between levels.
 */
type Wire = BackwardWriter;

/** Writes a value as the body of a message. */
export type Body = (out: Wire, value: JsonValue) => void;
/** Writes a value as a field, tag included. */
type Field = (out: Wire, value: JsonValue) => void;

const VARINT = 0;
const FIXED64 = 1;
const DELIMITED = 2;

/** Writes the content after a tag and a length. */
function delimited(out: Wire, number: number, write: () => void): void {
  const before = out.written;
  write();
  out.varint(out.written - before);
  out.varint((number << 3) | DELIMITED);
}

export const text =
  (number: number): Field =>
  (out, value) => {
    if (typeof value === 'string') delimited(out, number, () => out.string(value));
  };

export const flag =
  (number: number): Field =>
  (out, value) => {
    if (value !== true) return;
    out.varint(1);
    out.varint((number << 3) | VARINT);
  };

export const double =
  (number: number): Field =>
  (out, value) => {
    if (typeof value !== 'number' && typeof value !== 'bigint') return;
    out.double(Number(value));
    out.varint((number << 3) | FIXED64);
  };

export const integer =
  (number: number): Field =>
  (out, value) => {
    if (typeof value !== 'number' && typeof value !== 'bigint') return;
    out.integer(value);
    out.varint((number << 3) | VARINT);
  };

export const texts =
  (number: number): Field =>
  (out, value) => {
    for (const item of Array.isArray(value) ? value.toReversed() : [value]) text(number)(out, item);
  };

export const one =
  (number: number, body: Body): Field =>
  (out, value) =>
    delimited(out, number, () => body(out, value));

export const many =
  (number: number, body: Body): Field =>
  (out, value) => {
    if (Array.isArray(value)) for (const item of value.toReversed()) one(number, body)(out, item);
  };

/** A value of any form travels as YAML; JSON is YAML. */
export const any: Body = (out, value) => text(2)(out, `${JSON.stringify(value)}\n`);

/** One entry of a map. */
const entry = (out: Wire, name: string, value: JsonValue, body: Body): void => {
  one(2, body)(out, value);
  text(1)(out, name);
};

/** A map, as entries of the given field. */
export const map =
  (number: number, body: Body): Body =>
  (out, value) => {
    for (const [name, item = null] of Object.entries(asObject(value)).reverse()) {
      delimited(out, number, () => entry(out, name, item, body));
    }
  };

/** A {@link map} of very many entries; yields the event loop between them. */
export async function encodeInTurns(number: number, body: Body, value: JsonObject): Promise<Uint8Array> {
  const encode = map(number, body);
  const pace = new Pace({ stepsBetween: 1 });
  const out = new BackwardWriter();
  for (const [name, item] of Object.entries(value).reverse()) {
    if (pace.isOver()) await pace.rest();
    encode(out, { [name]: item });
  }
  return out.finish();
}

/** Bytes that were encoded before. */
export const encoded =
  (number: number, bytes: Uint8Array): Field =>
  (out) =>
    delimited(out, number, () => out.bytes(bytes));

/** `extensions`: the field for keys that begin with `x-`. */
export function message(fields: Readonly<Record<string, Field>>, extensions = 0): Body {
  return (out, value) => {
    for (const [key, item] of Object.entries(asObject(value)).reverse()) {
      if (item === undefined || item === null) continue;
      const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
      if (field !== undefined) field(out, item);
      else if (extensions > 0 && key.startsWith('x-'))
        delimited(out, extensions, () => entry(out, key, item, any));
    }
  };
}

/** One of several messages: `choose` returns the message and its field. */
export const either =
  (choose: (value: JsonObject) => Field): Body =>
  (out, value) =>
    choose(asObject(value))(out, value);

export function encode(body: Body, value: JsonObject): Buffer {
  const out = new BackwardWriter();
  body(out, value);
  return out.finish();
}
