import type { JsonObject } from '../../api/object-meta.ts';
import type { MessageSchema } from '../../api/schema.ts';
import type { Body, ItemList } from '../../codec/chunks.ts';
import { type PackedPage, writePackable } from '../../codec/gzip/packed-pages.ts';
import { Kept } from '../../codec/kept.ts';
import { encodeItem, encodeMessage } from '../../codec/protobuf/encoder.ts';
import { encodeEnvelope, encodeWatchFrame, envelopeOf } from '../../codec/protobuf/envelope.ts';
import { parseStoredMetadata } from '../../codec/stored-object.ts';
import type { Entry, FrameEncoder } from '../../storage/store.ts';
import { endTurn } from '../../util/end-turn.ts';
import {
  bookmarkObject,
  type Form,
  type FormOptions,
  type ListHead,
  metadataEndOf,
  type Stored,
  shownType,
  toListMeta,
  toServed,
  versionText,
} from '../form.ts';
import type { Shown } from './shown.ts';

/** An object as an item of its list, of the type it was encoded as. */
interface Encoded {
  readonly schema: MessageSchema;
  readonly item: Buffer;
  readonly sizeBytes: number;
}

interface Item {
  readonly entry: Entry;
  readonly bytes: Buffer;
}

/** In all list types. */
const ITEMS_FIELD = 2;

/** Encoding a pod of 7.7 kB takes 100 µs, most of it parsing; sending the same bytes again takes 2. */
const MAX_KEPT_BYTES = 128 * 1024 * 1024;
const MAX_KEPT_METADATA_BYTES = 32 * 1024 * 1024;
const keptObjects = new Kept<Encoded>(MAX_KEPT_BYTES);
const keptMetadata = new Kept<Encoded>(MAX_KEPT_METADATA_BYTES);
/** 10,000 pods of 7.7 kB are 5 MB packed. */
const packedObjects = new Kept<PackedPage>(64 * 1024 * 1024);
const packedMetadata = new Kept<PackedPage>(16 * 1024 * 1024);

/** Encoded in one go; then others have their turn. */
const TURN_BYTES = 256 * 1024;

/** Protobuf of objects, views and metadata. */
export class ProtobufForm implements Form {
  readonly contentType: string;
  readonly frames: FrameEncoder;
  readonly #options: FormOptions;
  readonly #shown: Shown;
  /** IDL name of what is shown. */
  readonly #type: string;
  readonly #schema: MessageSchema;

  constructor(options: FormOptions, shown: Shown) {
    const { representation, view, types } = options;
    this.#options = options;
    this.#shown = shown;
    this.contentType = representation.contentType;
    this.#type = shown.metadataOnly ? 'meta/v1.PartialObjectMetadata' : shownType(options);
    this.#schema = types.message(this.#type);
    this.frames = {
      id: `${representation.contentType} ${shown.kind} ${shown.apiVersion} ${view?.name ?? ''}`,
      encode: ({ type, entry, revision }) =>
        encodeWatchFrame(type, this.#envelope(this.#show(entry, revision))),
      bookmark: (revision, initialEventsEnd) => {
        const object = bookmarkObject({ ...shown, revision, initialEventsEnd });
        return encodeWatchFrame('BOOKMARK', this.#envelope(object));
      },
    };
  }

  object(stored: Stored): Buffer[] {
    return [this.#envelope(this.#show(stored, stored.revision))];
  }

  async list(entries: readonly Entry[], head: ListHead): Promise<Body> {
    const { types } = this.#options;
    const { listKind, apiVersion } = this.#shown;
    const items = await this.#items(entries);
    const metadata = encodeMessage({ metadata: toListMeta(head) }, types.message(`${this.#type}List`));
    let sizeBytes = metadata.length;
    for (const { bytes } of items) sizeBytes += bytes.length;
    const envelope = envelopeOf({ kind: listKind, apiVersion }, sizeBytes);
    const list: ItemList<Item, Item> = {
      head: Buffer.concat([envelope.head, metadata]),
      tail: envelope.tail,
      separator: '',
      items,
      exact: true,
      estimateBytes: ({ bytes }) => bytes.length,
      make: (item) => item,
      boundBytes: ({ bytes }) => bytes.length,
      write: ({ bytes }, writer) => writer.bytes(bytes),
    };
    const kept = this.#shown.metadataOnly ? packedMetadata : packedObjects;
    return writePackable(list, { kept, form: this.frames.id, stateOf: ({ entry }) => entry });
  }

  /** The length of the whole is in front of it, so all items are encoded before the first is sent. */
  async #items(entries: readonly Entry[]): Promise<Item[]> {
    const items: Item[] = [];
    const kept = this.#shown.metadataOnly ? keptMetadata : keptObjects;
    let encodedBytes = 0;
    for (const entry of entries) {
      const known = kept.get(entry);
      if (known !== undefined && known.schema === this.#schema) {
        items.push({ entry, bytes: known.item });
        continue;
      }
      if (encodedBytes > TURN_BYTES) {
        encodedBytes = 0;
        await endTurn();
      }
      const item = encodeItem(this.#show(entry, entry.revision), this.#schema, ITEMS_FIELD);
      kept.set(entry, { schema: this.#schema, item, sizeBytes: item.length });
      encodedBytes += item.length;
      items.push({ entry, bytes: item });
    }
    return items;
  }

  #show(stored: Pick<Stored, 'json' | 'metadataEnd'>, revision: Stored['revision']): JsonObject {
    const { kind, apiVersion, metadataOnly } = this.#shown;
    if (!metadataOnly) return toServed({ json: stored.json, revision }, this.#options);
    const metadata = parseStoredMetadata(stored.json, metadataEndOf(stored), versionText(revision));
    return { kind, apiVersion, metadata };
  }

  #envelope(object: JsonObject): Buffer {
    return encodeEnvelope(object, this.#schema);
  }
}
