import type { JsonObject } from '../api/object-meta.ts';
import { findMetadataEnd, readMetadataField } from '../codec/stored-object.ts';
import { CompressedBlock, type PackedBytes } from './compressed-block.ts';
import type { Revision } from './revision.ts';
import type { StoredObject } from './revision-log.ts';
import type { Entry } from './store.ts';

/** Reads the values of a resource's selectable fields from an object in stored form. */
export type FieldReader = (object: JsonObject) => Record<string, string>;

/** Whether an object stored as this media type (undefined: JSON) would now be stored as another. */
export type IsOutdated = (storedAs: string | undefined) => boolean | Promise<boolean>;

const never: IsOutdated = () => false;

type Values = Readonly<Record<string, string>>;

const NO_LABELS: Values = Object.freeze({});
const NO_OWNERS: readonly string[] = Object.freeze([]);

/**
 * CachedEntry is an object in the cache: its bytes, and what selectors need, parsed on first use. Most objects meet no selector, so
 * a cold start parses nothing.
 */
export class CachedEntry implements Entry {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly revision: Revision;
  readonly sizeBytes: number;
  /** Set by the first of two walks of {@link Compression}; the second decides whether to compress the object. */
  isSeen = false;
  isSettled = false;
  /** Undefined: as JSON. */
  readonly storedAs: string | undefined;
  readonly #readFields: FieldReader;
  readonly #isOutdated: IsOutdated;
  #bytes: Buffer | CompressedBlock;
  #part = 0;
  /** 0 before the first search. A list of metadata that searches 10,000 objects each time takes four times as long. */
  #metadataEnd = 0;
  #labels: Values | undefined;
  #fields: Values | undefined;

  /** `packed`: where its bytes are, if they are compressed. */
  constructor(
    stored: StoredObject,
    readFields: FieldReader,
    isOutdated: IsOutdated = never,
    packed?: { readonly block: CompressedBlock; readonly part: number },
  ) {
    this.namespace = stored.key.namespace;
    this.name = stored.key.name;
    this.uid = stored.uid;
    this.revision = stored.revision;
    this.sizeBytes = packed?.block.sizeOf(packed.part) ?? stored.json.length;
    this.#bytes = packed?.block ?? stored.json;
    this.#part = packed?.part ?? 0;
    this.storedAs = stored.storedAs;
    this.#readFields = readFields;
    this.#isOutdated = isOutdated;
  }

  /** Not a field of its own: a copy of the entry by `...` lacks it. */
  get json(): Buffer {
    return this.#bytes instanceof CompressedBlock ? this.#bytes.read(this.#part) : this.#bytes;
  }

  /** Undefined while its bytes are not compressed. */
  get packed(): { readonly bytes: PackedBytes; readonly part: number } | undefined {
    return this.#bytes instanceof CompressedBlock
      ? { bytes: this.#bytes.packed, part: this.#part }
      : undefined;
  }

  /** From now on its bytes are a part of the block. */
  settle(block: CompressedBlock, part: number): void {
    this.isSettled = true;
    this.#part = part;
    this.#bytes = block;
  }

  /** Moves its bytes from memory that neighbours share to its own. */
  leavePlain(): void {
    this.isSettled = true;
    this.#bytes = ownBytes(this.json);
  }

  /** Asked on each read: keys change while objects are cached, and the main thread has them. */
  get isOutdated(): boolean | Promise<boolean> {
    return this.#isOutdated(this.storedAs);
  }

  get metadataEnd(): number {
    if (this.#metadataEnd === 0) this.#metadataEnd = findMetadataEnd(this.json);
    return this.#metadataEnd;
  }

  /** One shared object for all entries with the same labels, such as the pods of a replica set. */
  get labels(): Values {
    this.#labels ??= toLabels(readMetadataField(this.json, 'labels'));
    return this.#labels;
  }

  get fields(): Values {
    this.#fields ??= {
      ...this.#readFields(JSON.parse(this.json.toString()) as JsonObject),
      'metadata.name': this.name,
      'metadata.namespace': this.namespace,
    };
    return this.#fields;
  }

  get ownerUids(): readonly string[] {
    const text = readMetadataField(this.json, 'ownerReferences');
    if (text === undefined) return NO_OWNERS;
    const owners = (JSON.parse(text) ?? []) as readonly { uid: string }[];
    return owners.map(({ uid }) => uid);
  }
}

/** Most objects share their labels with others. Beyond this many different ones, all are dropped and read again. */
const MAX_SHARED_LABELS = 20_000;
const shared = new Map<string, Values>();

function toLabels(text: string | undefined): Values {
  if (text === undefined) return NO_LABELS;
  let labels = shared.get(text);
  if (labels === undefined) {
    labels = (JSON.parse(text) as Values | null) ?? NO_LABELS;
    if (shared.size >= MAX_SHARED_LABELS) shared.clear();
    shared.set(text, labels);
  }
  return labels;
}

/** Threads go on sharing what is in the memory of all. */
function ownBytes(bytes: Buffer): Buffer {
  if (bytes.buffer instanceof SharedArrayBuffer || bytes.buffer.byteLength === bytes.length) return bytes;
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}
