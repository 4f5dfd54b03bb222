import { Pace } from '../../util/turns.ts';
import { LAST_POSITION } from '../key.ts';
import type { Entry, SoughtValue } from '../store.ts';
import type { CountedTree } from './counted-tree.ts';

/** An index that lags behind by more changes is dropped; the next query builds a new one. */
const MAX_CHANGED = 4096;

/** Returns what an object has in a field or as a label; '' or undefined: nothing. */
export const valueIn = (entry: Entry, { of, name }: Pick<SoughtValue, 'of' | 'name'>): string | undefined =>
  of === 'field' ? entry.fields[name] : ownValue(entry.labels, name);

const ownValue = (labels: Entry['labels'], name: string): string | undefined =>
  Object.hasOwn(labels, name) ? labels[name] : undefined;

/**
 * ValueIndex finds the objects of a resource by the value of one field or label: each kubelet of a thousand lists its own of
 * 100,000 pods. A query builds the index, later ones update it. A change only notes its position: fields are slow to read, and are
 * read when a query needs them.
 */
export class ValueIndex {
  readonly #of: Pick<SoughtValue, 'of' | 'name'>;
  readonly #tree: CountedTree<Entry>;
  readonly #byValue = new Map<string, Map<string, Entry>>();
  readonly #values = new Map<string, string>();
  readonly #changed = new Set<string>();
  #filling: Promise<void> | undefined;

  /** `tree` is the live collection, which changes under the index. */
  constructor(of: Pick<SoughtValue, 'of' | 'name'>, tree: CountedTree<Entry>) {
    this.#of = of;
    this.#tree = tree;
  }

  /** Resolves when all objects were read once. Reading a field takes 50 µs, so other work runs in between. */
  filled(): Promise<void> {
    this.#filling ??= this.#fill();
    return this.#filling;
  }

  /** Returns false when too much has changed and the index must be dropped. */
  noteChange(position: string): boolean {
    this.#changed.add(position);
    return this.#changed.size <= MAX_CHANGED;
  }

  /** Counts the objects of the resource that have the value. */
  count(value: string): number {
    this.#catchUp();
    return this.#byValue.get(value)?.size ?? 0;
  }

  /** Returns entries in the order of positions. */
  entriesWith(value: string): [position: string, entry: Entry][] {
    this.#catchUp();
    return [...(this.#byValue.get(value) ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  /** Reads all objects in turns, and after each turn the changes noted meanwhile. */
  async #fill(): Promise<void> {
    const pace = new Pace({ stepsBetween: 8 });
    let from = '';
    const look = (position: string, entry: Entry): boolean => {
      from = position;
      if (pace.isOver()) return false;
      this.#put(position, entry);
      return true;
    };
    while (!this.#tree.visit(from, LAST_POSITION, look)) {
      this.#catchUp();
      await pace.rest();
    }
  }

  #catchUp(): void {
    for (const position of this.#changed) this.#put(position, this.#tree.get(position));
    this.#changed.clear();
  }

  #put(position: string, entry: Entry | undefined): void {
    const before = this.#values.get(position);
    if (before !== undefined) {
      const others = this.#byValue.get(before);
      others?.delete(position);
      if (others?.size === 0) this.#byValue.delete(before);
      this.#values.delete(position);
    }
    if (entry === undefined) return;
    const value = valueIn(entry, this.#of) ?? '';
    if (value === '') return;
    this.#values.set(position, value);
    const known = this.#byValue.get(value);
    if (known === undefined) this.#byValue.set(value, new Map([[position, entry]]));
    else known.set(position, entry);
  }
}

/** An index, and the value to find with it. */
export interface FoundIndex {
  readonly index: ValueIndex;
  readonly value: string;
}
