import type { ObjectKey } from './key.ts';
import type { EncodedBytes, Write } from './revision-log.ts';

/** Writes that have not come back from the database yet, and writes that never will. */
const MAX_RECENT = 512;
const MAX_RECENT_BYTES = 8 * 1024 * 1024;
/** KMS envelopes begin with bytes that a thousand of them share, and go on with random bytes of their own. */
const ID_BYTES = 64;

interface RecentWrite {
  readonly key: ObjectKey;
  readonly encoded: EncodedBytes;
  readonly json: Buffer;
}

/**
 * RecentWrites keeps the JSON of what a server has written, which comes back to it within milliseconds. The same bytes of the same
 * object need not be decoded.
 */
export class RecentWrites {
  readonly #writes = new Map<string, RecentWrite>();
  #sizeBytes = 0;

  add({ key, json }: Pick<Write, 'key' | 'json'>, encoded: EncodedBytes): void {
    const id = idOf(encoded);
    const before = this.#writes.get(id);
    if (before !== undefined) this.#drop(id, before);
    this.#writes.set(id, { key, encoded, json });
    this.#sizeBytes += json.length;
    for (const [oldest, write] of this.#writes) {
      if (this.#writes.size <= MAX_RECENT && this.#sizeBytes <= MAX_RECENT_BYTES) return;
      this.#drop(oldest, write);
    }
  }

  /** Takes out a write's JSON, copied without the memory it was written in. */
  take(key: ObjectKey, { bytes, mediaType }: EncodedBytes): Buffer | undefined {
    const id = idOf({ bytes, mediaType });
    const write = this.#writes.get(id);
    if (write === undefined) return undefined;
    const { encoded, json } = write;
    if (encoded.mediaType !== mediaType || !encoded.bytes.equals(bytes) || !isSame(write.key, key))
      return undefined;
    this.#drop(id, write);
    const copy = Buffer.allocUnsafeSlow(json.length);
    json.copy(copy);
    return copy;
  }

  #drop(id: string, { json }: RecentWrite): void {
    this.#writes.delete(id);
    this.#sizeBytes -= json.length;
  }
}

/** Encrypted bytes begin randomly; of others that begin alike, the last write is kept. */
const idOf = ({ bytes }: EncodedBytes): string => bytes.toString('latin1', 0, ID_BYTES);

const isSame = (one: ObjectKey, other: ObjectKey): boolean =>
  one.name === other.name &&
  one.namespace === other.namespace &&
  one.resource === other.resource &&
  one.group === other.group;
