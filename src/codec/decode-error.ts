import type { JsonObject, JsonValue } from '../api/object-meta.ts';

/** The text is Kubernetes': clients and their tests search for it. */
export class DecodeError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DecodeError';
  }
}

/** Bytes that are no message, in an envelope that says of what kind it should be. */
export class MalformedMessage extends Error {
  /** kind and apiVersion, where they are given. */
  readonly head: JsonObject;

  constructor(message: string, head: JsonObject, options?: ErrorOptions) {
    super(message, options);
    this.name = 'MalformedMessage';
    this.head = head;
  }
}

/** Why a JSON value cannot be read into a Go type. */
export const cannotUnmarshal = (value: JsonValue, type: string): string =>
  `json: cannot unmarshal ${nameOf(value)} into Go value of type ${type}`;

/** The same of a field, `Struct.outer.inner`. */
export const cannotUnmarshalField = (value: JsonValue, field: string, type: string): string =>
  `json: cannot unmarshal ${nameOf(value)} into Go struct field ${field} of type ${type}`;

/** What Go's decoder calls a JSON value. */
export function nameOf(value: JsonValue): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'bigint') return 'number';
  return typeof value;
}
