import type { FieldSchema, MessageSchema, ScalarKind, ValueSchema } from '../../api/schema.ts';
import { hashKey } from '../json-tokens.ts';
import { compileValue, compileZero, type EncodeValue } from './encoder.ts';
import { DELIMITED, tag, wireTypeOf } from './scalars.ts';

/** How transcoder.ts finds and writes the fields of a message. A plan is made of a schema once. */

export interface MessagePlan {
  /** Hashes of the names, in the order of declaration, which is that of stored JSON. */
  readonly hashes: Int32Array;
  readonly names: readonly Buffer[];
  /** The fields by number, the highest first. */
  readonly backwards: readonly FieldPlan[];
}

export type FieldPlan =
  | {
      readonly group: undefined;
      readonly slot: number;
      readonly value: ValuePlan;
      /** Writes the absent field. */
      readonly writeZero: (() => void) | undefined;
    }
  /** Fields that are in a message of their own on the wire. */
  | { readonly group: readonly FieldPlan[]; readonly tag: number };

/** How a value is written: `other` as the encoder does it with the parsed value. */
export type ValuePlan = {
  /** The number of the field and its wire type. */
  readonly tag: number;
  /** Encodes the parsed value. */
  readonly encode: EncodeValue;
} & (
  | { readonly kind: ScalarWritten | 'other' }
  | { readonly kind: 'message'; readonly message: MessageSchema }
  | { readonly kind: 'list' | 'wrapped'; readonly item: ValuePlan }
  | { readonly kind: 'map'; readonly item: ValuePlan }
);

type ScalarWritten = (typeof SCALARS_WRITTEN)[number];

const SCALARS_WRITTEN = ['string', 'bool', 'int32', 'int64', 'Time', 'Quantity', 'FieldsV1'] as const;

const isWritten = (kind: ScalarKind): kind is ScalarWritten =>
  (SCALARS_WRITTEN as readonly string[]).includes(kind);

const plans = new WeakMap<MessageSchema, MessagePlan>();

export function planOf(schema: MessageSchema): MessagePlan {
  let plan = plans.get(schema);
  if (plan === undefined) {
    const fields = [...schema.fields.values()];
    plan = {
      hashes: Int32Array.from(fields, ({ name }) => hashKey(name)),
      names: fields.map(({ name }) => Buffer.from(name)),
      backwards: planFields(
        fields.map((field, slot) => ({ field, slot })),
        0,
      ),
    };
    plans.set(schema, plan);
  }
  return plan;
}

interface Placed {
  readonly field: FieldSchema;
  readonly slot: number;
}

function planFields(fields: readonly Placed[], depth: number): FieldPlan[] {
  const byNumber = new Map<number, FieldPlan>();
  const nested = new Map<number, Placed[]>();
  for (const placed of fields) {
    const { number, nesting } = placed.field;
    const outer = nesting[depth];
    if (outer !== undefined) nested.set(outer, [...(nested.get(outer) ?? []), placed]);
    else if (number !== undefined) byNumber.set(number, planField(placed, number));
  }
  for (const [number, inner] of nested) byNumber.set(number, planGroup(number, planFields(inner, depth + 1)));
  return [...byNumber].sort(([a], [b]) => b - a).map(([, plan]) => plan);
}

function planField({ field, slot }: Placed, number: number): FieldPlan {
  const value = planValue(field.value, number);
  const writeZero = field.isPointer ? undefined : compileZero(field.value, number, value.encode);
  return { group: undefined, slot, value, writeZero };
}

const planGroup = (number: number, group: readonly FieldPlan[]): FieldPlan => ({
  group,
  tag: tag(number, DELIMITED),
});

function planValue(schema: ValueSchema, number: number): ValuePlan {
  const plan = { tag: tag(number, DELIMITED), encode: compileValue(schema, number) };
  switch (schema.kind) {
    case 'message':
      return { ...plan, kind: 'message', message: schema.message };
    case 'list':
      return schema.wrapped
        ? { ...plan, kind: 'wrapped', item: planValue(schema.items, 1) }
        : { ...plan, kind: 'list', item: planValue(schema.items, number) };
    case 'map':
      return { ...plan, kind: 'map', item: planValue(schema.values, 2) };
    case 'SchemaOrArray':
    case 'SchemaOrBool':
    case 'SchemaOrStringArray':
      return { ...plan, kind: 'other' };
    default: {
      const { kind } = schema;
      return { ...plan, tag: tag(number, wireTypeOf(kind)), kind: isWritten(kind) ? kind : 'other' };
    }
  }
}
