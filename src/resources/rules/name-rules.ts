import type { FieldPath } from '../../object/field-path.ts';
import { checkName, type NameRule } from '../../object/text-formats.ts';

export function mustBeName(at: FieldPath, name: string, rule: NameRule): void {
  at.invalidFor(name, checkName(name, rule));
}

/** A name that must be there. */
export function mustBeNamed(at: FieldPath, name: string, rule: NameRule): void {
  if (name === '') at.required();
  else mustBeName(at, name, rule);
}

/** The same rule, all that is wrong with the name as one error. */
export function mustBeNameInOneError(at: FieldPath, name: string, rule: NameRule): void {
  const problems = checkName(name, rule);
  if (problems.length > 0) at.invalid(name, problems.join(','));
}

/** One of an enumeration, in the order in which the message lists it. An absent value is no mistake. */
export function mustBeOneOf(at: FieldPath, value: string | undefined, supported: readonly string[]): void {
  if (value !== undefined && !supported.includes(value)) at.notSupported(value, supported);
}

/** Checks that names in a list are unique: `unique.add(at, name)` for each. Another rule reports empty ones. */
export class UniqueNames {
  readonly #seen: Set<string>;

  constructor(taken: Iterable<string> = []) {
    this.#seen = new Set(taken);
  }

  add(at: FieldPath, name: string): void {
    if (name !== '' && this.#seen.has(name)) at.duplicate(name);
    this.#seen.add(name);
  }

  has(name: string): boolean {
    return this.#seen.has(name);
  }
}

/** Texts of one message that must not be empty: `mustHaveTexts(at, source, ['server', 'path'])`. */
export function mustHaveTexts<Name extends string>(
  at: FieldPath,
  owner: { readonly [name in Name]?: string },
  names: readonly Name[],
): void {
  for (const name of names) {
    const value = owner[name];
    if (value === undefined || value === '') at.field(name).required();
  }
}
