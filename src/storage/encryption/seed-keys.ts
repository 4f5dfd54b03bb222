import { hkdfSync, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Cipher, createGcm } from './ciphers.ts';

/**
 * How many writes share a key. Deriving one takes as long as all the rest of a write (12 µs of 25), and AES-GCM with random nonces
 * is safe for four billion of them.
 */
const WRITES_OF_KEY = 1000;
/** Keys that are kept for reading. What was written together is read with one. */
const MAX_KEYS = 5000;
const INFO_BYTES = 32;
const KEY_BYTES = 32;

interface WriteKey {
  readonly seed: Buffer;
  /** Random bytes of which, and of the seed, the key was derived. */
  readonly info: Buffer;
  readonly cipher: Cipher;
  writesLeft: number;
}

/** Keys derived of seeds by HKDF with SHA-256. What they encrypt has the random bytes of its key in front. */
export class SeedKeys {
  readonly #ciphers = new LRUCache<string, Cipher>({ max: MAX_KEYS });
  #writeKey: WriteKey | undefined;

  seal(seed: Buffer, plain: Buffer, context: Buffer): Buffer {
    const { info, cipher } = this.#keyFor(seed);
    return Buffer.concat([info, cipher.seal(plain, context)]);
  }

  /**
   * `seedOf` is asked where the key is not known; `prove` gets the seed once it has opened something. A seed that does not is not kept
   * here: a plugin that answers wrongly once would make all objects of the key unreadable until a restart.
   * @throws Error for bytes that were changed
   */
  open(
    { buffer, byteOffset, length }: Uint8Array,
    context: Buffer,
    seedOf: () => Buffer | Promise<Buffer>,
    prove: (seed: Buffer) => void = () => {},
  ): Buffer | Promise<Buffer> {
    const data = Buffer.from(buffer, byteOffset, length);
    const info = data.subarray(0, INFO_BYTES);
    const body = data.subarray(INFO_BYTES);
    const known = this.#ciphers.get(nameOf(info));
    if (known !== undefined) return open(known, body, context);
    const openBy = (seed: Buffer): Buffer => {
      const cipher = cipherOf(seed, info);
      const opened = open(cipher, body, context);
      this.#ciphers.set(nameOf(info), cipher);
      prove(seed);
      return opened;
    };
    const seed = seedOf();
    return seed instanceof Promise ? seed.then(openBy) : openBy(seed);
  }

  #keyFor(seed: Buffer): WriteKey {
    let key = this.#writeKey;
    if (key === undefined || key.seed !== seed || key.writesLeft === 0) {
      const info = randomBytes(INFO_BYTES);
      key = { seed, info, cipher: cipherOf(seed, info), writesLeft: WRITES_OF_KEY };
      this.#ciphers.set(nameOf(info), key.cipher);
      this.#writeKey = key;
    }
    key.writesLeft -= 1;
    return key;
  }
}

const cipherOf = (seed: Buffer, info: Buffer): Cipher =>
  createGcm(Buffer.from(hkdfSync('sha256', seed, '', info, KEY_BYTES)));

const nameOf = (info: Buffer): string => info.toString('latin1');

function open(cipher: Cipher, body: Buffer, context: Buffer): Buffer {
  try {
    return cipher.open(body, context);
  } catch (error) {
    throw new Error('it cannot be decrypted: the bytes were changed or belong to another object', {
      cause: error,
    });
  }
}
