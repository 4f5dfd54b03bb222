import type { JsonValue } from '../api/json.ts';
import { isInt64 } from '../object/exact-json.ts';
import { numberFormatOf } from './number-formats.ts';
import { checkOfFormat, type FormatCheck } from './schema-formats.ts';
import { additionalSchemaOf, isIntOrString, itemsOf, propertyOf, type Schema } from './schema-node.ts';

/** The types of JSON as bits, to test a value's type with one operation. */
export const TYPES = {
  boolean: 1,
  integer: 2,
  number: 4,
  /** A fraction near enough to an integer to count as one in Kubernetes. */
  nearlyInteger: 8,
  string: 16,
  array: 32,
  object: 64,
} as const;

const ANY = 127;

/** Never called for null. */
export function typeOf(value: JsonValue): number {
  switch (typeof value) {
    case 'string':
      return TYPES.string;
    case 'number':
      return Number.isSafeInteger(value) ? TYPES.integer : typeOfFraction(value);
    case 'boolean':
      return TYPES.boolean;
    case 'bigint':
      return isInt64(value) ? TYPES.integer : TYPES.number;
    default:
      return Array.isArray(value) ? TYPES.array : TYPES.object;
  }
}

const NEAR = 1e-9;

/** go-openapi/swag, IsFloat64AJSONInteger. Integers beyond 2^53 that are written as fractions, 1e17, are none. */
function typeOfFraction(value: number): number {
  if (!(value > 0 && value <= Number.MAX_SAFE_INTEGER)) return TYPES.number;
  const whole = Math.trunc(value);
  const isNear = whole !== 0 && (value - whole) / (value + whole) < NEAR;
  return isNear ? TYPES.nearlyInteger : TYPES.number;
}

/** Whether a fraction counts as an integer. */
export const isNearlyInteger = (value: number): boolean =>
  Number.isSafeInteger(value) || typeOfFraction(value) === TYPES.nearlyInteger;

/** The name of a type in messages. */
export function nameOfType(type: number): string {
  switch (type) {
    case TYPES.boolean:
      return 'boolean';
    case TYPES.integer:
      return 'integer';
    case TYPES.string:
      return 'string';
    case TYPES.array:
      return 'array';
    case TYPES.object:
      return 'object';
    default:
      return 'number';
  }
}

const rules = new WeakMap<Schema, ValueRules>();

/** The rules of a schema. Made for its first value, and kept as long as the schema. */
export function rulesOf(schema: Schema): ValueRules {
  let known = rules.get(schema);
  if (known === undefined) {
    known = new ValueRules(schema);
    rules.set(schema, known);
  }
  return known;
}

/**
 * The rules of one schema in a form that validates fast: reading keywords from the schema takes five times as long. Schemas
 * below have rules of their own.
 */
export class ValueRules {
  readonly schema: Schema;
  readonly types: readonly string[];
  /** Empty: the format is not checked. */
  readonly format: string;
  readonly isOfFormat: FormatCheck | undefined;
  readonly numberType: 'integer' | 'number' | undefined;
  readonly numberFormat: string;
  /** {@link TYPES} */
  readonly allowed: number;
  readonly allowsNull: boolean;
  readonly enum: Enumeration | undefined;
  readonly maxLength: number | undefined;
  readonly minLength: number | undefined;
  readonly pattern: string;
  readonly hasRange: boolean;
  readonly maxItems: number | undefined;
  readonly minItems: number | undefined;
  readonly maxProperties: number | undefined;
  readonly minProperties: number | undefined;
  readonly isUnique: boolean;
  readonly required: readonly string[];
  /** Refuses further fields. */
  readonly isClosed: boolean;
  readonly hasClauses: boolean;
  readonly anyOf: readonly ValueRules[];
  readonly oneOf: readonly ValueRules[];
  readonly allOf: readonly ValueRules[];
  readonly not: ValueRules | undefined;
  readonly items: ValueRules | undefined;
  /** For further fields. */
  readonly others: ValueRules | undefined;
  readonly #properties = new Map<string, ValueRules>();

  constructor(schema: Schema) {
    this.schema = schema;
    this.types = typesOf(schema);
    this.isOfFormat = checkOfFormat(schema.format ?? '');
    this.format = this.isOfFormat === undefined ? '' : (schema.format ?? '');
    const [only] = this.types.length === 1 ? this.types : [];
    this.numberType = only === 'integer' || only === 'number' ? only : undefined;
    this.numberFormat = numberFormatOf(only ?? '', schema.format ?? '');
    this.allowed = allowedBy(this.types, this.format);
    this.enum =
      schema.enum === undefined || schema.enum.length === 0 ? undefined : new Enumeration(schema.enum);
    const takesNull = this.types.length === 0 || schema.nullable === true || this.types.includes('null');
    this.allowsNull = takesNull && this.enum === undefined;
    this.maxLength = limitOf(schema.maxLength);
    this.minLength = limitOf(schema.minLength);
    this.pattern = schema.pattern ?? '';
    this.hasRange = (schema.maximum ?? schema.minimum ?? schema.multipleOf) !== undefined;
    this.maxItems = limitOf(schema.maxItems);
    this.minItems = limitOf(schema.minItems);
    this.maxProperties = limitOf(schema.maxProperties);
    this.minProperties = limitOf(schema.minProperties);
    this.isUnique = schema.uniqueItems === true;
    this.required = schema.required ?? [];
    this.isClosed = schema.additionalProperties === false;
    this.anyOf = (schema.anyOf ?? []).map(rulesOf);
    this.oneOf = (schema.oneOf ?? []).map(rulesOf);
    this.allOf = (schema.allOf ?? []).map(rulesOf);
    this.not = schema.not && rulesOf(schema.not);
    this.hasClauses = this.anyOf.length + this.oneOf.length + this.allOf.length > 0 || this.not !== undefined;
    const items = itemsOf(schema);
    this.items = items && rulesOf(items);
    const others = additionalSchemaOf(schema);
    this.others = others && rulesOf(others);
  }

  /** Undefined: the schema does not have the field. */
  property(name: string): ValueRules | undefined {
    const known = this.#properties.get(name);
    if (known !== undefined) return known;
    const schema = propertyOf(this.schema, name);
    if (schema === undefined) return undefined;
    const own = rulesOf(schema);
    this.#properties.set(name, own);
    return own;
  }
}

function typesOf(schema: Schema): readonly string[] {
  if (isIntOrString(schema)) return ['integer', 'string'];
  return (schema.type ?? '') === '' ? [] : [schema.type ?? ''];
}

/** Texts and lists with a format may have any type except number; the format of texts is checked later. */
function allowedBy(types: readonly string[], format: string): number {
  if (types.length === 0 && format === '') return ANY;
  const isNumber = types.includes('number') || types.includes('integer');
  let allowed = format === '' || isNumber ? 0 : TYPES.string | TYPES.array;
  for (const type of types) allowed |= BITS[type] ?? 0;
  return allowed;
}

const BITS: Readonly<Record<string, number>> = {
  ...TYPES,
  integer: TYPES.integer | TYPES.nearlyInteger,
  number: TYPES.integer | TYPES.nearlyInteger | TYPES.number,
};

const limitOf = (value: number | bigint | undefined): number | undefined =>
  value === undefined ? undefined : Number(value);

/** The permitted values. */
export class Enumeration {
  readonly #values: readonly JsonValue[];
  readonly #texts = new Set<JsonValue>();
  readonly #others: JsonValue[] = [];
  #text: string | undefined;

  constructor(values: readonly JsonValue[]) {
    this.#values = values;
    for (const value of values)
      if (typeof value === 'string') this.#texts.add(value);
      else if (value !== null) this.#others.push(value);
  }

  /** Whether a text is one of the values. */
  hasText(text: JsonValue): boolean {
    return this.#texts.has(text);
  }

  /** The values that are not texts. */
  get others(): readonly JsonValue[] {
    return this.#others;
  }

  /** All values as in messages. */
  get texts(): readonly string[] {
    return this.#values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
  }

  /** Identifies the enumeration. */
  get text(): string {
    this.#text ??= this.texts.join(' ');
    return this.#text;
  }
}
