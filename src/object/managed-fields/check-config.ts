import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import type { FieldSchema, MessageSchema, ValueSchema } from '../../api/schema.ts';
import { joinPath, MAX_PROBLEMS } from '../document-limits.ts';
import { isObject } from '../merge-patch.ts';
import { formatPath } from './field-set.ts';
import { elementOf, shapeOfField } from './shape.ts';

/**
 * Whether a configuration can be of a type: fields that exist, values of their kind, list elements that can be told apart.
 * Answers texts such as `.spec.replicas: expected numeric (int or float), got "two"`.
 */
export function checkConfig(config: JsonObject, schema: MessageSchema): readonly string[] {
  const errors = new Problems();
  checkMessage(config, schema, '', errors);
  return errors.texts;
}

/** Whoever adds one asks first whether there is room: the texts take longer to make than to look for. */
class Problems {
  readonly texts: string[] = [];

  add(path: string, why: () => string): void {
    if (this.texts.length < MAX_PROBLEMS) this.texts.push(`${path}: ${why()}`);
  }
}

function checkMessage(object: JsonObject, schema: MessageSchema, path: string, errors: Problems): void {
  for (const [key, value] of Object.entries(object)) {
    if (value === undefined || value === null) continue;
    const at = joinPath(path, `.${key}`);
    const field = schema.fields.get(key);
    if (field !== undefined) checkField(value, field, at, errors);
    else if (schema.typed && (key === 'kind' || key === 'apiVersion'))
      checkScalar(value, 'string', at, errors);
    else if (!schema.preserveUnknownFields) errors.add(at, () => `field not declared in schema`);
  }
}

function checkField(value: JsonValue, field: FieldSchema, path: string, errors: Problems): void {
  checkValue(value, field.value, path, errors);
  const shape = shapeOfField(field);
  if ((shape.kind !== 'set' && shape.kind !== 'keyed') || !Array.isArray(value)) return;
  const seen = new Set<string>();
  for (const [at, item] of value.entries()) {
    const element = elementOf(item, shape);
    if (element === undefined) errors.add(path, () => `element ${at}: ${nameless(shape)}`);
    else if (seen.has(element)) errors.add(path, () => `duplicate entries for key ${formatPath([element])}`);
    else seen.add(element);
  }
}

const nameless = (shape: { kind: 'set' } | { kind: 'keyed'; keys: readonly string[] }): string =>
  shape.kind === 'set'
    ? 'associative list without keys has an element that is no scalar'
    : `associative list with keys has an element that omits all key fields ${JSON.stringify(shape.keys)} (and doesn't have default values for any key fields)`;

function checkValue(value: JsonValue, schema: ValueSchema, path: string, errors: Problems): void {
  switch (schema.kind) {
    case 'message':
      if (isObject(value)) checkMessage(value, schema.message, path, errors);
      else errors.add(path, () => `expected map, got ${JSON.stringify(value)}`);
      return;
    case 'list':
      if (!Array.isArray(value)) errors.add(path, () => `expected list, got ${JSON.stringify(value)}`);
      else checkItems(value, schema.items, path, errors);
      return;
    case 'map':
      if (!isObject(value)) errors.add(path, () => `expected map, got ${JSON.stringify(value)}`);
      else
        for (const [key, inner] of Object.entries(value))
          if (inner !== undefined && inner !== null)
            checkValue(inner, schema.values, joinPath(path, `.${key}`), errors);
      return;
    default:
      checkScalar(value, schema.kind, path, errors);
  }
}

function checkItems(items: readonly JsonValue[], schema: ValueSchema, path: string, errors: Problems): void {
  for (const [at, item] of items.entries())
    if (item !== null) checkValue(item, schema, joinPath(path, `[${at}]`), errors);
}

function checkScalar(
  value: JsonValue,
  kind: Exclude<ValueSchema['kind'], 'message' | 'list' | 'map'>,
  path: string,
  errors: Problems,
): void {
  const got = (): string => JSON.stringify(value);
  switch (kind) {
    case 'string':
    case 'bytes':
      if (typeof value !== 'string') errors.add(path, () => `expected string, got ${got()}`);
      return;
    case 'bool':
      if (typeof value !== 'boolean') errors.add(path, () => `expected boolean, got ${got()}`);
      return;
    case 'int32':
    case 'int64':
    case 'double':
      if (typeof value !== 'number' && typeof value !== 'bigint')
        errors.add(path, () => `expected numeric (int or float), got ${got()}`);
      return;
    case 'Time':
    case 'MicroTime':
    case 'Duration':
    case 'Quantity':
    case 'IntOrString':
      if (typeof value === 'object') errors.add(path, () => `expected any scalar, got ${got()}`);
      return;
    default:
  }
}
