import type { FieldError } from '../api/status.ts';

/**
 * Validation lists all that is wrong with an object, and an object can be wrong in as many places as it has values. From some
 * number on nobody reads on: the walk ends there, wherever it is, and what was found until then is the list.
 *
 * The errors of a walk are made deep inside of it, by hundreds of rules. They are counted where they are made
 * (field-errors.ts), so that no rule has to know of the bound.
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

/** Validation waits for nothing, so that there is one walk at a time. */
let current: Walk | undefined;

/** What `walk` finds; when it finds too much, what it had found by then. */
export function boundedProblems(walk: () => FieldError[]): FieldError[] {
  const outer = current;
  const own = new Walk();
  current = own;
  try {
    return walk();
  } catch (error) {
    if (error instanceof EnoughProblems) return own.found;
    throw error;
  } finally {
    current = outer;
  }
}

/** Every error that a walk finds passes through here. */
export function counted(error: FieldError): FieldError {
  current?.add(error);
  return error;
}
