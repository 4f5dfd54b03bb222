import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import { isObject } from '../../object/json-values.ts';
import { errorText } from '../../util/error-text.ts';
import { readDocument, readItem } from './documents.ts';
import { FileBytes } from './file-bytes.ts';
import type { FileDocument, Piece } from './file-index.ts';

/** PieceReader reads objects at their places, fastest in the order of their files. */
export class PieceReader {
  #open: { readonly path: string; readonly bytes: FileBytes } | undefined;
  /** The items of the last document that had to be read as a whole. */
  #whole: { readonly name: string; readonly items: readonly JsonValue[] } | undefined;

  /** One object, unless a document is not what its lines say. @throws Error */
  read({ value, document, item, from, size, line }: Piece): readonly JsonObject[] {
    if (value !== undefined) return [value];
    const bytes = this.#bytesOf(document.path);
    if (item === 0) {
      const read = readDocument(bytes.text(from, from + size));
      if (read.kind === 'empty') return [];
      return read.kind === 'object' ? [read.object] : read.items.filter(isObject);
    }
    const text = bytes.text(from, from + size);
    try {
      return [readItem(text, line)].filter(isObject);
    } catch (error) {
      if (!errorText(error).startsWith(UNKNOWN_ANCHOR)) throw error;
      return [this.#itemsOf(document, bytes)[item - 1]].filter(isObject);
    }
  }

  close(): void {
    this.#open?.bytes.close();
    this.#open = undefined;
  }

  #bytesOf(path: string): FileBytes {
    if (this.#open?.path !== path) {
      this.close();
      this.#open = { path, bytes: new FileBytes(path) };
    }
    return this.#open.bytes;
  }

  /** For items that refer to each other. */
  #itemsOf({ path, number, from, to }: FileDocument, bytes: FileBytes): readonly JsonValue[] {
    const name = `${path} ${number}`;
    if (this.#whole?.name !== name) {
      const read = readDocument(bytes.text(from, to));
      this.#whole = { name, items: read.kind === 'list' ? read.items : [] };
    }
    return this.#whole.items;
  }
}

const UNKNOWN_ANCHOR = 'yaml: unknown anchor';
