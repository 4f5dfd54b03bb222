import type { JsonObject } from '../../api/object-meta.ts';
import type { Body } from '../../codec/chunks.ts';
import { encodeFrame, encodeValue } from '../../codec/encode.ts';
import { parseStored } from '../../codec/stored-object.ts';
import type { Revision } from '../../storage/revision.ts';
import type { FrameEncoder } from '../../storage/store.ts';
import {
  bookmarkObject,
  type Form,
  type FormOptions,
  type ListHead,
  type Stored,
  servedApiVersion,
  shownApiVersion,
  toListMeta,
  toServed,
  versionText,
} from '../form.ts';

/** meta/v1 Table for those who read it themselves: YAML and pretty JSON. Watches repeat the definitions of the columns. */
export class ParsedTableForm implements Form {
  readonly contentType: string;
  readonly frames: FrameEncoder;
  readonly #options: FormOptions;
  readonly #apiVersion: string;

  constructor(options: FormOptions) {
    const { representation, dialect, includeObject, served } = options;
    this.#options = options;
    this.#apiVersion = shownApiVersion(options);
    this.contentType = representation.contentType;
    this.frames = {
      id: `${representation.format} table ${this.#apiVersion} ${includeObject} ${servedApiVersion(served, dialect)}`,
      encode: ({ type, entry, revision }) =>
        this.#frame(type, this.#table([{ json: entry.json, revision }], versionText(revision))),
      bookmark: (revision, end) => this.#bookmark(revision, end),
    };
  }

  object(stored: Stored): Buffer[] {
    return [encodeValue(this.#table([stored], versionText(stored.revision)), this.#options.representation)];
  }

  list(entries: readonly Stored[], head: ListHead): Body {
    const table = { ...this.#table(entries, ''), metadata: toListMeta(head) };
    return { chunks: [encodeValue(table, this.#options.representation)] };
  }

  #table(entries: readonly Stored[], resourceVersion: string): JsonObject {
    return {
      kind: 'Table',
      apiVersion: this.#apiVersion,
      metadata: resourceVersion === '' ? {} : { resourceVersion },
      columnDefinitions: this.#options.served.definition.columns.map((column) => ({ ...column })),
      rows: entries.map((entry) => this.#row(entry)),
    };
  }

  #row(stored: Stored): JsonObject {
    const { served, includeObject, now } = this.#options;
    const parsed = parseStored(stored.json, versionText(stored.revision));
    const cells = [...served.definition.cells(parsed, now())];
    switch (includeObject) {
      case 'None':
        return { cells };
      case 'Object':
        return { cells, object: toServed(stored, this.#options) };
      default: {
        const { metadata } = parsed;
        return { cells, object: { kind: 'PartialObjectMetadata', apiVersion: this.#apiVersion, metadata } };
      }
    }
  }

  #frame(type: string, table: JsonObject): Buffer {
    return encodeFrame(type, table, this.#options.representation);
  }

  #bookmark(revision: Revision, initialEventsEnd: boolean): Buffer {
    const { served, dialect } = this.#options;
    const { kind, columns } = served.definition;
    const apiVersion = servedApiVersion(served, dialect);
    const object = bookmarkObject({ kind, apiVersion, revision, initialEventsEnd });
    const row = { cells: columns.map(() => null), object };
    return this.#frame('BOOKMARK', { ...this.#table([], versionText(revision)), rows: [row] });
  }
}
