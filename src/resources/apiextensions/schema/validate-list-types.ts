import type { FieldPath } from '../../../object/field-path.ts';
import { hasDefault, itemsOf, propertyOf, type Schema } from '../../../structural/schema-node.ts';
import { mustBeOneOf } from '../../rules/name-rules.ts';

/** How lists and maps are merged by server-side apply: as one value, as sets, or by keys. */

const LIST_TYPE = 'x-kubernetes-list-type';
const MAP_TYPE = 'x-kubernetes-map-type';
const KEYS = 'x-kubernetes-list-map-keys';

export function validateListAndMapTypes(at: FieldPath, schema: Schema): void {
  validateExtension(at, schema, MAP_EXTENSION);
  validateExtension(at, schema, LIST_EXTENSION);
  validateSet(at, schema);
  validateKeysOwner(at, schema);
  if (schema[LIST_TYPE] === 'map') validateKeys(at, schema);
  validateItems(at, schema);
}

interface Extension {
  readonly name: typeof LIST_TYPE | typeof MAP_TYPE;
  readonly type: string;
  readonly known: readonly string[];
}

const MAP_EXTENSION: Extension = { name: MAP_TYPE, type: 'object', known: ['atomic', 'granular'] };
const LIST_EXTENSION: Extension = { name: LIST_TYPE, type: 'array', known: ['atomic', 'set', 'map'] };

function validateExtension(at: FieldPath, schema: Schema, { name, type, known }: Extension): void {
  const given = schema[name];
  if (given === undefined) return;
  const why = `must be ${type} if ${name} is specified`;
  const { type: own = '' } = schema;
  if (own === '') at.field('type').required(why);
  else if (own !== type) at.field('type').invalid(own, why);
  mustBeOneOf(at.field(name), given, known);
}

/** Members of a set are compared whole, so none may be merged in parts. */
function validateSet(at: FieldPath, schema: Schema): void {
  const items = itemsOf(schema);
  if (schema.type !== 'array' || schema[LIST_TYPE] !== 'set' || items === undefined) return;
  const { type, [LIST_TYPE]: listType = 'atomic', [MAP_TYPE]: mapType } = items;
  const path = at.field('items');
  const why = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  if (type === 'array' && listType !== 'atomic') path.field(LIST_TYPE).invalid(listType, why);
  // Kubernetes shows the list type here, which an object has not.
  else if (type === 'object' && mapType !== 'atomic')
    path.field(MAP_TYPE).invalid(items[LIST_TYPE] ?? 'null', why);
}

function validateKeysOwner(at: FieldPath, { [KEYS]: keys = [], [LIST_TYPE]: listType }: Schema): void {
  if (keys.length === 0 || listType === 'map') return;
  const why = `must be map if ${KEYS} is non-empty`;
  if (listType === undefined) at.field(LIST_TYPE).required(why);
  else at.field(LIST_TYPE).invalid(listType, why);
}

function validateKeys(at: FieldPath, schema: Schema): void {
  const { [KEYS]: keys = [], items: given = null } = schema;
  const items = itemsOf(schema);
  const path = at.field('items');
  if (keys.length === 0) at.field(KEYS).required(`must not be empty if ${LIST_TYPE} is map`);
  if (given === null) path.required(`must have a schema if ${LIST_TYPE} is map`);
  else if (items === undefined) path.invalid(given, `must only have a single schema if ${LIST_TYPE} is map`);
  if (items === undefined) return;
  const { type = '' } = items;
  if (type === 'object') mustBeKeys(at, keys, items);
  else path.field('type').invalid(type, `must be object if parent array's ${LIST_TYPE} is map`);
}

/** `at`: the list. */
function mustBeKeys(at: FieldPath, keys: readonly string[], items: Schema): void {
  const path = at.field(KEYS);
  const seen = new Set<string>();
  for (const key of keys) {
    const property = propertyOf(items, key);
    if (property === undefined) path.invalid(keys, 'entries must all be names of item properties');
    else if (property.type === 'array' || property.type === 'object') {
      const why = `must be a scalar type if parent array's ${LIST_TYPE} is map`;
      // Kubernetes shows the type of the items here, not that of the key.
      at.field('items').field('properties').item(key).field('type').invalid(items.type, why);
    }
    if (seen.has(key)) path.invalid(keys, 'must not contain duplicate entries');
    seen.add(key);
  }
}

/** An item that may be null has no key, and an item whose key may be missing has none either. */
function validateItems(at: FieldPath, schema: Schema): void {
  const items = itemsOf(schema);
  const type = schema[LIST_TYPE];
  if (items === undefined || (type !== 'set' && type !== 'map')) return;
  const path = at.field('items');
  if (items.nullable === true)
    path.field('nullable').forbidden(`cannot be nullable when ${LIST_TYPE} is ${type}`);
  if (type === 'map') mustHaveKeys(path, items, schema[KEYS] ?? []);
}

function mustHaveKeys(at: FieldPath, items: Schema, keys: readonly string[]): void {
  const required = new Set(items.required);
  for (const key of keys) {
    const property = propertyOf(items, key);
    if (property === undefined) continue;
    const path = at.field('properties').item(key);
    if (!required.has(key) && !hasDefault(property)) {
      const why = `this property is in ${KEYS}, so it must have a default or be a required property`;
      path.field('default').required(why);
    }
    if (property.nullable === true)
      path.field('nullable').forbidden(`this property is in ${KEYS}, so it cannot be nullable`);
  }
}
