import type { ObjectType } from '../../cel/objects.ts';
import {
  additionalSchemaOf,
  hasDefault,
  isEmbedded,
  isIntOrString,
  itemsOf,
  propertyOf,
  type Schema,
} from '../schema-node.ts';
import { escapeName, escapeReserved, isReserved } from './escape.ts';

/**
 * Types of expressions from a schema, with the sizes for cost estimates (apiserver/pkg/cel/common/schemas.go). Values that
 * expressions cannot use have no type: those without a schema, and lists and maps of them.
 */

interface Sized {
  readonly schema: Schema;
  /** The most characters, items or entries; 0 where it does not apply. */
  readonly maxElements: number;
  /** The fewest bytes of JSON. */
  readonly minSize: number;
}

export type SimpleType = Sized & { readonly kind: 'simple'; readonly name: string };
export type ListType = Sized & { readonly kind: 'list'; readonly items: DeclaredType };
export type MapType = Sized & { readonly kind: 'map'; readonly values: DeclaredType };
export type DeclaredType = SimpleType | ListType | MapType | DeclaredObject;

/** The size limit of a request, and so of its values. */
export const MAX_REQUEST_BYTES = 3 * 1024 * 1024;

interface Field {
  /** The name in JSON. */
  readonly name: string;
  readonly type: DeclaredType;
}

/** An object with named fields. Types its fields on demand. */
export class DeclaredObject implements ObjectType, Sized {
  readonly kind = 'object';
  readonly schema: Schema;
  readonly maxElements = 0;
  readonly #isResource: boolean;
  #fields: ReadonlyMap<string, Field> | undefined;
  #properties: Record<string, Schema> | undefined;
  #minSize: number | undefined;

  constructor(schema: Schema, isResource: boolean) {
    this.schema = schema;
    this.#isResource = isResource;
  }

  /** The schemas of the fields by JSON name; a resource always has a kind and a name. */
  get properties(): Record<string, Schema> {
    const { properties = {} } = this.schema;
    this.#properties ??= this.#isResource ? withMetadata(properties) : properties;
    return this.#properties;
  }

  fieldType(name: string): DeclaredType | undefined {
    return this.field(name)?.type;
  }

  /** The field of a name in expressions. */
  field(name: string): Field | undefined {
    this.#fields ??= this.#readFields();
    return this.#fields.get(isReserved(name) ? escapeReserved(name) : name);
  }

  propertyType(name: string): DeclaredType | undefined {
    const schema = propertyOf(this, name);
    return schema === undefined ? undefined : typeOfSchema(schema);
  }

  get minSize(): number {
    this.#minSize ??= this.#sizeOfRequired();
    return this.#minSize;
  }

  #readFields(): ReadonlyMap<string, Field> {
    const fields = new Map<string, Field>();
    for (const name of Object.keys(this.properties)) {
      const escaped = escapeName(name);
      const type = this.propertyType(name);
      if (escaped !== undefined && type !== undefined) fields.set(escaped, { name, type });
    }
    return fields;
  }

  #sizeOfRequired(): number {
    let size = 2;
    for (const name of new Set(this.schema.required)) {
      const type = this.propertyType(name);
      if (type !== undefined && !hasDefault(type.schema)) size += Buffer.byteLength(name) + type.minSize + 4;
    }
    return size;
  }
}

const TEXT: Schema = { type: 'string' };
const METADATA: Schema = { type: 'object', properties: { name: TEXT, generateName: TEXT } };

/** Adds all or none, as Kubernetes does: one missing field replaces the others too. */
function withMetadata(properties: Record<string, Schema>): Record<string, Schema> {
  const { kind, apiVersion, metadata } = properties;
  const { name, generateName } = metadata?.properties ?? {};
  const isWhole =
    [kind, apiVersion, name, generateName].every((one) => one?.type === 'string') &&
    metadata?.type === 'object';
  return isWhole ? properties : { ...properties, kind: TEXT, apiVersion: TEXT, metadata: METADATA };
}

type Known = { readonly plain?: DeclaredType | undefined; readonly root?: DeclaredType | undefined };
const known = new WeakMap<Schema, Known>();

/** Undefined: expressions cannot see the value. `isResource`: the root of a resource, embedded or not. */
export function typeOfSchema(schema: Schema, isResource = isEmbedded(schema)): DeclaredType | undefined {
  const which = isResource ? 'root' : 'plain';
  const before = known.get(schema);
  if (before !== undefined && which in before) return before[which];
  const type = create(schema, isResource);
  known.set(schema, { ...known.get(schema), [which]: type });
  return type;
}

function create(schema: Schema, isResource: boolean): DeclaredType | undefined {
  if (isIntOrString(schema)) return simple(schema, 'dyn', 1, MAX_REQUEST_BYTES - QUOTES);
  switch (schema.type) {
    case 'array':
      return listOf(schema);
    case 'object':
      return additionalSchemaOf(schema) === undefined
        ? new DeclaredObject(schema, isResource)
        : mapOf(schema);
    case 'string':
      return text(schema);
    case 'boolean':
      return simple(schema, 'bool', 4);
    case 'number':
      return simple(schema, 'double', 1);
    case 'integer':
      return simple(schema, 'int', 1);
    default:
      return undefined;
  }
}

const QUOTES = 2;

const simple = (schema: Schema, name: string, minSize: number, maxElements = 0): SimpleType => ({
  kind: 'simple',
  schema,
  name,
  minSize,
  maxElements,
});

function listOf(schema: Schema): ListType | undefined {
  const below = itemsOf(schema);
  const items = below && typeOfSchema(below);
  if (items === undefined) return undefined;
  const most = limit(schema.maxItems) ?? Math.floor((MAX_REQUEST_BYTES - QUOTES) / (items.minSize + 1));
  return { kind: 'list', schema, items, maxElements: most, minSize: 2 };
}

/** `"":` and a comma: the bytes of an entry besides its value. */
const ENTRY_BYTES = 6;

function mapOf(schema: Schema): MapType | undefined {
  const below = additionalSchemaOf(schema);
  const values = below && typeOfSchema(below);
  if (values === undefined) return undefined;
  const most =
    limit(schema.maxProperties) ?? Math.floor((MAX_REQUEST_BYTES - QUOTES) / (values.minSize + ENTRY_BYTES));
  return { kind: 'map', schema, values, maxElements: most, minSize: 2 };
}

const limit = (given: number | bigint | undefined): number | undefined =>
  given === undefined ? undefined : Math.max(0, Number(given));

/** Formats whose values are not texts in expressions: their types, and the fewest and most bytes. */
const FORMATS: Readonly<Record<string, readonly [type: string, min: number, max: number]>> = {
  duration: ['google.protobuf.Duration', 3, 32],
  date: ['google.protobuf.Timestamp', 12, 12],
  'date-time': ['google.protobuf.Timestamp', 21, 32],
};

/** A character of a text takes up to four bytes. */
const BYTES_OF_CHARACTER = 4;

function text(schema: Schema): SimpleType {
  const { format = '' } = schema;
  const most = limit(schema.maxLength);
  if (format === 'byte') return simple(schema, 'bytes', 2, most ?? MAX_REQUEST_BYTES - QUOTES);
  const special = Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
  if (special !== undefined) return simple(schema, ...special);
  if (most !== undefined) return simple(schema, 'string', 2, most * BYTES_OF_CHARACTER);
  const words = schema.enum ?? [];
  if (words.length === 0) return simple(schema, 'string', 2, MAX_REQUEST_BYTES - QUOTES);
  const longest = words.map((word) => (typeof word === 'string' ? Buffer.byteLength(word) : 0));
  return simple(schema, 'string', 2, Math.max(...longest));
}
