import type { JsonObject } from '../../api/object-meta.ts';
import type { MessageSchema } from '../../api/schema.ts';
import { type Body, CHUNK_BYTES, type ItemList } from '../../codec/chunks.ts';
import { type EncodedItems, EncodedPages, type ItemEncoding } from '../../codec/encoded-pages.ts';
import { DerivedCache, type PackedPage, packItems } from '../../codec/packed-pages.ts';
import { encodeItem, encodeMessage } from '../../codec/protobuf/encoder.ts';
import { encodeEnvelope, encodeWatchFrame, envelopeOf } from '../../codec/protobuf/envelope.ts';
import { parseStoredMetadata } from '../../codec/stored-object.ts';
import type { Entry } from '../../storage/store.ts';
import { inTurns } from '../../util/turns.ts';
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
  sizeOf,
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
      encode: (entry) => encodeItem(this.#show(entry, entry.revision), this.#schema, ITEMS_FIELD),
    };
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
      estimateBytes: sizeOf,
      make: (entry) => encoded.one(entry, this.#encoding),
      boundBytes: (bytes) => bytes.length,
      write: (bytes, writer) => writer.bytes(bytes),
    };
    const pages = metadataOnly ? packedMetadata : packedObjects;
    const packed = (): AsyncIterable<Buffer> =>
      packItems(list, { pages, form: this.#id, stateOf: (entry) => entry });
    return { ...toBody(list.head, items, list.tail), packed };
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
