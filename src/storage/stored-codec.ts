import { errorText } from '../util/error-text.ts';
import { Pace } from '../util/turns.ts';
import type { ObjectKey } from './key.ts';
import { JSON_MEDIA_TYPE, type ObjectEncoding } from './object-encoding.ts';
import { RecentWrites } from './recent-writes.ts';
import {
  type ChangeWithPrevious,
  type EncodedBytes,
  type StoredObject,
  storedBytesOf,
  type Write,
} from './revision-log.ts';

/** A promise only where decoding must wait for a key. */
export type Decoded<Encoded> = Encoded | Promise<Encoded>;

/** StoredCodec passes objects through the encodings, both ways. */
export class StoredCodec {
  readonly #encodings: readonly ObjectEncoding[];
  readonly #recent = new RecentWrites();
  /** Shares one string among all objects stored alike. */
  readonly #mediaTypes = new Map<string, string>();

  constructor(encodings: readonly ObjectEncoding[]) {
    this.#encodings = encodings;
  }

  /** @throws StorageError unwritable */
  encode(write: Write): Decoded<Write> {
    if (this.#encodings.length === 0) return write;
    let bytes: Decoded<EncodedBytes> = { bytes: write.json, mediaType: JSON_MEDIA_TYPE };
    for (const encoding of this.#encodings) {
      bytes =
        bytes instanceof Promise
          ? bytes.then((known) => encoding.encode(write.key, known))
          : encoding.encode(write.key, bytes);
    }
    return bytes instanceof Promise
      ? bytes.then((known) => this.#toWrite(write, known))
      : this.#toWrite(write, bytes);
  }

  /** Returns the object with its JSON, or as unreadable. */
  decode<Stored extends StoredObject>(stored: Stored): Decoded<Stored> {
    const { key, encoded } = stored;
    const decoded = this.#decode(key, encoded);
    if (decoded === undefined) return stored;
    const storedAs = encoded?.mediaType;
    const mediaType = storedAs === undefined ? {} : { storedAs: this.#share(storedAs) };
    const { encoded: _, ...rest } = stored;
    const toStored = (json: DecodedJson): Stored => ({ ...(rest as Stored), ...mediaType, ...json });
    return decoded instanceof Promise ? decoded.then(toStored) : toStored(decoded);
  }

  decodeBoth<Both extends ChangeWithPrevious>(change: Both): Decoded<Both> {
    const after = this.decode(change);
    const before =
      change.previousJson === undefined ? undefined : this.#decode(change.key, change.previousEncoded);
    if (after === change && before === undefined) return change;
    const storedBytes = storedBytesOf(change);
    const join = (whole: Both, previous: DecodedJson | undefined): Both => {
      const { previousEncoded: _, ...rest } = whole;
      return { ...(rest as Both), storedBytes, ...toPrevious(previous) };
    };
    if (after instanceof Promise || before instanceof Promise)
      return Promise.all([after, before]).then(([whole, previous]) => join(whole, previous));
    return join(after, before);
  }

  #toWrite(write: Write, encoded: EncodedBytes): Write {
    if (encoded.mediaType === JSON_MEDIA_TYPE) return write;
    this.#recent.add(write, encoded);
    return { ...write, encoded };
  }

  /** Returns undefined when it is JSON already. */
  #decode(key: ObjectKey, encoded: EncodedBytes | undefined): Decoded<DecodedJson> | undefined {
    if (encoded === undefined) {
      const refusal = this.#refusal(key);
      return refusal === undefined ? undefined : { json: NO_JSON, unreadable: refusal };
    }
    const written = this.#recent.take(key, encoded);
    if (written !== undefined) return { json: written };
    try {
      const bytes = this.#toJson(key, encoded);
      if (!(bytes instanceof Promise)) return { json: bytes.bytes };
      return bytes.then(({ bytes: json }) => ({ json }), toUnreadable);
    } catch (error) {
      return toUnreadable(error);
    }
  }

  /** Returns why plain JSON must not be believed, if so. */
  #refusal(key: ObjectKey): string | undefined {
    for (const encoding of this.#encodings) {
      const refusal = encoding.refuses?.(key, JSON_MEDIA_TYPE);
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  }

  #toJson(key: ObjectKey, encoded: EncodedBytes): Decoded<EncodedBytes> {
    let known = encoded;
    // Each encoding removes one form and adds none, so this ends.
    for (let step = 0; known.mediaType !== JSON_MEDIA_TYPE && step <= this.#encodings.length; step += 1) {
      const { mediaType } = known;
      const encoding = this.#encodings.find((one) => one.handles(mediaType));
      if (encoding === undefined)
        throw new Error(`it is stored as ${mediaType}, which this server is not configured to read`);
      const decoded = encoding.decode(key, known);
      if (decoded instanceof Promise) return decoded.then((next) => this.#toJson(key, next));
      known = decoded;
    }
    return known;
  }

  #share(mediaType: string): string {
    const known = this.#mediaTypes.get(mediaType);
    if (known !== undefined) return known;
    if (this.#mediaTypes.size >= MAX_MEDIA_TYPES) this.#mediaTypes.clear();
    this.#mediaTypes.set(mediaType, mediaType);
    return mediaType;
  }
}

const MAX_MEDIA_TYPES = 10_000;

interface DecodedJson {
  readonly json: Buffer;
  readonly unreadable?: string;
}

const NO_JSON = Buffer.alloc(0);

const toUnreadable = (error: unknown): DecodedJson => ({
  json: NO_JSON,
  unreadable: errorText(error),
});

function toPrevious(previous: DecodedJson | undefined): Partial<ChangeWithPrevious> {
  if (previous === undefined) return {};
  const { json: previousJson, unreadable } = previous;
  return { previousJson, ...(unreadable === undefined ? {} : { previousUnreadable: unreadable }) };
}

/** Decodings that wait for a key at a time. */
const AT_ONCE = 64;

/** Decodes all items in order; other work runs in between. */
export async function decodeAll<Item>(
  items: readonly Item[],
  decode: (item: Item) => Decoded<Item>,
): Promise<Item[]> {
  const decoded: Decoded<Item>[] = [];
  const pace = new Pace({ stepsBetween: 1 });
  let waiting = 0;
  for (const item of items) {
    const one = decode(item);
    decoded.push(one);
    if (one instanceof Promise) waiting += 1;
    if (waiting >= AT_ONCE) {
      await Promise.all(decoded.slice(-AT_ONCE));
      waiting = 0;
    } else if (pace.isOver()) await pace.rest();
  }
  return Promise.all(decoded);
}
