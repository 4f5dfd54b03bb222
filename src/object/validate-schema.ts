import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import type { FieldSchema, MessageSchema, ValueSchema } from '../api/schema.ts';
import type { FieldError } from '../api/status.ts';
import { getOrAdd } from '../util/get-or-add.ts';
import { equal } from './equality.ts';
import { counted, required } from './field-errors.ts';
import { type FieldPath, problemsOf } from './field-path.ts';
import { isObject, valueAt } from './json-values.ts';

/**
 * Rules that follow from a type's schema alone: required fields must not be empty, and values must be in their enumeration.
 * Metadata has rules of its own and controllers write status, so both are skipped; so is a field that equals the one in `old`.
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
  /** Fields with rules, in order. Of the 180 of a pod spec and its containers, 40 have rules. */
  readonly fields: readonly FieldSchema[];
  readonly required: readonly FieldSchema[];
  readonly values: ReadonlyMap<string, ValueSchema>;
}

const rules = new WeakMap<MessageSchema, Rules>();

function rulesOf(schema: MessageSchema): Rules {
  const known = rules.get(schema);
  if (known !== undefined) return known;
  const mayBeEmpty = MAY_BE_EMPTY.get(schema.name) ?? [];
  const fields = CHECKED_BY_RULES.has(schema.name)
    ? []
    : [...schema.fields.values()].filter(
        (field) => !mayBeEmpty.includes(field.name) && (mustBeThere(field) || hasRules(field.value, [])),
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
 * Whether a message has no error. Walks the fields that are present, where {@link validateMessage} walks the fields of the
 * type: 4 µs for a pod instead of 9.
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
      return !isObject(value) || isGoodMessage(value, schema.message);
    case 'list': {
      if (!Array.isArray(value)) return true;
      for (const item of value) if (!isGoodValue(item, schema.items)) return false;
      return true;
    }
    case 'map': {
      if (!isObject(value)) return true;
      for (const key in value) if (!isGoodValue(value[key], schema.values)) return false;
      return true;
    }
    case 'SchemaOrArray':
    case 'SchemaOrBool':
    case 'SchemaOrStringArray':
      return true;
    default:
      return isAllowed(value, schema);
  }
}

/** An empty text counts as absent, unless the field tells one from the other; whether it is required is another rule. */
const isAllowed = (value: JsonValue, { enum: allowed, emptyCounts }: Scalar): boolean =>
  allowed === undefined || (value === '' && emptyCounts !== true) || allowed.includes(String(value));

type Scalar = Extract<ValueSchema, { readonly enum?: readonly string[] }>;

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
    // Most fields are absent and optional: only fields with rules need a path.
    if (value !== undefined || field.required) validateField(value, field, `${path}.${field.name}`, errors);
  }
}

/** Required fields in which an empty text has a meaning. */
const MAY_BE_EMPTY: ReadonlyMap<string, readonly string[]> = new Map([
  // The audience of the API server itself.
  ['storage/v1.TokenRequest', ['audience']],
  // An empty name breaks a rule of its own.
  ['core/v1.HTTPHeader', ['name', 'value']],
  ['core/v1.PodCertificateProjection', ['keyType']],
  ['core/v1.Sysctl', ['value']],
  ['discovery/v1.ForZone', ['name']],
  ['flowcontrol/v1.LimitResponse', ['type']],
  ['flowcontrol/v1.PriorityLevelConfigurationSpec', ['type']],
]);

/** Messages of scalars whose required fields the resource's rules check with better messages. */
const CHECKED_BY_RULES: ReadonlySet<string> = new Set([
  'apiextensions/v1.CustomResourceColumnDefinition',
  'apiextensions/v1.CustomResourceSubresourceScale',
  'apiextensions/v1.SelectableField',
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

/** Required texts and objects must not be empty. Zero and an empty list may be intended, but not an empty list of containers. */
const mustBeThere = ({ name, required, value: { kind } }: FieldSchema): boolean =>
  required && (kind === 'string' || kind === 'message' || name === 'containers');

/** For a required field. */
function isMissing(value: JsonValue | undefined, { value: { kind } }: FieldSchema): boolean {
  if (kind === 'string') return value === undefined || value === '';
  if (kind === 'message') return value === undefined;
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

function validateValue(value: JsonValue, schema: ValueSchema, path: string, errors: FieldError[]): void {
  switch (schema.kind) {
    case 'message':
      if (isObject(value)) validateMessage(value, schema.message, path, errors);
      return;
    case 'list':
      if (schema.items.kind !== 'message' || !Array.isArray(value)) return;
      for (const [at, item] of value.entries())
        if (isObject(item)) validateMessage(item, schema.items.message, `${path}[${at}]`, errors);
      return;
    case 'map':
      if (schema.values.kind !== 'message' || !isObject(value)) return;
      for (const [key, item] of Object.entries(value)) {
        if (item !== undefined && item !== null)
          validateValue(item, schema.values, `${path}[${key}]`, errors);
      }
      return;
    case 'SchemaOrArray':
    case 'SchemaOrBool':
    case 'SchemaOrStringArray':
      return;
    default:
      if (schema.enum === undefined || isAllowed(value, schema)) return;
      errors.push(
        counted({
          type: 'FieldValueNotSupported',
          field: path,
          message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${schema.enum.map((one) => JSON.stringify(one)).join(', ')}`,
        }),
      );
  }
}

/** Errors for changed fields that the IDL calls immutable. */
export function validateImmutable(object: JsonObject, old: JsonObject, schema: MessageSchema): FieldError[] {
  const paths = immutablePaths(schema);
  if (paths.length === 0) return [];
  return problemsOf((root) => {
    for (const path of paths) {
      const value = valueAt(object, path) ?? null;
      if (!equal(value, valueAt(old, path) ?? null)) fieldAt(root, path).invalid(value, 'field is immutable');
    }
  });
}

type Path = readonly string[];

const known = new WeakMap<MessageSchema, readonly Path[]>();

function immutablePaths(schema: MessageSchema): readonly Path[] {
  return getOrAdd(known, schema, () => pathsIn(schema, [], [schema]));
}

/** In the order of the type. `seen`: types on the way here, because some hold themselves. */
function pathsIn(schema: MessageSchema, path: Path, seen: readonly MessageSchema[]): Path[] {
  return [...schema.fields.values()].flatMap(({ name, value, immutable }) => {
    const here = [...path, name];
    if (immutable) return [here];
    if (value.kind !== 'message' || seen.includes(value.message)) return [];
    return pathsIn(value.message, here, [...seen, value.message]);
  });
}

const fieldAt = (root: FieldPath, path: Path): FieldPath => path.reduce((at, name) => at.field(name), root);
