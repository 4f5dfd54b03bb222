import type { JsonObject, JsonValue } from '../api/json.ts';
import { StatusError } from '../api/status.ts';
import { copyJson } from '../object/equality.ts';
import { isObject, setField } from '../object/json-values.ts';
import { additionalSchemaOf, hasDefault, itemsOf, propertyOf, type Schema } from './schema-node.ts';

/**
 * Sets defaults (apiextensions-apiserver, schema/defaulting). A null that the schema forbids counts as absent: it takes the
 * default, or is removed. Such a null in a list stays, for validation to refuse; with `keepsNulls` also in a field.
 * @throws StatusError 413 when the defaults exceed the limit of an object
 */
export function setDefaults(
  object: JsonObject,
  schema: Schema,
  { keepsNulls = false }: { readonly keepsNulls?: boolean } = {},
): void {
  if (!keepsNulls) dropNulls(object, schema);
  new Filler().value(object, schema);
}

const isWrongNull = (value: JsonValue | undefined, schema: Schema): boolean =>
  value === null && schema.nullable !== true;

function dropNulls(value: JsonValue | undefined, schema: Schema | undefined): void {
  if (schema === undefined || typeof value !== 'object' || value === null) return;
  if (!isObject(value)) {
    const items = itemsOf(schema);
    for (const item of value) dropNulls(item, items);
    return;
  }
  for (const name of Object.keys(value)) {
    const own = propertyOf(schema, name) ?? additionalSchemaOf(schema);
    if (own === undefined) continue;
    if (isWrongNull(value[name], own) && !hasDefault(own)) delete value[name];
    else dropNulls(value[name], own);
  }
}

/**
 * Most characters of JSON that defaults may add to one object, as many as in a request. Otherwise a large default for the items
 * of a long list would expand a small request to gigabytes.
 */
const MAX_ADDED_CHARS = 3 * 1024 * 1024;
/** The least size of a value, which also bounds very many small ones. */
const CHARS_PER_VALUE = 30;

class Filler {
  #left = MAX_ADDED_CHARS;

  /** @throws StatusError 413 */
  value(value: JsonValue | undefined, schema: Schema): void {
    if (typeof value !== 'object' || value === null) return;
    if (isObject(value)) this.#object(value, schema);
    else this.#list(value, schema);
  }

  #object(object: JsonObject, schema: Schema): void {
    for (const name of namesWithDefault(schema)) {
      const property = propertyOf(schema, name);
      if (property === undefined) continue;
      const given = Object.hasOwn(object, name) ? object[name] : undefined;
      if (given === undefined || isWrongNull(given, property)) setField(object, name, this.#preset(property));
    }
    const others = additionalSchemaOf(schema);
    for (const name of Object.keys(object)) {
      const property = propertyOf(schema, name);
      if (property !== undefined) this.value(object[name], property);
      else if (others !== undefined) {
        if (isWrongNull(object[name], others)) setField(object, name, this.#preset(others));
        this.value(object[name], others);
      }
    }
  }

  #list(list: JsonValue[], schema: Schema): void {
    const items = itemsOf(schema);
    if (items === undefined) return;
    for (let at = 0; at < list.length; at += 1) {
      if (isWrongNull(list[at], items)) list[at] = this.#preset(items);
      this.value(list[at], items);
    }
  }

  #preset(schema: Schema): JsonValue {
    this.#left -= sizeOfDefault(schema);
    if (this.#left < 0) throw tooManyDefaults();
    return copyJson(schema.default ?? null);
  }
}

const tooManyDefaults = (): StatusError =>
  new StatusError({
    code: 413,
    reason: 'RequestEntityTooLarge',
    message: `Request entity too large: defaults of the schema add more than ${MAX_ADDED_CHARS} characters`,
  });

const sizes = new WeakMap<Schema, number>();

function sizeOfDefault(schema: Schema): number {
  let size = sizes.get(schema);
  if (size === undefined) {
    const { default: value = null } = schema;
    size = Math.max(JSON.stringify(value).length, CHARS_PER_VALUE * countValues(value));
    sizes.set(schema, size);
  }
  return size;
}

function countValues(value: JsonValue | undefined): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, item) => sum + countValues(item), 1);
}

/** Few fields have a default, and a schema can have thousands of fields. */
const defaulted = new WeakMap<Schema, readonly string[]>();

function namesWithDefault(schema: Schema): readonly string[] {
  let names = defaulted.get(schema);
  if (names === undefined) {
    names = Object.entries(schema.properties ?? {}).flatMap(([name, own]) => (hasDefault(own) ? [name] : []));
    defaulted.set(schema, names);
  }
  return names;
}
