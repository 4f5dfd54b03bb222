import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { isObject } from '../../object/merge-patch.ts';

/**
 * An object of a configuration file. Its errors are collected in `problems`. An unknown field is an error, because a misspelt one
 * would weaken the server unnoticed.
 */
export class ConfigFields {
  readonly path: string;
  readonly #object: JsonObject;
  readonly #problems: FieldError[];

  constructor(
    value: JsonValue | undefined,
    { path, names, problems }: { path: string; names: readonly string[]; problems: FieldError[] },
  ) {
    this.path = path;
    this.#problems = problems;
    this.#object = isObject(value) ? value : {};
    if (value !== undefined && value !== null && !isObject(value)) this.#wrongType(path, 'an object');
    for (const name of Object.keys(this.#object)) {
      if (!names.includes(name))
        problems.push({ type: 'FieldValueForbidden', field: this.at(name), message: 'unknown field' });
    }
  }

  at(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`;
  }

  has(name: string): boolean {
    return this.#object[name] !== undefined && this.#object[name] !== null;
  }

  /** '' for an absent field. */
  text(name: string): string {
    const value = this.#object[name];
    if (typeof value === 'string') return value;
    if (this.has(name)) this.#wrongType(this.at(name), 'a string');
    return '';
  }

  flag(name: string): boolean {
    const value = this.#object[name];
    if (typeof value !== 'boolean' && this.has(name)) this.#wrongType(this.at(name), 'true or false');
    return value === true;
  }

  texts(name: string): string[] {
    return this.#list(name).map((value, at) => {
      if (typeof value !== 'string') this.#wrongType(`${this.at(name)}[${at}]`, 'a string');
      return String(value);
    });
  }

  child(name: string, names: readonly string[]): ConfigFields {
    return new ConfigFields(this.#object[name], { path: this.at(name), names, problems: this.#problems });
  }

  children(name: string, names: readonly string[]): ConfigFields[] {
    return this.#list(name).map(
      (value, at) =>
        new ConfigFields(value, { path: `${this.at(name)}[${at}]`, names, problems: this.#problems }),
    );
  }

  #list(name: string): JsonValue[] {
    const value = this.#object[name];
    if (Array.isArray(value)) return value;
    if (this.has(name)) this.#wrongType(this.at(name), 'a list');
    return [];
  }

  #wrongType(field: string, right: string): void {
    this.#problems.push({ type: 'FieldValueTypeInvalid', field, message: `must be ${right}` });
  }
}
