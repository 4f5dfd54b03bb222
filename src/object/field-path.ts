import type { Minor } from '../api/emulation.ts';
import { defaultGates, type Gates, minorOf } from '../api/feature-gates.ts';
import type { FieldError } from '../api/status.ts';
import * as errors from './field-errors.ts';

/**
 * A cursor for validation: a place in an object, together with the list of errors found so far. A rule takes the path of the
 * field it judges and adds its errors to the list:
 *
 *   const ports = at.field('ports');
 *   for (const [port, { containerPort }] of ports.each(container.ports)) {
 *     if (containerPort === undefined) port.field('containerPort').required();
 *   }
 *
 * adds `spec.containers[0].ports[1].containerPort: Required value`. The texts are Kubernetes' (apimachinery,
 * util/validation/field). It also says which feature gates are on, for rules that depend on one.
 */
export class FieldPath {
  /** Undefined: the object itself. */
  readonly #parent: FieldPath | undefined;
  /** As it follows the parent's path: `.replicas`, or a number for `[0]`. Joined for messages only: most paths are in none. */
  readonly #step: string | number;
  readonly #found: FieldError[];
  /** Whether a feature gate is on. */
  readonly isOn: Gates;

  private constructor(
    parent: FieldPath | undefined,
    step: string | number,
    found: FieldError[],
    isOn: Gates,
  ) {
    this.#parent = parent;
    this.#step = step;
    this.#found = found;
    this.isOn = isOn;
  }

  /** The version of Kubernetes whose rules hold for the object. */
  get minor(): Minor {
    return minorOf(this.isOn);
  }

  /** The object itself: its fields have paths without a dot before them. */
  static root(found: FieldError[] = [], isOn: Gates = defaultGates): FieldPath {
    return new FieldPath(undefined, '', found, isOn);
  }

  /** `spec` → `spec.replicas` */
  field(name: string): FieldPath {
    if (this.#parent !== undefined) return this.#below(`.${name}`);
    return name === '' ? this : this.#below(name);
  }

  /** `ports` → `ports[0]`. For an entry of a map: `limits` → `limits[cpu]`. */
  item(key: number | string): FieldPath {
    return this.#below(typeof key === 'number' ? key : `[${key}]`);
  }

  /** The object as a whole, as Kubernetes' errors name it: `[]`. */
  get whole(): FieldPath {
    return this.item('');
  }

  /** The items of a list, each with its own path. An absent list has none. */
  *each<T>(items: readonly T[] | null | undefined): Generator<[FieldPath, T, number]> {
    if (items === undefined || items === null) return;
    let at = 0;
    for (const item of items) {
      yield [this.item(at), item, at];
      at += 1;
    }
  }

  /** The entries of a map, each with its own path. */
  *entries<T>(map: Readonly<Record<string, T>> | null | undefined): Generator<[FieldPath, string, T]> {
    if (map === undefined || map === null) return;
    for (const [key, value] of Object.entries(map)) yield [this.item(key), key, value];
  }

  #below(step: string | number): FieldPath {
    return new FieldPath(this, step, this.#found, this.isOn);
  }

  get #text(): string {
    const steps: string[] = [];
    for (let at: FieldPath | undefined = this; at !== undefined; at = at.#parent)
      steps.push(typeof at.#step === 'number' ? `[${at.#step}]` : at.#step);
    return steps.reverse().join('');
  }

  /** An absent or empty value that must be there. */
  required(why = ''): void {
    this.#found.push(errors.required(this.#text, why));
  }

  invalid(value: unknown, why: string): void {
    this.#found.push(errors.invalidValue(this.#text, value, why));
  }

  /** A fault that is not the value's alone. */
  internal(why: string): void {
    this.#found.push(errors.internalFieldError(this.#text, why));
  }

  /** Each reason as an error of its own. */
  invalidFor(value: unknown, reasons: readonly string[]): void {
    for (const why of reasons) this.invalid(value, why);
  }

  /** A value outside an enumeration. */
  notSupported(value: unknown, supported: readonly string[]): void {
    this.#found.push(errors.notSupported(this.#text, value, supported));
  }

  /** A value that is valid by itself, but not in this place. */
  forbidden(why: string): void {
    this.#found.push(errors.forbiddenField(this.#text, why));
  }

  duplicate(value: unknown, why = ''): void {
    this.#found.push(errors.duplicate(this.#text, value, why));
  }

  /** A reference to a part of the object that does not exist. */
  notFound(value: unknown): void {
    this.#found.push(errors.notFoundValue(this.#text, value));
  }

  tooLong(mostBytes: number): void {
    this.#found.push(errors.tooLong(this.#text, mostBytes));
  }

  tooMany(actual: number, most: number): void {
    this.#found.push(errors.tooMany(this.#text, actual, most));
  }

  /** An invalid value that the message does not show: it is too large, or more than one value. */
  invalidUnshown(why: string): void {
    this.#found.push(errors.invalidUnshown(this.#text, why));
  }

  /** Adds errors that have paths of their own. */
  add(found: readonly FieldError[]): void {
    for (const error of found) this.#found.push(error);
  }

  /** How many errors the whole object has so far. The difference before and after a rule tells whether the rule found one. */
  get found(): number {
    return this.#found.length;
  }

  /** The path as messages have it. */
  toString(): string {
    return this.#text;
  }
}

/** The errors of a rule as a list. `path` is where the judged value stands; empty for a whole object. */
export function problemsOf(rule: (at: FieldPath) => void, path = '', isOn?: Gates): FieldError[] {
  const found: FieldError[] = [];
  const root = FieldPath.root(found, isOn);
  rule(path === '' ? root : root.field(path));
  return found;
}
