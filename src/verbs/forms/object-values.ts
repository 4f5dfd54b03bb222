import type { JsonObject } from '../../api/object-meta.ts';
import { parseStoredMetadata, parseStoredRest } from '../../codec/stored-object.ts';
import type { Revision } from '../../storage/revision.ts';
import {
  bookmarkObject,
  emptyListOf,
  type FormOptions,
  isStored,
  type ListHead,
  metadataEndOf,
  type OutputType,
  type Stored,
  servedApiVersion,
  toListMeta,
  toServed,
  versionText,
} from './form.ts';
import type { ListEnd, Values } from './values.ts';

/** Objects, views of them, or their metadata. */
export class ObjectValues implements Values {
  readonly id: string;
  readonly itemsField = 'items';
  readonly #options: FormOptions;
  readonly #output: OutputType;

  constructor(options: FormOptions, output: OutputType) {
    const { served, dialect, view } = options;
    this.#options = options;
    this.#output = output;
    // Metadata is not the same in all versions: autoscaling/v1 has annotations for what it has no fields for.
    this.id = [output.kind, output.apiVersion, servedApiVersion(served, dialect), view?.name ?? ''].join(' ');
  }

  object(stored: Stored): JsonObject {
    const { kind, apiVersion, metadataOnly } = this.#output;
    if (!metadataOnly) return toServed(stored, this.#options);
    if (!isStored(this.#options)) {
      return { kind, apiVersion, metadata: toServed(stored, this.#options).metadata };
    }
    const metadata = parseStoredMetadata(stored.json, metadataEndOf(stored), versionText(stored.revision));
    return { kind, apiVersion, metadata };
  }

  item(stored: Stored): JsonObject {
    return this.#asItem(this.object(stored));
  }

  /** Half of a large object is who manages its fields, which is read apart from the other half. */
  *inTurns(stored: Stored, as: 'object' | 'item'): Generator<undefined, JsonObject> {
    if (this.#output.metadataOnly || !isStored(this.#options)) {
      return as === 'object' ? this.object(stored) : this.item(stored);
    }
    const end = metadataEndOf(stored);
    const metadata = parseStoredMetadata(stored.json, end, versionText(stored.revision));
    yield;
    const rest = parseStoredRest(stored.json, end);
    yield;
    const { kind, apiVersion } = this.#output;
    return as === 'object' ? { kind, apiVersion, metadata, ...rest } : { metadata, ...rest };
  }

  /** A list of whole objects says once what they are, as Kubernetes' typed lists do. */
  #asItem(object: JsonObject): JsonObject {
    if (this.#output.metadataOnly) return object;
    const { kind: _kind, apiVersion: _apiVersion, ...item } = object;
    return item;
  }

  list(head: ListHead): JsonObject {
    const { listKind, apiVersion } = this.#output;
    return { kind: listKind, apiVersion, metadata: toListMeta(head) };
  }

  bookmark(revision: Revision, end: ListEnd | undefined): JsonObject {
    return bookmarkObject({ ...this.#output, revision, emptyList: end?.(emptyListOf(this.#output)) });
  }
}
