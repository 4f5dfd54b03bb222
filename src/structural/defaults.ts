import type { JsonObject, JsonValue } from '../api/json.ts';
import { copyJson } from '../object/equality.ts';
import { isObject, setField } from '../object/json-values.ts';
import { additionalSchemaOf, hasDefault, itemsOf, propertyOf, type Schema } from './node.ts';

/**
 * Fills in defaults (apiextensions-apiserver, schema/defaulting). A null that the schema does not allow counts as an absent
 * value: it becomes the default, and a field without a default goes. Such a null in a list stays, for validation to refuse.
 */
export function setDefaults(object: JsonObject, schema: Schema): void {
  dropNulls(object, schema);
  fillIn(object, schema);
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

function fillIn(value: JsonValue | undefined, schema: Schema): void {
  if (typeof value !== 'object' || value === null) return;
  if (isObject(value)) fillInObject(value, schema);
  else fillInList(value, schema);
}

function fillInObject(object: JsonObject, schema: Schema): void {
  for (const name of namesWithDefault(schema)) {
    const property = propertyOf(schema, name);
    if (property === undefined) continue;
    const given = Object.hasOwn(object, name) ? object[name] : undefined;
    if (given === undefined || isWrongNull(given, property)) setField(object, name, defaultOf(property));
  }
  const others = additionalSchemaOf(schema);
  for (const name of Object.keys(object)) {
    const property = propertyOf(schema, name);
    if (property !== undefined) fillIn(object[name], property);
    else if (others !== undefined) {
      if (isWrongNull(object[name], others)) setField(object, name, defaultOf(others));
      fillIn(object[name], others);
    }
  }
}

function fillInList(list: JsonValue[], schema: Schema): void {
  const items = itemsOf(schema);
  if (items === undefined) return;
  for (let at = 0; at < list.length; at += 1) {
    if (isWrongNull(list[at], items)) list[at] = defaultOf(items);
    fillIn(list[at], items);
  }
}

const defaultOf = ({ default: value = null }: Schema): JsonValue => copyJson(value);

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
