import type { JsonValue } from '../api/json.ts';
import type { FieldError } from '../api/status.ts';
import {
  counted,
  invalidValue,
  longerThan,
  notSupported,
  required,
  tooMany,
} from '../object/field-errors.ts';
import { goAny, goQuote } from '../object/go-value.ts';
import type { Enumeration } from './value-rules.ts';

/** More than clients read. */
const MAX_FOUND = 5_000;
const MAX_CHARS = 1024 * 1024;

interface Problem {
  /** The path of the value. A problem of several schemas has none: Kubernetes reports it for the whole object. */
  readonly path: string;
  /** Makes the error when it is reported. */
  readonly toError: (field: string) => FieldError;
}

/**
 * Collects problems, with the messages of kube-openapi (validation/errors), and converts them to field errors as
 * apiextensions-apiserver does (validation.go). Reports each text once.
 */
export class FoundProblems {
  readonly #problems: Problem[] = [];
  /** The index of the problem of each text. */
  readonly #texts = new Map<string, number>();
  #chars = 0;

  get count(): number {
    return this.#problems.length;
  }

  get isFull(): boolean {
    return this.#problems.length >= MAX_FOUND || this.#chars > MAX_CHARS;
  }

  #add(text: string, path: string, toError: (field: string) => FieldError): void {
    if (this.isFull || this.#texts.has(text)) return;
    this.#texts.set(text, this.#problems.length);
    this.#problems.push({ path, toError });
    this.#chars += text.length;
  }

  /** `rule`: the violated rule. */
  invalid(path: string, value: JsonValue, rule: string): void {
    this.invalidAs(path, value, `${path} in body ${rule}`);
  }

  invalidAs(path: string, value: JsonValue, why: string): void {
    this.#add(why, path, (field) => invalidValue(field, value, why));
  }

  /** A combination of schemas is violated. */
  composite(why: string): void {
    this.invalidAs('', '', why);
  }

  required(path: string): void {
    this.#add(`${path} in body is required`, path, (field) => required(field));
  }

  wrongType(path: string, expected: string, given: string): void {
    const why = `${path} in body must be of type ${expected}: ${goQuote(given)}`;
    this.#add(why, path, (field) =>
      counted({ type: 'FieldValueTypeInvalid', field, message: `Invalid value: ${goQuote(given)}: ${why}` }),
    );
  }

  notAmong(path: string, value: JsonValue, known: Enumeration): void {
    this.#add(`${path} in body should be one of ${known.text}`, path, (field) =>
      notSupported(field, value === null ? value : goAny(value), known.texts),
    );
  }

  tooLong(path: string, most: number): void {
    this.#add(`${path} in body should be at most ${most} chars long`, path, (field) =>
      longerThan(field, most),
    );
  }

  tooMany(path: string, amount: number, most: number, what: 'items' | 'properties'): void {
    const text = `${path} in body should have at most ${most} ${what}`;
    this.#add(text, path, (field) => tooMany(field, amount, most));
  }

  /** Adds the problems of a part. */
  merge(other: FoundProblems): void {
    for (const [text, at] of other.#texts) {
      const problem = other.#problems[at];
      if (problem !== undefined) this.#add(text, problem.path, problem.toError);
    }
  }

  /** Drops the problems after the first `count`. */
  forgetFrom(count: number): void {
    this.#problems.length = count;
    for (const [text, at] of this.#texts)
      if (at >= count) {
        this.#texts.delete(text);
        this.#chars -= text.length;
      }
  }

  /** `root`: the path of the whole value; undefined for a whole object. Counts the characters of values, which may be large. */
  toErrors(root: string | undefined): FieldError[] {
    const errors: FieldError[] = [];
    let chars = 0;
    for (const { path, toError } of this.#problems) {
      if (chars > MAX_CHARS) break;
      const error = toError(fieldOf(root, path));
      chars += error.message.length + error.field.length;
      errors.push(error);
    }
    return errors;
  }
}

/** Kubernetes names the object itself `<nil>`, and omits a leading dot. */
function fieldOf(root: string | undefined, path: string): string {
  if (path === '' || path === '.') return root ?? '<nil>';
  const name = path.startsWith('.') ? path.slice(1) : path;
  return root === undefined ? name : `${root}.${name}`;
}
