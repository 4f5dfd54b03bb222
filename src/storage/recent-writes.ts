import type { ObjectKey } from './key.ts';
import type { EncodedBytes, Write } from './revision-log.ts';

/** Those that have not come back from the database yet, and those that never will. */
const MAX_RECENT = 512;
const MAX_RECENT_BYTES = 8 * 1024 * 1024;
/** Those of a KMS provider begin with what a thousand of them share, and go on with random bytes of their own. */
const ID_BYTES = 64;

interface RecentWrite {
  readonly key: ObjectKey;
  readonly encoded: EncodedBytes;
  readonly json: Buffer;
}

/**
 * What a server has written comes back to it within milliseconds. The same bytes of the same object are what they were: nothing needs
 * to be decoded.
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

  /** A copy of its own, without the memory that it was written in. */
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

/** They begin with random bytes where they are encrypted; where they do not, one of those alike is kept. */
const idOf = ({ bytes }: EncodedBytes): string => bytes.toString('latin1', 0, ID_BYTES);

const isSame = (one: ObjectKey, other: ObjectKey): boolean =>
  one.name === other.name &&
  one.namespace === other.namespace &&
  one.resource === other.resource &&
  one.group === other.group;
