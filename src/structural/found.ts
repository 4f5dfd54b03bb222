import type { FieldError } from '../api/status.ts';

/** What a validation found. Kubernetes reports each text once (kube-openapi, validate/result.go). */

export interface Problem {
  /**
   * The path of the value; undefined for a problem of several schemas together, which Kubernetes reports of the whole object.
   */
  readonly path: string | undefined;
  /** Makes the error once it is known that it is reported. */
  readonly toError: (field: string) => FieldError;
}

/** No client reads more. */
const MAX_FOUND = 5_000;
const MAX_CHARS = 1024 * 1024;

export class Found {
  readonly #problems: Problem[] = [];
  readonly #texts = new Map<string, number>();
  #chars = 0;

  get count(): number {
    return this.#problems.length;
  }

  /** `text`: tells the problem from others. */
  add(text: string, problem: Problem): void {
    if (this.isFull || this.#texts.has(text)) return;
    this.#texts.set(text, this.#problems.length);
    this.#problems.push(problem);
    this.#chars += text.length;
  }

  /** Adds what was found in a part. */
  merge(other: Found): void {
    for (const [text, at] of other.#texts) {
      const problem = other.#problems[at];
      if (problem !== undefined) this.add(text, problem);
    }
  }

  /** Forgets what was found since there were `count` problems. */
  forgetFrom(count: number): void {
    this.#problems.length = count;
    for (const [text, at] of this.#texts) if (at >= count) this.#texts.delete(text);
  }

  get isFull(): boolean {
    return this.#problems.length >= MAX_FOUND || this.#chars > MAX_CHARS;
  }

  /** `root`: the path of the whole value; undefined for a whole object. */
  toErrors(root: string | undefined): FieldError[] {
    return this.#problems.map(({ path, toError }) => toError(fieldOf(root, path ?? '')));
  }
}

/** Kubernetes names the object itself `<nil>`, and leaves a point out where a path begins with one. */
function fieldOf(root: string | undefined, path: string): string {
  if (path === '' || path === '.') return root ?? '<nil>';
  const name = path.startsWith('.') ? path.slice(1) : path;
  return root === undefined ? name : `${root}.${name}`;
}
