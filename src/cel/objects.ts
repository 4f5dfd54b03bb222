/** Types and values with declared fields, for expressions over data that a schema describes. */

export type ValueType =
  /** A type of CEL: `string`, `google.protobuf.Duration`, `dyn`. */
  | { readonly kind: 'simple'; readonly name: string }
  | { readonly kind: 'list'; readonly items: ValueType }
  /** The keys are texts. */
  | { readonly kind: 'map'; readonly values: ValueType }
  | { readonly kind: 'optional'; readonly of: ValueType }
  | ObjectType;

/** Fields are typed on demand: a schema may have thousands of types, and an expression uses few. */
export interface ObjectType {
  readonly kind: 'object';
  /** Undefined: expressions do not know such a field. */
  fieldType(name: string): ValueType | undefined;
}

/** A value of an ObjectType. */
export abstract class CelObject {
  abstract readonly type: ObjectType;

  /** Undefined: the field is absent. @throws Error when the value is not of the type of its field */
  abstract get(name: string): unknown;

  abstract equals(other: unknown): boolean;

  hasField(name: string): boolean {
    return this.get(name) !== undefined;
  }

  /** @throws Error when the field is absent */
  select(name: string): unknown {
    const value = this.get(name);
    if (value === undefined) throw new Error(`no such key: ${name}`);
    return value;
  }
}

/** The library finds the type of a value by its constructor. One class serves all types, so that reading stays fast. */
export function showTypeAsConstructor(subclass: abstract new (...args: never[]) => CelObject): void {
  Object.defineProperty(subclass.prototype, 'constructor', {
    get(this: CelObject): ObjectType {
      return this.type;
    },
  });
}
