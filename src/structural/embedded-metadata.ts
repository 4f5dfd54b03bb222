import type { JsonObject, JsonValue, ObjectMeta } from '../api/object-meta.ts';
import type { MessageSchema } from '../api/schema.ts';
import type { FieldError } from '../api/status.ts';
import { decodeObject } from '../codec/decode.ts';
import { DecodeError } from '../codec/decode-error.ts';
import { required } from '../object/field-errors.ts';
import { FieldPath } from '../object/field-path.ts';
import { goAny } from '../object/go-value.ts';
import { isObject, setField } from '../object/json-values.ts';
import { checkName } from '../object/text-formats.ts';
import { validateObjectMeta } from '../object/validate-metadata.ts';
import {
  additionalSchemaOf,
  isEmbedded,
  itemsOf,
  propertyOf,
  type Schema,
  structuralBelow,
} from './schema-node.ts';

/**
 * Metadata of custom resources, and of objects embedded in them (apiextensions-apiserver, schema/objectmeta): both are typed,
 * also where the schema differs.
 */

interface CoerceOptions {
  /** The type meta/v1.ObjectMeta. */
  readonly objectMeta: MessageSchema;
  /** Drops invalid fields, as on reads from storage. Otherwise they are an error. */
  readonly dropInvalid: boolean;
}

/**
 * Decodes one object's metadata by its type. Returns the paths of unknown fields: `metadata.foo`.
 * @throws DecodeError
 */
export function coerceMetadata(object: JsonObject, options: CoerceOptions): string[] {
  const { metadata } = object;
  if (metadata === undefined) return [];
  const decoded = decodeMetadata(metadata, options);
  if (decoded === undefined) return [];
  object.metadata = decoded.object;
  return decoded.unknown.map((path) => `metadata.${path}`);
}

interface Metadata {
  readonly object: JsonObject;
  readonly unknown: readonly string[];
}

/** Undefined: not an object, but tolerated. @throws DecodeError */
function decodeMetadata(value: JsonValue, { objectMeta, dropInvalid }: CoerceOptions): Metadata | undefined {
  try {
    const { object, unknown } = decodeObject(value ?? {}, objectMeta);
    if (object.creationTimestamp === null) delete object.creationTimestamp;
    return { object, unknown };
  } catch (error) {
    if (!dropInvalid || !(error instanceof DecodeError)) throw error;
    return isObject(value)
      ? decodeMetadata(withoutInvalid(value, objectMeta), { objectMeta, dropInvalid: false })
      : undefined;
  }
}

/** Decodes the fields one by one, and keeps the valid ones. */
function withoutInvalid(metadata: JsonObject, objectMeta: MessageSchema): JsonObject {
  const out: JsonObject = {};
  for (const name of Object.keys(metadata)) {
    const one: JsonObject = {};
    setField(one, name, metadata[name] ?? null);
    try {
      decodeObject(one, objectMeta);
      setField(out, name, metadata[name] ?? null);
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
    }
  }
  return out;
}

/**
 * Decodes metadata of embedded objects: their apiVersion and kind are texts, their metadata is typed. Returns the paths of
 * unknown fields, sorted: `spec.template.metadata.foo`.
 * @throws DecodeError the first error, with its path
 */
export function coerceEmbedded(object: JsonObject, schema: Schema, options: CoerceOptions): string[] {
  const unknown: string[] = [];
  if (hasEmbedded(schema)) new Coercer(options, unknown).value(FieldPath.root(), object, schema);
  return unknown.sort();
}

class Coercer {
  readonly #options: CoerceOptions;
  readonly #unknown: string[];

  constructor(options: CoerceOptions, unknown: string[]) {
    this.#options = options;
    this.#unknown = unknown;
  }

  value(at: FieldPath, value: JsonValue | undefined, schema: Schema): void {
    if (isObject(value)) {
      if (isEmbedded(schema)) this.#head(at, value);
      forEachBelow(at, value, schema, (path, inner, own) => this.value(path, inner, own));
    } else if (Array.isArray(value)) {
      const items = itemsOf(schema);
      if (items !== undefined) for (const [path, item] of at.each(value)) this.value(path, item, items);
    }
  }

  #head(at: FieldPath, object: JsonObject): void {
    for (const name of ['apiVersion', 'kind']) {
      const value = object[name];
      if (value === undefined || typeof value === 'string') continue;
      if (!this.#options.dropInvalid) throw refusal(at.field(name), value, 'must be a string');
      delete object[name];
    }
    try {
      for (const path of coerceMetadata(object, this.#options)) this.#unknown.push(at.field(path).toString());
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
      throw refusal(at.field('metadata'), object.metadata ?? null, error.message);
    }
  }
}

function refusal(at: FieldPath, value: JsonValue, why: string): DecodeError {
  const found: FieldError[] = [];
  FieldPath.root(found).field(at.toString()).invalid(shown(value), why);
  return new DecodeError(found.map(({ field, message }) => `${field}: ${message}`).join());
}

/** Kubernetes shows null in quotes. */
const shown = (value: JsonValue | undefined): unknown => (value === null ? 'null' : goAny(value));

type Visit = (at: FieldPath, value: JsonValue | undefined, schema: Schema) => void;

/** Visits the fields that contain embedded objects, by name. */
function forEachBelow(at: FieldPath, object: JsonObject, schema: Schema, visit: Visit): void {
  const others = additionalSchemaOf(schema);
  for (const name of Object.keys(object).sort()) {
    const property = propertyOf(schema, name);
    if (property !== undefined) {
      if (hasEmbedded(property)) visit(at.field(name), object[name], property);
    } else if (others !== undefined && hasEmbedded(others)) visit(at.item(name), object[name], others);
  }
}

/** Caches which schemas contain embedded objects; few do. */
const known = new WeakMap<Schema, boolean>();

function hasEmbedded(schema: Schema): boolean {
  let has = known.get(schema);
  if (has === undefined) {
    has = isEmbedded(schema);
    for (const one of structuralBelow(schema)) has ||= hasEmbedded(one);
    known.set(schema, has);
  }
  return has;
}

/** Validates the type and metadata of embedded objects. */
export function validateEmbedded(
  object: JsonObject,
  schema: Schema,
  objectMeta: MessageSchema,
): FieldError[] {
  const found: FieldError[] = [];
  const validate: Visit = (at, value, own) => {
    if (isObject(value)) {
      if (isEmbedded(own)) validateHead(at, value, objectMeta);
      forEachBelow(at, value, own, validate);
    } else if (Array.isArray(value)) {
      const items = itemsOf(own);
      if (items !== undefined) for (const [path, item] of at.each(value)) validate(path, item, items);
    }
  };
  if (hasEmbedded(schema)) validate(FieldPath.root(found), object, schema);
  return found;
}

function validateHead(at: FieldPath, object: JsonObject, objectMeta: MessageSchema): void {
  for (const name of ['apiVersion', 'kind']) if (object[name] === undefined) at.add([absent(at.field(name))]);
  const { apiVersion, kind, metadata } = object;
  if (apiVersion !== undefined) validateText(at.field('apiVersion'), apiVersion, checkApiVersion);
  if (kind !== undefined) validateText(at.field('kind'), kind, checkKind);
  if (metadata !== undefined) validateMetadata(at, metadata, objectMeta);
}

/** Since 1.34 the error says no more than that the value is required. */
const absent = (at: FieldPath): FieldError => ({
  ...required(at.toString(), 'must not be empty'),
  messageSince134: 'Required value',
});

function validateText(at: FieldPath, value: JsonValue, check: (text: string) => string[]): void {
  if (typeof value !== 'string') at.invalid(shown(value), 'must be a string');
  else if (value === '') at.invalid(value, 'must not be empty');
  else at.invalidFor(value, check(value));
}

const checkApiVersion = (text: string): string[] =>
  text.split('/').length > 2 ? [`unexpected GroupVersion string: ${text}`] : [];

function checkKind(text: string): string[] {
  const reasons = checkName(text.toLowerCase(), 'dns-1035-label');
  return reasons.length === 0
    ? []
    : [`may have mixed case, but should otherwise match: ${reasons.join(',')}`];
}

function validateMetadata(at: FieldPath, value: JsonValue, objectMeta: MessageSchema): void {
  let meta: ObjectMeta;
  try {
    meta = decodeObject(value ?? {}, objectMeta).object;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    at.field('metadata').invalid(shown(value), error.message);
    return;
  }
  // An embedded object may be unnamed, and its namespace is unknown.
  const named = (meta.name ?? '') === '' ? { ...meta, name: 'fakename' } : meta;
  const rules = {
    namespaced: (meta.namespace ?? '') !== '',
    strategy: { nameRule: 'path-segment' },
  } as const;
  const errors = validateObjectMeta(named, rules);
  at.add(errors.map((error) => ({ ...error, field: at.field(error.field).toString() })));
}
