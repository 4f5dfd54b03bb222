import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { equal } from '../equality.ts';
import { invalidValue, tooMany } from '../field-errors.ts';
import { matchesPattern } from '../go-pattern.ts';
import { goAny } from '../go-value.ts';
import { counted } from '../problem-bounds.ts';
import { isOfFormat } from './formats.ts';

/** Lengths, ranges and patterns. `name` is how the texts call the value. */
export interface Place {
  readonly field: string;
  readonly name: string;
}

const limit = (schema: JsonObject, name: string): number | undefined => {
  const value = schema[name];
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined;
};

export function validateString(value: string, schema: JsonObject, { field, name }: Place): FieldError[] {
  const most = limit(schema, 'maxLength');
  const least = limit(schema, 'minLength');
  const { pattern, format } = schema;
  const chars = most === undefined && least === undefined ? 0 : [...value].length;
  const errors: FieldError[] = [];
  if (most !== undefined && chars > most)
    errors.push(
      counted({ type: 'FieldValueTooLong', field, message: `Too long: may not be longer than ${most}` }),
    );
  if (least !== undefined && chars < least)
    errors.push(invalidValue(field, value, `${name} should be at least ${least} chars long`));
  if (typeof pattern === 'string' && pattern !== '' && !matchesPattern(pattern, value))
    errors.push(invalidValue(field, value, `${name} should match '${pattern}'`));
  if (typeof format === 'string' && !isOfFormat(value, format)) {
    const why = `${name} must be of type ${format}: ${JSON.stringify(value)}`;
    errors.push(invalidValue(field, value, why));
  }
  return errors;
}

export function validateNumber(value: number, schema: JsonObject, { field, name }: Place): FieldError[] {
  const most = limit(schema, 'maximum');
  const least = limit(schema, 'minimum');
  const step = limit(schema, 'multipleOf');
  const errors: FieldError[] = [];
  if (most !== undefined) {
    const exclusive = schema.exclusiveMaximum === true;
    if (value > most || (exclusive && value === most))
      errors.push(
        invalidValue(field, value, `${name} should be less than ${exclusive ? '' : 'or equal to '}${most}`),
      );
  }
  if (least !== undefined) {
    const exclusive = schema.exclusiveMinimum === true;
    if (value < least || (exclusive && value === least))
      errors.push(
        invalidValue(
          field,
          value,
          `${name} should be greater than ${exclusive ? '' : 'or equal to '}${least}`,
        ),
      );
  }
  if (step !== undefined && !Number.isInteger(value / step))
    errors.push(invalidValue(field, value, `${name} should be a multiple of ${step}`));
  return errors;
}

export function validateArray(
  value: readonly JsonValue[],
  schema: JsonObject,
  { field, name }: Place,
): FieldError[] {
  const most = limit(schema, 'maxItems');
  const least = limit(schema, 'minItems');
  const errors: FieldError[] = [];
  if (most !== undefined && value.length > most) errors.push(tooMany(field, value.length, most));
  if (least !== undefined && value.length < least)
    errors.push(invalidValue(field, value.length, `${name} should have at least ${least} items`));
  if (
    schema.uniqueItems === true &&
    value.some((one, at) => value.findIndex((other) => equal(one, other)) < at)
  )
    errors.push(invalidValue(field, goAny(value), `${name} shouldn't contain duplicates`));
  return errors;
}

export function validateObject(value: JsonObject, schema: JsonObject, { field, name }: Place): FieldError[] {
  const most = limit(schema, 'maxProperties');
  const least = limit(schema, 'minProperties');
  const amount = Object.keys(value).length;
  const errors: FieldError[] = [];
  if (most !== undefined && amount > most) errors.push(tooMany(field, amount, most));
  if (least !== undefined && amount < least)
    errors.push(invalidValue(field, amount, `${name} should have at least ${least} properties`));
  return errors;
}
