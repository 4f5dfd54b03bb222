import { type FieldSchema, type MessageSchema, PLAIN_FIELD, type ValueSchema } from '../api/schema.ts';

/** A type prepared for decoding, once: the work of decode.ts then grows with the object, not with its type. */
export class DecodePlan {
  readonly schema: MessageSchema;
  /** In the order of the type, which is also that of JSON. */
  readonly fields: readonly PlannedField[];
  /** Fields that are written even when they are absent. */
  readonly filled: readonly PlannedField[];
  readonly #byName: ReadonlyMap<string, PlannedField>;
  /** For each index, and the one past the last, the next field that is written when absent. */
  readonly #nextFilled: readonly number[];

  constructor(schema: MessageSchema) {
    const fields = schema.typed ? [...TYPE_FIELDS, ...schema.fields.values()] : [...schema.fields.values()];
    this.schema = schema;
    this.fields = fields.map((field, place) => new PlannedField(field, place));
    this.filled = this.fields.filter(({ isFilled }) => isFilled);
    this.#byName = new Map(this.fields.map((field) => [field.name, field]));
    this.#nextFilled = [...fields.keys(), fields.length].map(
      (place) => this.filled.find((field) => field.place >= place)?.place ?? fields.length,
    );
  }

  /** `place`: where the field is, if the object has its fields in the order of the type, all of them. */
  find(name: string, place: number): PlannedField | undefined {
    const expected = this.fields[place];
    return expected !== undefined && expected.name === name ? expected : this.#byName.get(name);
  }

  /** Whether a field from place `from` on and before `to` is written when it is absent. */
  fillsBetween(from: number, to: number): boolean {
    return (this.#nextFilled[from] ?? to) < to;
  }
}

/** A value of a field, a list or a map. */
export class PlannedValue {
  readonly schema: ValueSchema;
  readonly kind: ValueSchema['kind'];
  /** The items of a list, the values of a map. */
  readonly items: PlannedValue | undefined;
  #plan: DecodePlan | undefined;

  constructor(schema: ValueSchema) {
    this.schema = schema;
    this.kind = schema.kind;
    if (schema.kind === 'list') this.items = new PlannedValue(schema.items);
    else this.items = schema.kind === 'map' ? new PlannedValue(schema.values) : undefined;
  }

  /** The plan of a message, made on first use because types refer to themselves. */
  get plan(): DecodePlan {
    this.#plan ??= planOfMessage(this.schema);
    return this.#plan;
  }
}

export class PlannedField {
  readonly name: string;
  readonly place: number;
  readonly schema: FieldSchema;
  readonly value: PlannedValue;
  /** Whether it is written even when it is absent. */
  readonly isFilled: boolean;
  /** Whether its zero value is left out, or something else written instead. */
  readonly replacesZero: boolean;

  constructor(schema: FieldSchema, place: number) {
    const { default: preset, zero, value } = schema;
    this.name = interned(schema.name);
    this.place = place;
    this.schema = schema;
    this.value = new PlannedValue(value);
    this.isFilled = preset !== undefined || zero === 'always';
    this.replacesZero =
      zero === 'omit' || (zero === 'always' && preset !== undefined && value.kind !== 'message');
  }
}

/** An interned string, as the keys of objects are: such strings are compared and looked up by their address. */
const interned = (name: string): string => Object.keys({ [name]: 0 })[0] ?? name;

const plans = new WeakMap<MessageSchema, DecodePlan>();

export function planOf(schema: MessageSchema): DecodePlan {
  let plan = plans.get(schema);
  if (plan === undefined) {
    plan = new DecodePlan(schema);
    plans.set(schema, plan);
  }
  return plan;
}

function planOfMessage(schema: ValueSchema): DecodePlan {
  if (schema.kind !== 'message') throw new Error(`a ${schema.kind} has no plan`);
  return planOf(schema.message);
}

/** kind and apiVersion come first in every object. */
const TYPE_FIELDS: readonly FieldSchema[] = ['kind', 'apiVersion'].map((name) => ({
  ...PLAIN_FIELD,
  name,
  value: { kind: 'string' },
}));

export const isTypeField = (schema: FieldSchema): boolean => TYPE_FIELDS.includes(schema);
