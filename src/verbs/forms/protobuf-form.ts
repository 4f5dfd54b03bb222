import type { JsonObject } from '../../api/object-meta.ts';
import type { MessageSchema } from '../../api/schema.ts';
import { type Body, CHUNK_BYTES, type ItemList } from '../../codec/chunks.ts';
import { type EncodedItems, EncodedPages, type ItemEncoding } from '../../codec/encoded-pages.ts';
import { DerivedCache, type PackedPage, packItems } from '../../codec/packed-pages.ts';
import { encodeItem, encodeMessage } from '../../codec/protobuf/encoder.ts';
import { encodeEnvelope, encodeWatchFrame, envelopeOf, inEnvelope } from '../../codec/protobuf/envelope.ts';
import { encodeStored, encodeStoredItem, type StoredBytes } from '../../codec/protobuf/transcoder.ts';
import { parseStoredMetadata } from '../../codec/stored-object.ts';
import type { Entry } from '../../storage/store.ts';
import { inTurns } from '../../util/turns.ts';
import {
  bookmarkObject,
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

/** The same in all list types. */
const ITEMS_FIELD = 2;

/** 10,000 pods of 7.7 kB are 54 MB, their metadata 38 MB. A cache takes half of its bytes at least. */
const encodedObjects = new EncodedPages(128 * 1024 * 1024);
const encodedMetadata = new EncodedPages(96 * 1024 * 1024);
/** 10,000 pods of 7.7 kB are 5 MB packed. */
const packedObjects = new DerivedCache<PackedPage>(64 * 1024 * 1024);
const packedMetadata = new DerivedCache<PackedPage>(16 * 1024 * 1024);

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
  readonly #encoding: ItemEncoding<Entry>;

  constructor(options: FormOptions, output: OutputType) {
    const { representation, view, types } = options;
    this.#options = options;
    this.#output = output;
    this.contentType = representation.contentType;
    this.#type = output.metadataOnly ? 'meta/v1.PartialObjectMetadata' : outputMessage(options);
    this.#schema = types.message(this.#type);
    const version = servedApiVersion(options.served, options.dialect);
    this.#id = `${representation.contentType} ${output.kind} ${output.apiVersion} ${version} ${view?.name ?? ''}`;
    this.#encoding = {
      form: this.#id,
      encode: (entry) => this.#item(entry),
    };
    this.frames = {
      id: this.#id,
      encode: ({ type, entry, revision }) => encodeWatchFrame(type, this.#object(entry, revision)),
      bookmark: (revision, initialEventsEnd) => {
        const listSchema = types.message(`${this.#type}List`);
        const encodeList = (list: JsonObject): Buffer => encodeEnvelope(list, listSchema);
        const object = bookmarkObject({ ...output, revision, isEnd: initialEventsEnd, encodeList });
        return encodeWatchFrame('BOOKMARK', encodeEnvelope(object, this.#schema));
      },
    };
  }

  object(stored: Stored): Body {
    return { chunks: [this.#object(stored, stored.revision)] };
  }

  async list(entries: readonly Entry[], head: ListHead): Promise<Body> {
    const { types } = this.#options;
    const { listKind, apiVersion, metadataOnly } = this.#output;
    const encoded = metadataOnly ? encodedMetadata : encodedObjects;
    const items = await inTurns(encoded.list(entries, this.#encoding));
    const metadata = encodeMessage({ metadata: toListMeta(head) }, types.message(`${this.#type}List`));
    const envelope = envelopeOf({ kind: listKind, apiVersion }, metadata.length + items.sizeBytes);
    const list: ItemList<Entry, Buffer> = {
      head: Buffer.concat([envelope.head, metadata]),
      tail: envelope.tail,
      separator: '',
      items: entries,
      exact: false,
      estimateBytes: ({ json }) => json.length,
      make: (entry) => encoded.copyOf(entry, this.#encoding),
      boundBytes: (bytes) => bytes.length,
      write: (bytes, writer) => writer.bytes(bytes),
    };
    const pages = metadataOnly ? packedMetadata : packedObjects;
    const packed = (): AsyncIterable<Buffer> =>
      packItems(list, { pages, form: this.#id, stateOf: (entry) => entry });
    return { ...toBody(list.head, items, list.tail), packed };
  }

  /** The bytes may be used until the next item is encoded. */
  #item(entry: Entry): Buffer {
    const stored = this.#storedBytes(entry, entry.revision);
    const bytes = stored && encodeStoredItem(stored, this.#schema, ITEMS_FIELD);
    return bytes ?? encodeItem(this.#show(entry, entry.revision), this.#schema, ITEMS_FIELD);
  }

  #object(entry: Shown, revision: Stored['revision']): Buffer {
    const stored = this.#storedBytes(entry, revision);
    const message = stored && encodeStored(stored, this.#schema);
    return message === undefined
      ? encodeEnvelope(this.#show(entry, revision), this.#schema)
      : inEnvelope(this.#output, message);
  }

  /** Undefined for objects that are shown in another form than that in which they are stored. */
  #storedBytes(shown: Shown, revision: Stored['revision']): StoredBytes | undefined {
    if (!isStored(this.#options)) return undefined;
    const { json } = shown;
    const end = this.#output.metadataOnly ? metadataEndOf(shown) : json.length;
    return { json, end, resourceVersion: versionText(revision) };
  }

  #show(stored: Shown, revision: Stored['revision']): JsonObject {
    const { kind, apiVersion, metadataOnly } = this.#output;
    if (!metadataOnly || !isStored(this.#options)) {
      const object = toServed({ json: stored.json, revision }, this.#options);
      return metadataOnly ? { kind, apiVersion, metadata: object.metadata } : object;
    }
    const metadata = parseStoredMetadata(stored.json, metadataEndOf(stored), versionText(revision));
    return { kind, apiVersion, metadata };
  }
}

type Shown = Pick<Stored, 'json' | 'metadataEnd'>;

function toBody(head: Buffer, items: EncodedItems, tail: Buffer): Body {
  const sizeBytes = head.length + items.sizeBytes + tail.length;
  if (sizeBytes <= CHUNK_BYTES) return { chunks: [Buffer.concat([head, ...items.pages(), tail])] };
  return { chunks: [], rest: around(head, items.pages(), tail), sizeBytes };
}

function* around(head: Buffer, pages: Iterable<Buffer>, tail: Buffer): Iterable<Buffer> {
  yield head;
  yield* pages;
  yield tail;
}
