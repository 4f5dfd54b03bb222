import type { JsonObject } from '../../api/object-meta.ts';
import { parseStored } from '../../codec/stored-object.ts';
import type { Revision } from '../../storage/revision.ts';
import {
  bookmarkObject,
  type FormOptions,
  type ListHead,
  metaApiVersion,
  type Stored,
  servedApiVersion,
  toListMeta,
  toServed,
  versionText,
} from './form.ts';
import type { Values } from './values.ts';

/** meta/v1 Table for those who read it themselves. Watches repeat the definitions of the columns. */
export class TableValues implements Values {
  readonly id: string;
  readonly itemsField = 'rows';
  readonly #options: FormOptions;
  readonly #apiVersion: string;

  constructor(options: FormOptions) {
    const { dialect, includeObject, served } = options;
    this.#options = options;
    this.#apiVersion = metaApiVersion(options);
    this.id = `table ${this.#apiVersion} ${includeObject} ${servedApiVersion(served, dialect)}`;
  }

  object(stored: Stored): JsonObject {
    return { ...this.#table({ resourceVersion: versionText(stored.revision) }), rows: [this.item(stored)] };
  }

  item(stored: Stored): JsonObject {
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

  *inTurns(stored: Stored, as: 'object' | 'item'): Generator<undefined, JsonObject> {
    const made = as === 'object' ? this.object(stored) : this.item(stored);
    yield;
    return made;
  }

  list(head: ListHead): JsonObject {
    return this.#table(toListMeta(head));
  }

  /** No streaming list is shown as a table. */
  bookmark(revision: Revision): JsonObject {
    const { served, dialect } = this.#options;
    const { kind, columns } = served.definition;
    const apiVersion = servedApiVersion(served, dialect);
    const object = bookmarkObject({ kind, apiVersion, revision, emptyList: undefined });
    const row = { cells: columns.map(() => null), object };
    return { ...this.#table({ resourceVersion: versionText(revision) }), rows: [row] };
  }

  #table(metadata: JsonObject): JsonObject {
    return {
      kind: 'Table',
      apiVersion: this.#apiVersion,
      metadata,
      columnDefinitions: this.#options.served.definition.columns.map((column) => ({ ...column })),
    };
  }
}
