import type { JsonValue } from '../../api/json.ts';
import { isObject } from '../../object/json-values.ts';
import { type Before, OldValues } from '../ratchet.ts';
import { additionalSchemaOf, itemsOf, propertyOf, type Schema } from '../schema-node.ts';

/** The value before an update, in converted form. */
interface Correlated {
  readonly value: JsonValue;
  readonly before: Before;
  readonly schema: Schema;
}

/**
 * Applies ratcheting to rules: an unchanged value keeps its errors. A value without an old counterpart, such as an item of a
 * list without keys, follows the nearest parent that has one.
 */
export class Ratchet {
  readonly #values: OldValues;
  readonly #current: Correlated | undefined;
  readonly #nearest: Correlated | undefined;

  private constructor(values: OldValues, current?: Correlated, nearest?: Correlated) {
    this.#values = values;
    this.#current = current;
    this.#nearest = nearest;
  }

  /** Without an old value, every error counts. */
  static of(value: JsonValue, old: JsonValue | undefined, schema: Schema): Ratchet {
    const current = old === undefined ? undefined : { value, before: { value: old }, schema };
    return new Ratchet(new OldValues(), current);
  }

  get isUnchanged(): boolean {
    const one = this.#current ?? this.#nearest;
    return one !== undefined && this.#values.areEqual(one.value, one.before.value, one.schema);
  }

  /** The version and kind of an object never change, because both states were converted. */
  field(name: string): Ratchet {
    const current = this.#current;
    if (current === undefined) return this;
    if (this.#nearest === undefined && (name === 'apiVersion' || name === 'kind'))
      return new Ratchet(this.#values);
    const schema = propertyOf(current.schema, name) ?? additionalSchemaOf(current.schema);
    const value = isObject(current.value) ? current.value[name] : undefined;
    return this.#below(value, this.#values.ofField(current.before, name), schema);
  }

  item(at: number): Ratchet {
    const current = this.#current;
    if (current === undefined) return this;
    const value = Array.isArray(current.value) ? current.value[at] : undefined;
    const before =
      value === undefined ? undefined : this.#values.ofItem(current.before, value, current.schema);
    return this.#below(value, before, itemsOf(current.schema));
  }

  #below(value: JsonValue | undefined, before: Before | undefined, schema: Schema | undefined): Ratchet {
    const isKnown = value !== undefined && before !== undefined && schema !== undefined;
    return new Ratchet(this.#values, isKnown ? { value, before, schema } : undefined, this.#current);
  }
}
