import type { JSONSchemaProps } from '../api/types/apiextensions/v1.ts';
import type { FieldPath } from '../object/field-path.ts';

/** Accessors for the keywords of schemas. */
export type Schema = JSONSchemaProps;
export type Keyword = keyof Schema;

/** The schemas of the fields, each with its path and the name of its field. */
export function propertiesOf(at: FieldPath, { properties }: Schema): Iterable<[FieldPath, string, Schema]> {
  return properties === undefined ? [] : at.field('properties').entries(properties);
}

export function propertyOf({ properties = {} }: Schema, name: string): Schema | undefined {
  return Object.hasOwn(properties, name) ? properties[name] : undefined;
}

export const hasProperties = ({ properties = {} }: Schema): boolean => Object.keys(properties).length > 0;

/** The schema of the items; undefined: none, or a tuple. */
export const itemsOf = ({ items }: Schema): Schema | undefined =>
  items === null || Array.isArray(items) ? undefined : items;

/** The schemas of a tuple, which OpenAPI lacks. */
export const tupleOf = ({ items }: Schema): readonly Schema[] => (Array.isArray(items) ? items : []);

/** The schema of further fields; undefined: none, or a boolean. */
export const additionalSchemaOf = ({ additionalProperties: additional }: Schema): Schema | undefined =>
  typeof additional === 'object' && additional !== null ? additional : undefined;

/** Whether it has additionalProperties. */
export const hasAdditional = ({ additionalProperties = null }: Schema): boolean =>
  additionalProperties !== null;

const JUNCTORS = ['allOf', 'anyOf', 'oneOf'] as const;
type Junctor = (typeof JUNCTORS)[number] | 'not';

/** The schemas under a logic junctor: path, schema, junctor, and index. */
export function* clausesOf(
  at: FieldPath,
  schema: Schema,
): Generator<[path: FieldPath, clause: Schema, junctor: Junctor, index: number]> {
  for (const junctor of JUNCTORS) {
    const clauses = schema[junctor];
    if (clauses === undefined) continue;
    for (const [path, clause, index] of at.field(junctor).each(clauses)) yield [path, clause, junctor, index];
  }
  if (schema.not !== undefined) yield [at.field('not'), schema.not, 'not', 0];
}

/** The schemas directly below one that a structural schema may have. */
export function* structuralBelow(schema: Schema): Generator<Schema> {
  if (schema.properties !== undefined) yield* Object.values(schema.properties);
  for (const junctor of JUNCTORS) yield* schema[junctor] ?? [];
  if (schema.not !== undefined) yield schema.not;
  const items = itemsOf(schema);
  if (items !== undefined) yield items;
  const additional = additionalSchemaOf(schema);
  if (additional !== undefined) yield additional;
}

/** Whether a schema, or one below it, matches. */
export function someSchema(schema: Schema, matches: (schema: Schema) => boolean): boolean {
  if (matches(schema)) return true;
  for (const one of structuralBelow(schema)) if (someSchema(one, matches)) return true;
  const { patternProperties = {}, definitions = {} } = schema;
  const others = [...tupleOf(schema), ...Object.values(patternProperties), ...Object.values(definitions)];
  return others.some((one) => someSchema(one, matches));
}

/** The value is an integer or a string. */
export const isIntOrString = (schema: Schema): boolean => schema['x-kubernetes-int-or-string'] === true;
/** The value is a whole object of Kubernetes. */
export const isEmbedded = (schema: Schema): boolean => schema['x-kubernetes-embedded-resource'] === true;
/** Keeps unknown fields. */
export const keepsUnknown = (schema: Schema): boolean =>
  schema['x-kubernetes-preserve-unknown-fields'] === true;
export const hasDefault = (schema: Schema): boolean => (schema.default ?? null) !== null;

/** The keywords with a value. */
export const keywordsOf = (schema: Schema): string[] =>
  Object.entries(schema).flatMap(([name, value]) => ((value ?? null) === null ? [] : [name]));

/** Whether a keyword has an effect: a non-empty text, list or map. Of more items, an empty schema has one too. */
export function isUsed(schema: Schema, name: Keyword): boolean {
  const value = schema[name];
  if (value === undefined || value === null || value === '') return false;
  return name === 'additionalItems' || typeof value !== 'object' || Object.keys(value).length > 0;
}

/** Fields of every whole object, also those that its schema omits. */
export const META_FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);
