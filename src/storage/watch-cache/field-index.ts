import type { Entry } from '../store.ts';

/** What is behind the collection by more than that is made anew when it is needed again. */
const MAX_CHANGED = 4096;

/**
 * The objects of a resource by the value of one field: each kubelet of a thousand lists its own of 100,000 pods. Made when
 * first asked for, and brought up to date when asked again: a change costs only the note of where it was, so that nobody
 * reads the fields of objects for whom they are not looked up.
 */
export class FieldIndex {
  readonly #field: string;
  readonly #find: (position: string) => Entry | undefined;
  readonly #byValue = new Map<string, Map<string, Entry>>();
  readonly #values = new Map<string, string>();
  readonly #changed = new Set<string>();

  /** `find` reads the collection as it is now. */
  constructor(field: string, find: (position: string) => Entry | undefined) {
    this.#field = field;
    this.#find = find;
  }

  /** False: so much has changed that the index is of no use any more. */
  noteChange(position: string): boolean {
    this.#changed.add(position);
    return this.#changed.size <= MAX_CHANGED;
  }

  /** In the order of their positions. */
  entriesWith(value: string): [position: string, entry: Entry][] {
    for (const position of this.#changed) this.#update(position);
    this.#changed.clear();
    return [...(this.#byValue.get(value) ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  add(position: string, entry: Entry): void {
    const value = entry.fields[this.#field] ?? '';
    if (value === '') return;
    this.#values.set(position, value);
    const known = this.#byValue.get(value);
    if (known === undefined) this.#byValue.set(value, new Map([[position, entry]]));
    else known.set(position, entry);
  }

  #update(position: string): void {
    const before = this.#values.get(position);
    if (before !== undefined) {
      const others = this.#byValue.get(before);
      others?.delete(position);
      if (others?.size === 0) this.#byValue.delete(before);
      this.#values.delete(position);
    }
    const entry = this.#find(position);
    if (entry !== undefined) this.add(position, entry);
  }
}
