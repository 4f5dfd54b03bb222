import type { JsonObject } from '../../api/object-meta.ts';
import type { MessageSchema } from '../../api/schema.ts';
import type { Body, ItemList } from '../../codec/chunks.ts';
import { DerivedCache, type PackedPage, writePackable } from '../../codec/packed-pages.ts';
import { encodeItem, encodeMessage } from '../../codec/protobuf/encoder.ts';
import { encodeEnvelope, encodeWatchFrame, envelopeOf } from '../../codec/protobuf/envelope.ts';
import { parseStoredMetadata } from '../../codec/stored-object.ts';
import type { Entry } from '../../storage/store.ts';
import { Pace } from '../../util/turns.ts';
import {
  bookmarkObject,
  emptyListOf,
  type Form,
  type FormOptions,
  type Frames,
  isStored,
  type ListHead,
  metadataEndOf,
  type OutputType,
  outputMessage,
  type Stored,
  servedApiVersion,
  toListMeta,
  toServed,
  versionText,
} from './form.ts';

/** An object as an encoded item of its list. */
interface Encoded {
  readonly form: string;
  readonly item: Buffer;
  readonly sizeBytes: number;
}

interface Item {
  readonly entry: Entry;
  /** Undefined: encoded again when it is sent. */
  readonly bytes: Buffer | undefined;
  readonly sizeBytes: number;
}

/** The same in all list types. */
const ITEMS_FIELD = 2;

/** Encoding a pod of 7.7 kB takes 100 µs, most of it parsing; sending the same bytes again takes 2. */
const MAX_ENCODED_BYTES = 128 * 1024 * 1024;
const MAX_ENCODED_METADATA_BYTES = 32 * 1024 * 1024;
const encodedObjects = new DerivedCache<Encoded>(MAX_ENCODED_BYTES);
const encodedMetadata = new DerivedCache<Encoded>(MAX_ENCODED_METADATA_BYTES);
/** 10,000 pods of 7.7 kB are 5 MB packed. */
const packedObjects = new DerivedCache<PackedPage>(64 * 1024 * 1024);
const packedMetadata = new DerivedCache<PackedPage>(16 * 1024 * 1024);

/** Most bytes that one list holds until they are sent, besides cached items. */
const MAX_HELD_BYTES = 16 * 1024 * 1024;

/** Interns ids: comparing a text with itself reads no characters, and a list compares one per item. */
const ids = new Map<string, string>();
function oneOf(id: string): string {
  const known = ids.get(id);
  if (known !== undefined) return known;
  ids.set(id, id);
  return id;
}

/**
 * Protobuf of objects, views and metadata. Encoding is deterministic, so that items of a list too large to hold may be encoded
 * once for its length and again when they are sent.
 */
export class ProtobufForm implements Form {
  readonly contentType: string;
  readonly frames: Frames;
  readonly #options: FormOptions;
  readonly #output: OutputType;
  /** IDL name of the encoded type. */
  readonly #type: string;
  readonly #schema: MessageSchema;
  readonly #id: string;

  constructor(options: FormOptions, output: OutputType) {
    const { representation, view, types } = options;
    this.#options = options;
    this.#output = output;
    this.contentType = representation.contentType;
    this.#type = output.metadataOnly ? 'meta/v1.PartialObjectMetadata' : outputMessage(options);
    this.#schema = types.message(this.#type);
    const version = servedApiVersion(options.served, options.dialect);
    this.#id = oneOf(
      `${representation.contentType} ${output.kind} ${output.apiVersion} ${version} ${view?.name ?? ''}`,
    );
    this.frames = {
      id: this.#id,
      encode: ({ type, entry, revision }) =>
        encodeWatchFrame(type, this.#envelope(this.#show(entry, revision))),
      bookmark: (revision, initialEventsEnd) => {
        const listSchema = types.message(`${this.#type}List`);
        const emptyList = initialEventsEnd ? encodeEnvelope(emptyListOf(output), listSchema) : undefined;
        const object = bookmarkObject({ ...output, revision, emptyList });
        return encodeWatchFrame('BOOKMARK', this.#envelope(object));
      },
    };
  }

  object(stored: Stored): Body {
    return { chunks: [this.#envelope(this.#show(stored, stored.revision))] };
  }

  async list(entries: readonly Entry[], head: ListHead): Promise<Body> {
    const { types } = this.#options;
    const { listKind, apiVersion } = this.#output;
    const { items, itemBytes } = await this.#items(entries);
    const metadata = encodeMessage({ metadata: toListMeta(head) }, types.message(`${this.#type}List`));
    const envelope = envelopeOf({ kind: listKind, apiVersion }, metadata.length + itemBytes);
    const list: ItemList<Item, Buffer> = {
      head: Buffer.concat([envelope.head, metadata]),
      tail: envelope.tail,
      separator: '',
      items,
      exact: true,
      estimateBytes: ({ sizeBytes }) => sizeBytes,
      make: ({ bytes, entry }) => bytes ?? this.#known(entry) ?? this.#encode(entry),
      boundBytes: (bytes) => bytes.length,
      write: (bytes, writer) => writer.bytes(bytes),
    };
    const pages = this.#output.metadataOnly ? packedMetadata : packedObjects;
    return writePackable(list, { pages, form: this.#id, stateOf: ({ entry }) => entry });
  }

  /** Encodes all items before the first is sent, because the total length precedes them. */
  async #items(entries: readonly Entry[]): Promise<{ items: Item[]; itemBytes: number }> {
    const items: Item[] = [];
    const pace = new Pace({ stepsBetween: 16 });
    let itemBytes = 0;
    let heldBytes = 0;
    for (const entry of entries) {
      if (pace.isOver()) await pace.rest();
      const known = this.#known(entry);
      const bytes = known ?? this.#encode(entry);
      const sizeBytes = bytes.length;
      const isHeld = known !== undefined || heldBytes + sizeBytes <= MAX_HELD_BYTES;
      if (isHeld && known === undefined) heldBytes += sizeBytes;
      itemBytes += sizeBytes;
      items.push({ entry, bytes: isHeld ? bytes : undefined, sizeBytes });
    }
    return { items, itemBytes };
  }

  get #encoded(): DerivedCache<Encoded> {
    return this.#output.metadataOnly ? encodedMetadata : encodedObjects;
  }

  #known(entry: Entry): Buffer | undefined {
    const known = this.#encoded.get(entry);
    return known?.form === this.#id ? known.item : undefined;
  }

  /** Encodes an item of the list; the cache keeps it for the next list. */
  #encode(entry: Entry): Buffer {
    const item = encodeItem(this.#show(entry, entry.revision), this.#schema, ITEMS_FIELD);
    this.#encoded.set(entry, { form: this.#id, item, sizeBytes: item.length });
    return item;
  }

  #show(stored: Pick<Stored, 'json' | 'metadataEnd'>, revision: Stored['revision']): JsonObject {
    const { kind, apiVersion, metadataOnly } = this.#output;
    if (!metadataOnly || !isStored(this.#options)) {
      const object = toServed({ json: stored.json, revision }, this.#options);
      return metadataOnly ? { kind, apiVersion, metadata: object.metadata } : object;
    }
    const metadata = parseStoredMetadata(stored.json, metadataEndOf(stored), versionText(revision));
    return { kind, apiVersion, metadata };
  }

  #envelope(object: JsonObject): Buffer {
    return encodeEnvelope(object, this.#schema);
  }
}
