import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import type { FieldSchema, MessageSchema, ValueSchema } from '../api/schema.ts';
import type { FieldError } from '../api/status.ts';
import { equal } from './equality.ts';
import { required } from './field-errors.ts';
import { counted } from './problem-bounds.ts';

/**
 * What a type's description alone can say is wrong: required fields that are empty and values outside an enumeration.
 * Metadata has rules of its own, and a status is written by those who know, so neither is looked at; nor is a field that
 * is what it was in `old`.
 */
export function validateAgainstSchema(
  object: JsonObject,
  schema: MessageSchema,
  old?: JsonObject,
): FieldError[] {
  const errors: FieldError[] = [];
  for (const field of rulesOf(schema).fields) {
    const { name } = field;
    if (name === 'metadata' || name === 'status') continue;
    const value = object[name];
    if (old !== undefined && equal(value, old[name])) continue;
    const good = isGoodValue(value, field.value) && !(mustBeThere(field) && isMissing(value, field));
    if (!good) validateField(value, field, name, errors);
  }
  return errors;
}

interface Rules {
  /** Fields that can be wrong, in their order. Of the 180 of a pod spec and its containers, 40 are looked at. */
  readonly fields: readonly FieldSchema[];
  readonly required: readonly FieldSchema[];
  readonly values: ReadonlyMap<string, ValueSchema>;
}

const rules = new WeakMap<MessageSchema, Rules>();

function rulesOf(schema: MessageSchema): Rules {
  const known = rules.get(schema);
  if (known !== undefined) return known;
  const mayBeEmpty = MAY_BE_EMPTY.get(schema.name);
  const fields = [...schema.fields.values()].filter(
    (field) => field.name !== mayBeEmpty && (mustBeThere(field) || hasRules(field.value, [])),
  );
  const made = {
    fields,
    required: fields.filter(mustBeThere),
    values: new Map(
      fields.filter(({ value }) => hasRules(value, [])).map(({ name, value }) => [name, value]),
    ),
  };
  rules.set(schema, made);
  return made;
}

/**
 * Whether nothing is wrong. Goes by the fields that are there, in whatever order, where {@link validateMessage} goes by those
 * there could be: for a pod 4 µs instead of 9.
 */
function isGoodMessage(object: JsonObject, schema: MessageSchema): boolean {
  const { required, values } = rulesOf(schema);
  for (const field of required) if (isMissing(object[field.name], field)) return false;
  for (const name in object) {
    const value = values.get(name);
    if (value !== undefined && !isGoodValue(object[name], value)) return false;
  }
  return true;
}

function isGoodValue(value: JsonValue | undefined, schema: ValueSchema): boolean {
  if (value === undefined || value === null) return true;
  switch (schema.kind) {
    case 'message':
      return isGoodMessage(value as JsonObject, schema.message);
    case 'list': {
      if (!Array.isArray(value)) return true;
      for (const item of value) if (!isGoodValue(item, schema.items)) return false;
      return true;
    }
    case 'map': {
      for (const key in value as JsonObject)
        if (!isGoodValue((value as JsonObject)[key], schema.values)) return false;
      return true;
    }
    case 'SchemaOrArray':
    case 'SchemaOrBool':
    case 'SchemaOrStringArray':
      return true;
    default:
      return isAllowed(value, schema.enum);
  }
}

/** An empty text means none; whether there must be one, the field says. */
const isAllowed = (value: JsonValue, allowed: readonly string[] | undefined): boolean =>
  allowed === undefined || value === '' || allowed.includes(String(value));

/** Whether a value can be wrong in itself. `seen`: types on the way here, because some hold themselves. */
function hasRules(value: ValueSchema, seen: readonly MessageSchema[]): boolean {
  switch (value.kind) {
    case 'message': {
      const { message } = value;
      if (seen.includes(message)) return false;
      const inside = [...seen, message];
      return [...message.fields.values()].some(
        (field) => mustBeThere(field) || hasRules(field.value, inside),
      );
    }
    case 'list':
      return hasRules(value.items, seen);
    case 'map':
      return hasRules(value.values, seen);
    case 'SchemaOrArray':
    case 'SchemaOrBool':
    case 'SchemaOrStringArray':
      return false;
    default:
      return value.enum !== undefined;
  }
}

function validateMessage(
  object: JsonObject,
  schema: MessageSchema,
  path: string,
  errors: FieldError[],
): void {
  for (const field of rulesOf(schema).fields) {
    const value = object[field.name];
    // Most fields are absent, and need not be: a path is made only for what is looked at.
    if (value !== undefined || field.required) validateField(value, field, `${path}.${field.name}`, errors);
  }
}

/** Fields that are required in the description of their type, where an empty text means something all the same. */
const MAY_BE_EMPTY: ReadonlyMap<string, string> = new Map([
  // The audience of the API server itself.
  ['storage/v1.TokenRequest', 'audience'],
]);

function validateField(
  value: JsonValue | undefined,
  field: FieldSchema,
  path: string,
  errors: FieldError[],
): void {
  if (mustBeThere(field) && isMissing(value, field)) {
    errors.push(required(path));
  } else if (value !== undefined && value !== null) validateValue(value, field.value, path, errors);
}

/** Zero numbers and empty lists can be meant; no text and no object can not. A pod without containers is no pod. */
const mustBeThere = ({ name, required, value: { kind } }: FieldSchema): boolean =>
  required && (kind === 'string' || kind === 'message' || name === 'containers');

/** Of a field that must be there. */
function isMissing(value: JsonValue | undefined, { value: { kind } }: FieldSchema): boolean {
  if (kind === 'string') return value === undefined || value === '';
  if (kind === 'message') return value === undefined;
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

function validateValue(value: JsonValue, schema: ValueSchema, path: string, errors: FieldError[]): void {
  switch (schema.kind) {
    case 'message':
      validateMessage(value as JsonObject, schema.message, path, errors);
      return;
    case 'list':
      if (schema.items.kind !== 'message' || !Array.isArray(value)) return;
      for (let at = 0; at < value.length; at += 1)
        validateMessage(value[at] as JsonObject, schema.items.message, `${path}[${at}]`, errors);
      return;
    case 'map':
      if (schema.values.kind !== 'message') return;
      for (const [key, item] of Object.entries(value as JsonObject)) {
        if (item !== undefined && item !== null)
          validateValue(item, schema.values, `${path}[${key}]`, errors);
      }
      return;
    case 'SchemaOrArray':
    case 'SchemaOrBool':
    case 'SchemaOrStringArray':
      return;
    default:
      if (schema.enum === undefined || isAllowed(value, schema.enum)) return;
      errors.push(
        counted({
          type: 'FieldValueNotSupported',
          field: path,
          message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${schema.enum.map((one) => JSON.stringify(one)).join(', ')}`,
        }),
      );
  }
}
