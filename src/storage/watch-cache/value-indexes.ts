import { rangeOf, type Scope } from '../key.ts';
import type { Entry, SoughtValue } from '../store.ts';
import type { CountedTree } from './counted-tree.ts';
import { type FoundIndex, ValueIndex } from './value-index.ts';

/** In a scope of fewer objects, no label is looked up. */
const LEAST_INDEXED = 500;
/** Found entries are put in order in one turn. */
const MOST_FOUND = 4096;
const MAX_LABEL_INDEXES = 8;
const MAX_ASKED_LABELS = 64;

const toIndexKey = ({ of, name }: SoughtValue): string => `${of} ${name}`;

/**
 * ValueIndexes has the indexes of a resource, made for what queries seek. A field is always looked up: reading it from every object
 * takes long. A label is looked up from the second query on, where few of many objects have the value.
 */
export class ValueIndexes {
  readonly #tree: CountedTree<Entry>;
  /** By kind and name, those used of late last. */
  readonly #byKey = new Map<string, ValueIndex>();
  /** Labels that were sought once, without an index. */
  readonly #askedLabels = new Set<string>();

  /** `tree` is the live collection, which changes under the indexes. */
  constructor(tree: CountedTree<Entry>) {
    this.#tree = tree;
  }

  /** Must be called after each change of the collection. */
  noteChange(position: string): void {
    for (const [key, index] of this.#byKey) if (!index.noteChange(position)) this.#byKey.delete(key);
  }

  /**
   * Returns an index that finds the objects of a scope by one of the values, up to date in the turn in which this resolves.
   * Undefined: looking at every object of the scope costs less.
   */
  async find(sought: readonly SoughtValue[], scope: Scope): Promise<FoundIndex | undefined> {
    const { low, high } = rangeOf(scope);
    for (const one of sought) {
      if (one.of === 'field') return { index: await this.#fieldIndex(one), value: one.value };
      const objects = this.#tree.count(low, high);
      if (objects < LEAST_INDEXED) return undefined;
      const index = await this.#labelIndex(one);
      if (index === undefined) continue;
      const found = index.count(one.value);
      if (found <= MOST_FOUND && found * 4 <= objects) return { index, value: one.value };
    }
    return undefined;
  }

  /** An index that was dropped while it was filled is made anew. */
  async #fieldIndex(of: SoughtValue): Promise<ValueIndex> {
    for (;;) {
      const index = this.#usedIndex(of);
      await index.filled();
      if (this.#isKept(of, index)) return index;
    }
  }

  /** Returns undefined for the first query of a label, which costs less without an index. */
  async #labelIndex(of: SoughtValue): Promise<ValueIndex | undefined> {
    if (!this.#byKey.has(toIndexKey(of)) && !this.#askedLabels.delete(of.name)) {
      if (this.#askedLabels.size === MAX_ASKED_LABELS) this.#askedLabels.clear();
      this.#askedLabels.add(of.name);
      return undefined;
    }
    const index = this.#usedIndex(of);
    await index.filled();
    return this.#isKept(of, index) ? index : undefined;
  }

  #usedIndex(of: SoughtValue): ValueIndex {
    const key = toIndexKey(of);
    const index = this.#byKey.get(key) ?? new ValueIndex(of, this.#tree);
    this.#byKey.delete(key);
    this.#byKey.set(key, index);
    const labels = [...this.#byKey.keys()].filter((one) => one.startsWith('label '));
    if (labels.length > MAX_LABEL_INDEXES) this.#byKey.delete(labels[0] ?? '');
    return index;
  }

  #isKept(of: SoughtValue, index: ValueIndex): boolean {
    return this.#byKey.get(toIndexKey(of)) === index;
  }
}
