import { type GroupResource, toQualifiedResource } from '../../api/names.ts';
import { errorText } from '../../util/error-text.ts';
import { inOrder, type Unordered } from './in-order.ts';
import type { Shapes } from './shapes.ts';
import type { Source, SourcePart, Unread } from './source.ts';
import { type SourceKeys, type StoredValue, toUnordered } from './stored-values.ts';

interface StoredParts {
  readonly shapes: Shapes;
  readonly keys: SourceKeys;
  /** All live values at one revision. */
  readonly values: () => AsyncGenerator<StoredValue>;
}

/** The store of a kube-apiserver, read without one. All values are read into memory. */
export class StoredSource implements Source {
  readonly isPartial = false;
  readonly leftOut: readonly string[] = [];
  readonly unread: Unread[] = [];
  readonly #parts: StoredParts;
  readonly #covered = new Set<string>();

  constructor(parts: StoredParts) {
    this.#parts = parts;
  }

  async *read(): AsyncGenerator<SourcePart> {
    const { shapes, keys, values } = this.#parts;
    const all: Unordered[] = [];
    for await (const stored of values())
      try {
        const one = toUnordered(stored, keys, shapes);
        if (one !== undefined) all.push(one);
      } catch (error) {
        this.unread.push({ name: stored.key, reason: errorText(error) });
      }
    for (const part of inOrder(all, shapes)) {
      const [first] = part.objects;
      const resource = first === undefined ? undefined : shapes.resourceOf(first);
      if (resource !== undefined) this.#covered.add(toQualifiedResource(resource));
      yield part;
    }
  }

  covers(resource: GroupResource): boolean {
    return this.#covered.has(toQualifiedResource(resource));
  }

  async close(): Promise<void> {}
}
