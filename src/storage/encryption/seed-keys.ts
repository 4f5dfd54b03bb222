import { hkdfSync, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Cipher, createGcm } from './ciphers.ts';

/**
 * Writes that share a key. Deriving one takes as long as the rest of a write (12 µs of 25), and AES-GCM with random nonces is safe
 * for four billion writes.
 */
const WRITES_OF_KEY = 1000;
/** Keys kept for reading. Objects written together share one. */
const MAX_KEYS = 5000;
const INFO_BYTES = 32;
const KEY_BYTES = 32;

interface WriteKey {
  readonly seed: Buffer;
  /** Random bytes from which, with the seed, the key was derived. */
  readonly info: Buffer;
  readonly cipher: Cipher;
  writesLeft: number;
}

/** SeedKeys derives keys from seeds by HKDF with SHA-256. Ciphertexts begin with the random bytes of their key. */
export class SeedKeys {
  readonly #ciphers = new LRUCache<string, Cipher>({ max: MAX_KEYS });
  #writeKey: WriteKey | undefined;

  seal(seed: Buffer, plain: Buffer, context: Buffer): Buffer {
    const { info, cipher } = this.#keyFor(seed);
    return Buffer.concat([info, cipher.seal(plain, context)]);
  }

  /**
   * Decrypts. Calls `seedOf` for an unknown key, and `prove` with a seed that has opened something. Other seeds are not kept: one
   * wrong answer of a plugin would make all objects of the key unreadable until a restart.
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
