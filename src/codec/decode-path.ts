import { joinPath } from '../object/document-limits.ts';

/** The way from an object to one of its values, for messages. */
export class DecodePath {
  readonly #steps: (string | number)[] = [];
  readonly #isField: boolean[] = [];

  enterField(name: string): void {
    this.#steps.push(name);
    this.#isField.push(true);
  }

  /** An item of a list or map, by its index or key. */
  enterItem(at: string | number): void {
    this.#steps.push(at);
    this.#isField.push(false);
  }

  leave(): void {
    this.#steps.pop();
    this.#isField.pop();
  }

  /** `spec.containers[0].imagee`: the field `last` of the value at hand. */
  textOf(last: string): string {
    return [...this.#steps, last].reduce<string>((path, step) => {
      if (typeof step === 'number') return joinPath(path, `[${step}]`);
      return joinPath(path, path === '' ? step : `.${step}`);
    }, '');
  }

  /** Fields alone, as Go's decoder names them: `spec.containers.image`. */
  fields(): string {
    return this.#steps.filter((_, at) => this.#isField[at]).join('.');
  }
}
