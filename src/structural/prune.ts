import type { JsonObject, JsonValue } from '../api/json.ts';
import { joinPath, MAX_PROBLEMS } from '../object/document-limits.ts';
import { isObject } from '../object/json-values.ts';
import {
  additionalSchemaOf,
  hasAdditional,
  isEmbedded,
  itemsOf,
  keepsUnknown,
  META_FIELDS,
  propertyOf,
  type Schema,
} from './schema-node.ts';

/**
 * Removes fields that a schema does not have (apiextensions-apiserver, schema/pruning). Returns the removed paths, sorted, at
 * most {@link MAX_PROBLEMS}: `spec.foo`, `spec.list[0].bar`.
 *
 * `isResourceRoot`: the value is a whole object, whose kind, apiVersion and metadata stay.
 */
export function prune(
  object: JsonObject,
  schema: Schema | undefined,
  { isResourceRoot }: { isResourceRoot: boolean },
): string[] {
  const pruner = new Pruner();
  const root = schema ?? (isResourceRoot ? {} : undefined);
  pruner.value(object, root, isResourceRoot || (root !== undefined && isEmbedded(root)));
  return pruner.unknown.sort();
}

class Pruner {
  readonly unknown: string[] = [];
  /** Names and indexes, joined to texts only for unknown fields. */
  readonly #path: (string | number)[] = [];

  /** Without a schema, removes every field. */
  value(value: JsonValue | undefined, schema: Schema | undefined, embedded: boolean): void {
    if (typeof value !== 'object' || value === null) return;
    const keeps = schema !== undefined && keepsUnknown(schema);
    if (!isObject(value)) this.#list(value, schema, keeps);
    else if (schema === undefined) this.#removeAll(value);
    else this.#object(value, schema, { embedded, keeps });
  }

  #object(object: JsonObject, schema: Schema, { embedded, keeps }: Rules): void {
    const others = hasAdditional(schema);
    for (const name of Object.keys(object)) {
      if (embedded && META_FIELDS.has(name)) continue;
      const property = propertyOf(schema, name);
      if (property !== undefined || others)
        this.#below(name, object[name], property ?? additionalSchemaOf(schema));
      else if (!keeps) this.#remove(object, name);
    }
  }

  #list(list: readonly JsonValue[], schema: Schema | undefined, keeps: boolean): void {
    const items = schema && itemsOf(schema);
    if (items === undefined && keeps) return;
    if (items === undefined) {
      this.#strip(list);
      return;
    }
    for (let at = 0; at < list.length; at += 1) {
      const item = list[at];
      if (typeof item !== 'object' || item === null) continue;
      // Kept unknown fields include those in items of a list.
      if (keeps) this.#keepIn(at, item, items);
      else this.#below(at, item, items);
    }
  }

  /**
   * Removes all fields from objects in a list without an item schema, and in nested lists. No schema bounds their depth, so
   * this keeps a stack: lists with the position in each.
   */
  #strip(outermost: readonly JsonValue[]): void {
    const around = this.#path.length;
    const lists = [{ list: outermost, next: 0 }];
    for (let inner = lists.at(-1); inner !== undefined; inner = lists.at(-1)) {
      const at = inner.next;
      const item = inner.list[at];
      inner.next += 1;
      this.#path.length = around + lists.length - 1;
      this.#path.push(at);
      if (at >= inner.list.length) lists.pop();
      else if (Array.isArray(item)) lists.push({ list: item, next: 0 });
      else if (isObject(item)) this.#removeAll(item);
    }
    this.#path.length = around;
  }

  #keepIn(at: number, item: JsonValue, items: Schema): void {
    this.#path.push(at);
    if (isObject(item)) this.#object(item, items, { embedded: isEmbedded(items), keeps: true });
    else if (Array.isArray(item)) this.#list(item, items, true);
    this.#path.pop();
  }

  #below(step: string | number, value: JsonValue | undefined, schema: Schema | undefined): void {
    if (typeof value !== 'object' || value === null) return;
    this.#path.push(step);
    this.value(value, schema, schema !== undefined && isEmbedded(schema));
    this.#path.pop();
  }

  #removeAll(object: JsonObject): void {
    for (const name of Object.keys(object)) {
      this.#record(name);
      delete object[name];
    }
  }

  #remove(object: JsonObject, name: string): void {
    if (this.#path.length > 0 || !META_FIELDS.has(name)) this.#record(name);
    delete object[name];
  }

  #record(name: string): void {
    if (this.unknown.length >= MAX_PROBLEMS) return;
    this.unknown.push([...this.#path, name].reduce<string>(append, ''));
  }
}

interface Rules {
  readonly embedded: boolean;
  readonly keeps: boolean;
}

function append(path: string, step: string | number): string {
  if (typeof step === 'number') return joinPath(path, `[${step}]`);
  return joinPath(path, path === '' ? step : `.${step}`);
}
