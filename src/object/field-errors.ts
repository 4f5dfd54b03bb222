import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import type { FieldError } from '../api/status.ts';
import type { Steps } from '../util/turns.ts';
import { goValue, goValueAsJson } from './go-value.ts';

/**
 * Errors about one field, in Kubernetes' words (apimachinery, util/validation/field/errors.go). `field` is the path,
 * `spec.containers[0].image` or `metadata.labels[a/b]`; `why` follows the value.
 */

/** An absent or empty value that must be there. */
export const required = (field: string, why = ''): FieldError =>
  counted({
    type: 'FieldValueRequired',
    field,
    message: why === '' ? 'Required value' : `Required value: ${why}`,
  });

export const invalidValue = (field: string, value: unknown, why: string): FieldError =>
  showing('FieldValueInvalid', field, value, (shown) =>
    why === '' ? `Invalid value: ${shown}` : `Invalid value: ${shown}: ${why}`,
  );

/** An invalid value that the message does not show: it is too large, or more than one value. */
export const invalidUnshown = (field: string, why: string): FieldError =>
  counted({ type: 'FieldValueInvalid', field, message: `Invalid value: ${why}` });

export const internalFieldError = (field: string, why: string): FieldError =>
  counted({ type: 'InternalError', field, message: `Internal error: ${why}` });

/** A value outside an enumeration. */
export const notSupported = (field: string, value: unknown, supported: readonly string[]): FieldError =>
  showing(
    'FieldValueNotSupported',
    field,
    value,
    (shown) =>
      `Unsupported value: ${shown}: supported values: ${supported.map((one) => goValue(one)).join(', ')}`,
  );

/** A value that is valid by itself, but not in this place. */
export const forbiddenField = (field: string, why: string): FieldError =>
  counted({
    type: 'FieldValueForbidden',
    field,
    message: `Forbidden: ${why}`,
  });

export const duplicate = (field: string, value: unknown, why = ''): FieldError =>
  showing('FieldValueDuplicate', field, value, (shown) =>
    why === '' ? `Duplicate value: ${shown}` : `Duplicate value: ${shown}: ${why}`,
  );

/** A reference to a part of the object that does not exist. */
export const notFoundValue = (field: string, value: unknown): FieldError =>
  showing('FieldValueNotFound', field, value, (shown) => `Not found: ${shown}`);

export const tooLong = (field: string, mostBytes: number): FieldError =>
  counted({
    type: 'FieldValueTooLong',
    field,
    message: `Too long: must have at most ${mostBytes} bytes`,
    ...tooLongSince132(mostBytes),
  });

/** The limit of a schema, or of another text that is counted in characters. */
export const longerThan = (field: string, most: number): FieldError =>
  counted({
    type: 'FieldValueTooLong',
    field,
    message: `Too long: may not be longer than ${most}`,
    ...tooLongSince132(most),
  });

/** All limits of texts are worded alike since 1.32, and one byte is singular since 1.34. */
const tooLongSince132 = (mostBytes: number): Pick<FieldError, 'messageSince132' | 'messageSince134'> => ({
  messageSince132: `Too long: may not be more than ${mostBytes} bytes`,
  ...(mostBytes === 1 ? { messageSince134: 'Too long: may not be more than 1 byte' } : {}),
});

export const tooMany = (field: string, actual: number, most: number): FieldError =>
  counted({
    type: 'FieldValueTooMany',
    field,
    message: `Too many: ${actual}: must have at most ${most} items`,
    ...(most === 1 ? { messageSince134: `Too many: ${actual}: must have at most 1 item` } : {}),
  });

/** An error whose text shows a value: in Go's notation, and since 1.34 as JSON. */
function showing(
  type: FieldError['type'],
  field: string,
  value: unknown,
  write: (shown: string) => string,
): FieldError {
  const message = write(goValue(value));
  const json = goValueAsJson(value);
  return counted({
    type,
    field,
    message,
    ...(json === undefined ? {} : { messageSince134: write(json) }),
  });
}

/** One error for each reason. */
export const eachInvalid = (field: string, value: unknown, reasons: readonly string[]): FieldError[] =>
  reasons.map((why) => invalidValue(field, value, why));

/** Adds one error for each reason to `errors`. */
export function addInvalid(
  errors: FieldError[],
  field: string,
  value: unknown,
  reasons: readonly string[],
): void {
  for (const why of reasons) errors.push(invalidValue(field, value, why));
}

/**
 * A bound on the errors of one validation. An object can be wrong in as many places as it has values, and no client reads
 * thousands of errors, so validation stops at the bound and answers the errors found by then.
 *
 * Hundreds of rules make errors. The functions above count them, so that no rule has to know the bound.
 */
const MAX_FOUND = 5_000;
const MAX_CHARS = 1024 * 1024;

class Walk {
  readonly found: FieldError[] = [];
  #chars = 0;

  /** @throws EnoughProblems */
  add(error: FieldError): void {
    this.found.push(error);
    this.#chars += error.field.length + error.message.length;
    if (this.found.length >= MAX_FOUND || this.#chars >= MAX_CHARS) throw new EnoughProblems();
  }
}

class EnoughProblems extends Error {}

/** Validation is synchronous, or runs in steps that are: one walk runs at a time. */
let current: Walk | undefined;

/** The errors that `walk` finds, cut off at the bound. */
export function boundedProblems(walk: () => FieldError[]): FieldError[] {
  const own = new Walk();
  try {
    return counting(own, walk);
  } catch (error) {
    if (error instanceof EnoughProblems) return own.found;
    throw error;
  }
}

/** The same for a walk in steps. */
export function* boundedSteps(steps: Steps<FieldError[]>): Steps<FieldError[]> {
  const own = new Walk();
  try {
    let step = counting(own, () => steps.next());
    for (; step.done !== true; step = counting(own, () => steps.next())) yield step.value;
    return step.value;
  } catch (error) {
    if (error instanceof EnoughProblems) return own.found;
    throw error;
  }
}

function counting<Result>(walk: Walk, run: () => Result): Result {
  const outer = current;
  current = walk;
  try {
    return run();
  } finally {
    current = outer;
  }
}

/** Every error passes through here. */
export function counted(error: FieldError): FieldError {
  current?.add(error);
  return error;
}

/** Checks of configuration files. Each check adds to `problems`, so that one error reports everything wrong with a file. */

export function checkOneOf(
  value: JsonValue | undefined,
  supported: readonly string[],
  field: string,
  problems: FieldError[],
): void {
  if (value === undefined || value === '') problems.push(required(field));
  else if (!supported.some((one) => one === value)) problems.push(notSupported(field, value, supported));
}

/** An unknown field is an error: a misspelt one, if it were ignored, would weaken or close the server unnoticed. */
export function checkFields(
  object: JsonObject,
  known: readonly string[],
  path: string,
  problems: FieldError[],
): void {
  for (const name of Object.keys(object)) {
    if (known.includes(name)) continue;
    problems.push({
      type: 'FieldValueForbidden',
      field: path === '' ? name : `${path}.${name}`,
      message: 'unknown field',
    });
  }
}

/** `what` names the file: `admission configuration`. @throws Error with all problems, when there are any */
export function throwProblems(what: string, problems: readonly FieldError[]): void {
  if (problems.length === 0) return;
  throw new Error(`${what}: ${problems.map(({ field, message }) => `${field}: ${message}`).join(', ')}`);
}

export const asObject = (value: JsonValue | undefined): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
