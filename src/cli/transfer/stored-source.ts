import { errorText } from '../../util/error-text.ts';
import { inOrder } from './in-order.ts';
import type { Shapes } from './shapes.ts';
import type { Source, SourcePart, Unread } from './source.ts';
import { type Decodable, type SourceKeys, type StoredValue, toDecodable } from './stored-values.ts';

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

  constructor(parts: StoredParts) {
    this.#parts = parts;
  }

  async *read(): AsyncGenerator<SourcePart> {
    const { shapes, keys, values } = this.#parts;
    const all: (Decodable & { readonly stored: StoredValue })[] = [];
    for await (const stored of values()) {
      const one = this.#orUnread(stored, () => toDecodable(stored, keys, shapes));
      if (one !== undefined) all.push({ ...one, stored });
    }
    for (const { ones, ...part } of inOrder(all, shapes)) {
      const objects = ones.map((one) => this.#orUnread(one.stored, one.read));
      yield { ...part, objects: objects.filter((object) => object !== undefined) };
    }
  }

  #orUnread<Result>({ key }: StoredValue, read: () => Result): Result | undefined {
    try {
      return read();
    } catch (error) {
      this.unread.push({ name: key, reason: errorText(error) });
      return undefined;
    }
  }

  covers(): boolean {
    return true;
  }

  async close(): Promise<void> {}
}
