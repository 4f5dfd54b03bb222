import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import type { FieldSchema, MessageSchema, ValueSchema } from '../api/schema.ts';
import type { FieldError } from '../api/status.ts';
import { equal } from './equality.ts';

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
  for (const field of rulesOf(schema)) {
    const { name } = field;
    if (name === 'metadata' || name === 'status') continue;
    if (old === undefined || !equal(object[name], old[name]))
      validateField(object[name], field, name, errors);
  }
  return errors;
}

const rules = new WeakMap<MessageSchema, readonly FieldSchema[]>();

/** Fields that can be wrong. Most cannot: of the 180 fields of a pod spec and its containers, 40 are looked at. */
function rulesOf(schema: MessageSchema): readonly FieldSchema[] {
  let fields = rules.get(schema);
  if (fields === undefined) {
    const mayBeEmpty = MAY_BE_EMPTY.get(schema.name);
    fields = [...schema.fields.values()].filter(
      ({ name, required, value }) => name !== mayBeEmpty && (required || hasRules(value, [])),
    );
    rules.set(schema, fields);
  }
  return fields;
}

/** Whether a value can be wrong in itself. `seen`: types on the way here, because some hold themselves. */
function hasRules(value: ValueSchema, seen: readonly MessageSchema[]): boolean {
  switch (value.kind) {
    case 'message': {
      const { message } = value;
      if (seen.includes(message)) return false;
      const inside = [...seen, message];
      return [...message.fields.values()].some((field) => field.required || hasRules(field.value, inside));
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
  for (const field of rulesOf(schema)) {
    validateField(object[field.name], field, `${path}.${field.name}`, errors);
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
  if (field.required && isMissing(value, field)) {
    errors.push({ type: 'FieldValueRequired', field: path, message: 'Required value' });
  } else if (value !== undefined && value !== null) validateValue(value, field.value, path, errors);
}

/** Zero numbers and empty lists can be meant; no text and no object can not. A pod without containers is no pod. */
function isMissing(value: JsonValue | undefined, field: FieldSchema): boolean {
  if (field.value.kind === 'string') return value === undefined || value === '';
  if (field.value.kind === 'message') return value === undefined;
  return (
    field.name === 'containers' &&
    (value === undefined || value === null || (Array.isArray(value) && value.length === 0))
  );
}

function validateValue(value: JsonValue, schema: ValueSchema, path: string, errors: FieldError[]): void {
  switch (schema.kind) {
    case 'message':
      validateMessage(value as JsonObject, schema.message, path, errors);
      return;
    case 'list':
      if (schema.items.kind !== 'message' || !Array.isArray(value)) return;
      for (const [at, item] of value.entries()) validateValue(item, schema.items, `${path}[${at}]`, errors);
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
      if (schema.enum === undefined || value === '' || schema.enum.includes(String(value))) return;
      errors.push({
        type: 'FieldValueNotSupported',
        field: path,
        message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${schema.enum.map((one) => JSON.stringify(one)).join(', ')}`,
      });
  }
}
