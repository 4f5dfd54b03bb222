/**
 * The way from a variable to a value: its name, then fields, `@items`, `@keys`, `@values`. It grows as a slice of Go does, because
 * cel-go's estimates depend on that: paths with spare room share it, and the step that is added last replaces the others. With
 * six steps before a macro's variable `x`, `x.a == x.b` compares the size of `b` with itself.
 */
export class Path {
  readonly #cells: string[];
  readonly #length: number;
  readonly #capacity: number;

  private constructor(cells: string[], length: number, capacity: number) {
    this.#cells = cells;
    this.#length = length;
    this.#capacity = capacity;
  }

  static readonly NONE = new Path([], 0, 0);

  static of(name: string): Path {
    return new Path([name], 1, 1);
  }

  /** Appends in place where there is room, and doubles the room where there is none. */
  with(step: string): Path {
    const length = this.#length;
    if (length < this.#capacity) {
      this.#cells[length] = step;
      return new Path(this.#cells, length + 1, this.#capacity);
    }
    return new Path([...this.#cells.slice(0, length), step], length + 1, Math.max(1, 2 * length));
  }

  /** The same path with room of its own. */
  copy(): Path {
    return new Path(this.#cells.slice(0, this.#length), this.#length, this.#length);
  }

  get steps(): readonly string[] {
    return this.#cells.slice(0, this.#length);
  }
}
