import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import type { FieldSchema, MessageSchema, ValueSchema } from '../../api/schema.ts';
import { joinPath, MAX_PROBLEMS } from '../document-limits.ts';
import { cutAfter, goAny, goPlain, goTypeOf, MAX_NAME_LETTERS } from '../go-value.ts';
import { isObject } from '../json-values.ts';
import { formatPath } from './field-set.ts';
import { elementOf, type ListShape, missingKey, shapeOfField } from './shape.ts';

/**
 * Checks a configuration against its type: declared fields, values of their kind, list elements with unique keys. Returns texts
 * such as `.spec.replicas: expected numeric (int or float), got string`, in the words of Kubernetes (structured-merge-diff 4.4,
 * typed/validate.go), some of which show Kubernetes' representation of values. Reports one undeclared field for each object,
 * and one element without a key for each list.
 */
export function checkConfig(config: JsonObject, schema: MessageSchema): string[] {
  const check = new Check();
  check.message(config, schema, '');
  return check.errors;
}

/** Letters of a value that a message shows. */
const SHOWN_LETTERS = 4096;

class Check {
  readonly errors: string[] = [];

  message(object: JsonObject, schema: MessageSchema, path: string): void {
    let undeclared: string | undefined;
    for (const key of Object.keys(object)) {
      if (this.#isFull) return;
      const value = object[key];
      const at = joinPath(path, `.${key}`);
      const field = schema.fields.get(key);
      if (field !== undefined) this.#field(value ?? null, field, at);
      else if (schema.typed && (key === 'kind' || key === 'apiVersion')) this.#value(value ?? null, TEXT, at);
      else if (!schema.preserveUnknownFields) undeclared ??= at;
    }
    if (undeclared !== undefined) this.#add(undeclared, 'field not declared in schema');
  }

  #field(value: JsonValue, field: FieldSchema, path: string): void {
    const shape = shapeOfField(field);
    const isNamed = shape.kind === 'set' || shape.kind === 'keyed';
    if (!isNamed || field.value.kind !== 'list' || !Array.isArray(value))
      this.#value(value, field.value, path);
    else this.#namedItems(value, field.value.items, shape, path);
  }

  /** Checks a list whose elements have keys; the key is the element's step in a path. */
  #namedItems(list: readonly JsonValue[], items: ValueSchema, shape: ListShape, path: string): void {
    const seen = new Set<string>();
    for (const [at, item] of list.entries()) {
      if (this.#isFull) return;
      const nameless = shape.kind === 'set' ? unfitForSet(item) : unfitForKeys(item, shape);
      const element = elementOf(item, shape);
      if (nameless !== undefined || element === undefined) {
        this.#add(path, `element ${at}: ${nameless ?? ''}`);
        return;
      }
      const name = formatPath([element]);
      if (seen.has(element)) this.#add(path, `duplicate entries for key ${cutAfter(name, MAX_NAME_LETTERS)}`);
      seen.add(element);
      this.#value(item, items, joinPath(path, name));
    }
  }

  #value(value: JsonValue, schema: ValueSchema, path: string): void {
    if (value === null) return;
    switch (schema.kind) {
      case 'message':
        if (isObject(value)) this.message(value, schema.message, path);
        else this.#add(path, `expected map, got ${boxed(value)}`);
        return;
      case 'list':
        if (Array.isArray(value)) this.#items(value, schema.items, path);
        else this.#add(path, `expected list, got ${boxed(value)}`);
        return;
      case 'map':
        if (isObject(value)) this.#entries(value, schema.values, path);
        else this.#add(path, `expected map, got ${boxed(value)}`);
        return;
      default:
        this.#scalar(value, schema.kind, path);
    }
  }

  #items(list: readonly JsonValue[], schema: ValueSchema, path: string): void {
    for (const [at, item] of list.entries()) {
      if (this.#isFull) return;
      this.#value(item, schema, joinPath(path, `[${at}]`));
    }
  }

  #entries(map: JsonObject, schema: ValueSchema, path: string): void {
    for (const key of Object.keys(map)) {
      if (this.#isFull) return;
      this.#value(map[key] ?? null, schema, joinPath(path, `.${key}`));
    }
  }

  #scalar(value: JsonValue, kind: ScalarOrUnion, path: string): void {
    switch (kind) {
      case 'string':
      case 'bytes':
        if (typeof value !== 'string') this.#add(path, `expected string, got ${boxedInGo(value)}`);
        return;
      case 'bool':
        if (typeof value !== 'boolean') this.#add(path, `expected boolean, got ${boxed(value)}`);
        return;
      case 'int32':
      case 'int64':
      case 'double':
        if (typeof value !== 'number' && typeof value !== 'bigint')
          this.#add(path, `expected numeric (int or float), got ${goTypeOf(value)}`);
        return;
      case 'Time':
      case 'MicroTime':
      case 'Duration':
      case 'Quantity':
      case 'IntOrString':
        if (typeof value === 'object') this.#add(path, `expected any scalar, got ${boxed(value)}`);
        return;
      default:
    }
  }

  #add(path: string, error: string): void {
    this.errors.push(`${path}: ${error}`);
  }

  get #isFull(): boolean {
    return this.errors.length >= MAX_PROBLEMS;
  }
}

type ScalarOrUnion = Exclude<ValueSchema['kind'], 'message' | 'list' | 'map'>;

const TEXT: ValueSchema = { kind: 'string' };

/** Kubernetes prints the Go struct around a value: `&{5}`, or `&value.valueUnstructured{Value:5}`. */
const boxed = (value: JsonValue): string => `&{${goPlain(value, SHOWN_LETTERS)}}`;

const boxedInGo = (value: JsonValue): string =>
  `&value.valueUnstructured{Value:${goAny(value).text.slice(0, SHOWN_LETTERS)}}`;

function unfitForSet(item: JsonValue): string | undefined {
  if (item === null) return "associative list without keys has an element that's an explicit null";
  if (Array.isArray(item)) return 'not supported: associative list with lists as elements';
  return typeof item === 'object'
    ? "associative list without keys has an element that's a map type"
    : undefined;
}

function unfitForKeys(item: JsonValue, shape: ListShape & { kind: 'keyed' }): string | undefined {
  if (item === null) return 'associative list with keys may not have a null element';
  if (!isObject(item)) return 'associative list with keys may not have non-map elements';
  const missing = missingKey(item, shape);
  if (missing === undefined) return undefined;
  return `associative list with keys has an element that omits key field ${JSON.stringify(missing)} (and doesn't have default value)`;
}
