import type { Revision } from '../../storage/revision.ts';
import type { Steps } from '../../util/turns.ts';
import type { FieldChange, Leaf } from '../changes.ts';
import { isWithin } from '../field-paths.ts';

/** Fields compared between yields; they take some milliseconds together. */
const LOOKS_A_TURN = 50_000;

/**
 * Finds the revision that set each field of an object. Revisions are taken newest first: the first that changed a
 * field, or a parent of it, has set it.
 *
 *   const blame = new FieldSetters(leaves);
 *   for (const revision of newestFirst) if (blame.isDone) break; else blame.take(revision, changes);
 *   blame.setterOf('spec.replicas')   → the revision, or undefined
 */
export class FieldSetters {
  readonly #setters = new Map<string, Revision>();
  readonly #open: Set<string>;
  /** Fields whose leaves all have a setter. They never reopen. */
  readonly #closed = new Set<string>();

  constructor(leaves: readonly Leaf[]) {
    this.#open = new Set(leaves.map(({ path }) => path));
  }

  /** All fields have a setter. */
  get isDone(): boolean {
    return this.#open.size === 0;
  }

  /** Whether a field contains leaves without a setter. Changes of other fields need not be taken. */
  isOpen(path: string): boolean {
    if (this.#closed.has(path)) return false;
    for (const leaf of this.#open) if (isWithin(leaf, path)) return true;
    this.#closed.add(path);
    return false;
  }

  *take(revision: Revision, changes: readonly FieldChange[]): Steps<void> {
    let looks = 0;
    for (const { path, new: value } of changes) {
      if (this.#open.delete(path)) this.#setters.set(path, revision);
      // A removed field or a plain value has no leaves below it.
      if (value === undefined || value === null || typeof value !== 'object') continue;
      for (const leaf of this.#open) {
        looks += 1;
        if (looks % LOOKS_A_TURN === 0) yield;
        if (!isWithin(leaf, path)) continue;
        this.#open.delete(leaf);
        this.#setters.set(leaf, revision);
      }
    }
  }

  setterOf(path: string): Revision | undefined {
    return this.#setters.get(path);
  }
}
