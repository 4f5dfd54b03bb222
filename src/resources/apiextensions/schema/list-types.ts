import type { FieldError } from '../../../api/status.ts';
import { forbiddenField, invalidValue, notSupported, required } from '../../../object/field-errors.ts';
import { text } from '../../../object/parts.ts';
import { has } from '../../validation/fields.ts';
import { strings } from '../../validation/values.ts';
import { isOn, itemsOf, propertyOf, type Schema } from './node.ts';

/** How lists and maps are merged by server-side apply: as one value, as sets, or by keys. */

const LIST_TYPE = 'x-kubernetes-list-type';
const MAP_TYPE = 'x-kubernetes-map-type';
const KEYS = 'x-kubernetes-list-map-keys';

export function validateListAndMapTypes(schema: Schema, path: string): FieldError[] {
  return [
    ...validateOwnType(schema, path, { name: MAP_TYPE, type: 'object', known: ['atomic', 'granular'] }),
    ...validateOwnType(schema, path, { name: LIST_TYPE, type: 'array', known: ['atomic', 'set', 'map'] }),
    ...validateSet(schema, path),
    ...validateKeysOwner(schema, path),
    ...(schema[LIST_TYPE] === 'map' ? validateKeys(schema, path) : []),
    ...validateItems(schema, path),
  ];
}

interface Extension {
  readonly name: string;
  readonly type: string;
  readonly known: readonly string[];
}

function validateOwnType(schema: Schema, path: string, { name, type, known }: Extension): FieldError[] {
  if (!has(schema, name)) return [];
  const errors: FieldError[] = [];
  const why = `must be ${type} if ${name} is specified`;
  const given = text(schema.type);
  if (given !== type)
    errors.push(given === '' ? required(`${path}.type`, why) : invalidValue(`${path}.type`, given, why));
  if (!known.includes(text(schema[name])))
    errors.push(notSupported(`${path}.${name}`, text(schema[name]), known));
  return errors;
}

/** Members of a set are compared whole, so none may be merged in parts. */
function validateSet(schema: Schema, path: string): FieldError[] {
  const items = itemsOf(schema);
  if (schema.type !== 'array' || schema[LIST_TYPE] !== 'set' || items === undefined) return [];
  const why = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  const refuse = (name: string): FieldError[] => [
    invalidValue(`${path}.items.${name}`, items[name] ?? null, why),
  ];
  if (items.type === 'array' && has(items, LIST_TYPE) && items[LIST_TYPE] !== 'atomic')
    return refuse(LIST_TYPE);
  return items.type === 'object' && items[MAP_TYPE] !== 'atomic' ? refuse(MAP_TYPE) : [];
}

function validateKeysOwner(schema: Schema, path: string): FieldError[] {
  if (strings(schema, KEYS).length === 0 || schema[LIST_TYPE] === 'map') return [];
  const why = `must be map if ${KEYS} is non-empty`;
  const field = `${path}.${LIST_TYPE}`;
  return has(schema, LIST_TYPE)
    ? [invalidValue(field, text(schema[LIST_TYPE]), why)]
    : [required(field, why)];
}

function validateKeys(schema: Schema, path: string): FieldError[] {
  const keys = strings(schema, KEYS);
  const items = itemsOf(schema);
  const errors: FieldError[] = [];
  if (keys.length === 0) errors.push(required(`${path}.${KEYS}`, `must not be empty if ${LIST_TYPE} is map`));
  if (!has(schema, 'items'))
    errors.push(required(`${path}.items`, `must have a schema if ${LIST_TYPE} is map`));
  else if (items === undefined)
    errors.push(
      invalidValue(`${path}.items`, schema.items, `must only have a single schema if ${LIST_TYPE} is map`),
    );
  if (items === undefined) return errors;
  if (items.type !== 'object') {
    const why = `must be object if parent array's ${LIST_TYPE} is map`;
    return [...errors, invalidValue(`${path}.items.type`, text(items.type), why)];
  }
  return [...errors, ...keys.flatMap((key, at) => validateKey(key, keys.indexOf(key) < at, schema, path))];
}

function validateKey(key: string, repeated: boolean, schema: Schema, path: string): FieldError[] {
  const items = itemsOf(schema) ?? {};
  const property = propertyOf(items, key);
  const refuse = (why: string): FieldError => invalidValue(`${path}.${KEYS}`, schema[KEYS], why);
  const errors: FieldError[] = [];
  if (property === undefined) errors.push(refuse('entries must all be names of item properties'));
  else if (property.type === 'array' || property.type === 'object') {
    const why = `must be a scalar type if parent array's ${LIST_TYPE} is map`;
    errors.push(invalidValue(`${path}.items.properties[${key}].type`, text(items.type), why));
  }
  if (repeated) errors.push(refuse('must not contain duplicate entries'));
  return errors;
}

/** An item that may be null has no key, and an item whose key may be missing has none either. */
function validateItems(schema: Schema, path: string): FieldError[] {
  const items = itemsOf(schema);
  const type = text(schema[LIST_TYPE]);
  if (items === undefined || (type !== 'set' && type !== 'map')) return [];
  const errors: FieldError[] = [];
  if (isOn(items, 'nullable'))
    errors.push(forbiddenField(`${path}.items.nullable`, `cannot be nullable when ${LIST_TYPE} is ${type}`));
  if (type === 'set') return errors;
  const needed = strings(items, 'required');
  for (const key of strings(schema, KEYS)) {
    const property = propertyOf(items, key);
    if (property === undefined) continue;
    const field = `${path}.items.properties[${key}]`;
    if (!needed.includes(key) && !has(property, 'default')) {
      const why = `this property is in ${KEYS}, so it must have a default or be a required property`;
      errors.push(required(`${field}.default`, why));
    }
    if (isOn(property, 'nullable'))
      errors.push(
        forbiddenField(`${field}.nullable`, `this property is in ${KEYS}, so it cannot be nullable`),
      );
  }
  return errors;
}
