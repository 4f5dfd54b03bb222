import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import type { MessageSchema, ScalarKind, ValueSchema } from '../api/schema.ts';
import { joinPath } from '../object/document-limits.ts';
import { isWritten, sourceOf } from '../object/written-number.ts';

/** The message is Kubernetes', because clients and their tests search for it. */
export class DecodeError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DecodeError';
  }
}

/** An envelope that names a kind, around bytes that are no message. */
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

/** The kind of a JSON value in the words of Go's decoder. */
export function nameOf(value: JsonValue): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'bigint' || isWritten(value)) return 'number';
  return typeof value;
}

/** A number as it stands in the document, for messages. Undefined for any other value. */
export function numberText(value: JsonValue): string | undefined {
  if (isWritten(value)) return sourceOf(value);
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : undefined;
}

/** Types as Go's decoder names them in its messages. */

/** `core/v1.Container` → `Container`. */
export const shortName = ({ name }: MessageSchema): string => name.slice(name.indexOf('.') + 1);

/** `core/v1.Container` → `v1.Container`. */
export const goName = ({ name }: MessageSchema): string => name.slice(name.indexOf('/') + 1);

export function goType(value: ValueSchema): string {
  switch (value.kind) {
    case 'message':
      return goName(value.message);
    case 'list':
      return `[]${goType(value.items)}`;
    case 'map':
      return `map[string]${goType(value.values)}`;
    case 'SchemaOrArray':
    case 'SchemaOrBool':
    case 'SchemaOrStringArray':
      return `v1.JSONSchemaProps${value.kind.slice('Schema'.length)}`;
    default:
      return goScalar(value.kind);
  }
}

export function goScalar(kind: ScalarKind): string {
  switch (kind) {
    case 'bytes':
      return '[]uint8';
    case 'double':
      return 'float64';
    default:
      return kind;
  }
}

/** The path from an object to one of its values, for messages. */
export class DecodePath {
  readonly #steps: (string | number)[] = [];
  readonly #isField: boolean[] = [];

  enterField(name: string): void {
    this.#steps.push(name);
    this.#isField.push(true);
  }

  /** An item of a list or map, by its index or key. */
  enterItem(at: string | number): void {
    this.#steps.push(at);
    this.#isField.push(false);
  }

  leave(): void {
    this.#steps.pop();
    this.#isField.pop();
  }

  /** `spec.containers[0].imagee`: the field `last` of the value at hand. */
  textOf(last: string): string {
    return [...this.#steps, last].reduce<string>((path, step) => {
      if (typeof step === 'number') return joinPath(path, `[${step}]`);
      return joinPath(path, path === '' ? step : `.${step}`);
    }, '');
  }

  /** Fields alone, as Go's decoder names them: `spec.containers.image`. */
  fields(): string {
    return this.#steps.filter((_, at) => this.#isField[at]).join('.');
  }
}
