import type { Revision } from '../storage/revision.ts';
import type { Steps } from '../util/concurrency.ts';
import type { FieldChange, Leaf } from './changes.ts';
import { isWithin } from './paths.ts';

/** Looks at a field, which take some milliseconds together. Then others have their turn. */
const LOOKS_A_TURN = 50_000;

/**
 * Who set each field of an object to what it is. It is told of the object's revisions, the newest first: the first of them that
 * changed a field, or something that the field is in, has set it.
 *
 *   const blame = new Blame(leaves);
 *   for (const revision of newestFirst) if (blame.isDone) break; else blame.take(revision, changes);
 *   blame.setterOf('spec.replicas')   → the revision, or undefined
 */
export class Blame {
  readonly #setters = new Map<string, Revision>();
  readonly #open: Set<string>;

  constructor(leaves: readonly Leaf[]) {
    this.#open = new Set(leaves.map(({ path }) => path));
  }

  /** All fields have somebody's name. */
  get isDone(): boolean {
    return this.#open.size === 0;
  }

  *take(revision: Revision, changes: readonly FieldChange[]): Steps<void> {
    let looks = 0;
    for (const { path, new: value } of changes) {
      if (this.#open.delete(path)) this.#setters.set(path, revision);
      // What was taken away has left nothing below it, and a plain value has nothing.
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
