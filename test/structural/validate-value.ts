import type { JsonValue } from '../../src/api/json.ts';
import type { FieldError } from '../../src/api/status.ts';
import type { Schema } from '../../src/structural/schema-node.ts';
import { validateInSteps } from '../../src/structural/validate-value.ts';
import { atOnce } from '../../src/util/turns.ts';

export const validateValue = (value: JsonValue, schema: Schema, root?: string): FieldError[] =>
  atOnce(validateInSteps(value, schema, root === undefined ? {} : { root }));
