import type { JsonObject, JsonValue } from '../../../api/object-meta.ts';
import { part, parts } from '../../../object/parts.ts';
import { has, toObject } from '../../validation/fields.ts';

/** Reading of JSONSchemaProps. Nothing is certain of schemas below `items` and `additionalProperties`: they are any JSON. */
export type Schema = JsonObject;

export interface Child {
  readonly schema: Schema;
  readonly path: string;
}

export function propertiesOf(schema: Schema, path = ''): (Child & { readonly name: string })[] {
  return Object.entries(part(schema, 'properties')).map(([name, property]) => ({
    name,
    schema: toObject(property),
    path: `${path}.properties[${name}]`,
  }));
}

export function propertyOf(schema: Schema, name: string): Schema | undefined {
  const properties = part(schema, 'properties');
  return Object.hasOwn(properties, name) ? toObject(properties[name]) : undefined;
}

const isObject = (value: JsonValue | undefined): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The schema of the items; undefined when there is none, or one for each place. */
export const itemsOf = (schema: Schema): Schema | undefined =>
  isObject(schema.items) ? toObject(schema.items) : undefined;

/** The schemas of a tuple, which OpenAPI has not. */
export const tupleOf = (schema: Schema): Schema[] =>
  Array.isArray(schema.items) ? schema.items.map(toObject) : [];

/** A schema, whether anything may come, or undefined where nothing is said. */
export function additionalOf(schema: Schema): Schema | boolean | undefined {
  const additional = schema.additionalProperties;
  if (typeof additional === 'boolean') return additional;
  return isObject(additional) ? toObject(additional) : undefined;
}

export const additionalSchemaOf = (schema: Schema): Schema | undefined => {
  const additional = additionalOf(schema);
  return typeof additional === 'object' ? additional : undefined;
};

export const JUNCTORS = ['allOf', 'anyOf', 'oneOf'] as const;

/** What stands under a logic junctor, `not` included. */
export function clausesOf(schema: Schema, path: string): Child[] {
  const lists = JUNCTORS.flatMap((junctor) =>
    parts(schema, junctor).map((clause, at) => ({ schema: clause, path: `${path}.${junctor}[${at}]` })),
  );
  const not = has(schema, 'not') ? [{ schema: part(schema, 'not'), path: `${path}.not` }] : [];
  return [...lists, ...not];
}

export const isOn = (schema: Schema, name: string): boolean => schema[name] === true;

/** Whether a schema, or one anywhere below it, is what is looked for. */
export function someSchema(schema: Schema, matches: (schema: Schema) => boolean): boolean {
  if (matches(schema)) return true;
  const below = [
    ...propertiesOf(schema).map((property) => property.schema),
    ...clausesOf(schema, '').map((clause) => clause.schema),
    ...tupleOf(schema),
    ...[itemsOf(schema), additionalSchemaOf(schema)].filter((one) => one !== undefined),
    ...['patternProperties', 'definitions'].flatMap((name) =>
      Object.values(part(schema, name)).map(toObject),
    ),
  ];
  return below.some((one) => someSchema(one, matches));
}
