import type { JsonObject } from '../../api/object-meta.ts';
import type { MessageSchema } from '../../api/schema.ts';
import type { Body } from '../../codec/chunks.ts';
import { encodeFrame, encodeValue } from '../../codec/encode.ts';
import type { FrameEncoder } from '../../storage/store.ts';
import {
  bookmarkObject,
  encodeLine,
  type Form,
  type FormOptions,
  type ListHead,
  type Stored,
  servedApiVersion,
  shownApiVersion,
  shownType,
  toListMeta,
  toServed,
} from '../form.ts';

/** What needs the object itself and few ask for: conversions, views, YAML, pretty JSON, metadata as protobuf. */
export class ParsedForm implements Form {
  readonly contentType: string;
  readonly frames: FrameEncoder;
  readonly #options: FormOptions;
  readonly #apiVersion: string;
  readonly #partial: boolean;
  /** IDL name of what is shown. */
  readonly #type: string;

  constructor(options: FormOptions) {
    const { served, representation, dialect, view } = options;
    this.#options = options;
    this.#partial = representation.as === 'partial';
    this.#apiVersion = this.#partial ? shownApiVersion(options) : servedApiVersion(served, dialect);
    this.contentType = representation.contentType;
    this.#type = shownType(options);
    const kind = this.#partial ? 'PartialObjectMetadata' : served.definition.kind;
    const apiVersion = this.#apiVersion;
    this.frames = {
      id: `${representation.contentType} ${representation.as} ${apiVersion} ${view?.name ?? ''}`,
      encode: ({ type, entry, revision }) => this.#frame(type, this.#show({ json: entry.json, revision })),
      bookmark: (revision, initialEventsEnd) =>
        this.#frame('BOOKMARK', bookmarkObject({ kind, apiVersion, revision, initialEventsEnd })),
    };
  }

  object(stored: Stored): Buffer[] {
    return [this.#encode(this.#show(stored), this.#type)];
  }

  list(entries: readonly Stored[], head: ListHead): Body {
    const { served } = this.#options;
    const kind = this.#partial ? 'PartialObjectMetadataList' : served.definition.listKind;
    const items = entries.map((entry) => this.#show(entry));
    const metadata = toListMeta(head);
    const list = { kind, apiVersion: this.#apiVersion, metadata, items };
    return { chunks: [this.#encode(list, `${this.#type}List`)] };
  }

  #frame(type: string, object: JsonObject): Buffer {
    const { format } = this.#options.representation;
    if (format === 'json') return encodeLine({ type, object });
    return encodeFrame(type, object, this.#options.representation, this.#schema(this.#type));
  }

  #encode(value: JsonObject, type: string): Buffer {
    return encodeValue(value, this.#options.representation, this.#schema(type));
  }

  #schema(type: string): MessageSchema {
    const { types } = this.#options;
    if (!this.#partial) return types.message(type);
    return types.message(`meta/v1.PartialObjectMetadata${type.endsWith('List') ? 'List' : ''}`);
  }

  #show(stored: Stored): JsonObject {
    const object = toServed(stored, this.#options);
    if (!this.#partial) return object;
    return { kind: 'PartialObjectMetadata', apiVersion: this.#apiVersion, metadata: object.metadata };
  }
}
