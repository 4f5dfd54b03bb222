import {
  type CipherGCMTypes,
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hash,
  hkdfSync,
  timingSafeEqual,
} from 'node:crypto';
import { xsalsa20poly1305 } from '@noble/ciphers/salsa.js';
import { takeNonce } from './nonces.ts';

/**
 * Cipher encrypts with one key. `context` says where the bytes belong: they open nowhere else. AES-CBC and secretbox have no such
 * thing themselves, so each cipher binds it in its own way.
 */
export interface Cipher {
  seal(plain: Buffer, context: Buffer): Buffer;
  /** @throws Error when the bytes are not what was sealed with this key, in this context */
  open(sealed: Buffer, context: Buffer): Buffer;
}

const GCM_NONCE_BYTES = 12;
const GCM_TAG_BYTES = 16;

/** Keys are KeyObjects, set up once: passed as bytes, each use takes three times as long. */

/** AES-GCM: random nonce, ciphertext, tag. The context is additional authenticated data. */
export function createGcm(bytes: Buffer): Cipher {
  const { gcm: algorithm } = aesNames(bytes);
  const key = createSecretKey(bytes);
  return {
    seal: (plain, context) => {
      const nonce = takeNonce(GCM_NONCE_BYTES);
      const cipher = createCipheriv(algorithm, key, nonce).setAAD(context);
      const start = cipher.update(plain);
      return Buffer.concat([nonce, start, cipher.final(), cipher.getAuthTag()]);
    },
    open: (sealed, context) => {
      assertLength(sealed, GCM_NONCE_BYTES + GCM_TAG_BYTES);
      const end = sealed.length - GCM_TAG_BYTES;
      const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, GCM_NONCE_BYTES))
        .setAAD(context)
        .setAuthTag(sealed.subarray(end));
      const plain = decipher.update(sealed.subarray(GCM_NONCE_BYTES, end));
      // Returns nothing; checks the tag.
      decipher.final();
      return plain;
    },
  };
}

/** Returns Node.js's names for keys of this length; the configuration allows no other. */
function aesNames(key: Buffer): { readonly gcm: CipherGCMTypes; readonly cbc: string } {
  switch (key.length) {
    case 16:
      return { gcm: 'aes-128-gcm', cbc: 'aes-128-cbc' };
    case 24:
      return { gcm: 'aes-192-gcm', cbc: 'aes-192-cbc' };
    case 32:
      return { gcm: 'aes-256-gcm', cbc: 'aes-256-cbc' };
    default:
      throw new Error(`AES takes keys of 16, 24 or 32 bytes, not ${key.length}`);
  }
}

const CBC_IV_BYTES = 16;
const MAC_BYTES = 32;

/**
 * AES-CBC: a random initialization vector, the ciphertext with PKCS #7 padding, and an HMAC-SHA-256 of both and the context, with a
 * key derived from the configured one. It is checked before decryption, so that the padding reveals nothing.
 */
export function createCbc(secret: Buffer): Cipher {
  const { cbc: algorithm } = aesNames(secret);
  const key = createSecretKey(secret);
  const derived = hkdfSync('sha256', secret, '', 'pg-apiserver aescbc authentication', MAC_BYTES);
  const macKey = createSecretKey(Buffer.from(derived));
  const authenticate = (sealed: Buffer, context: Buffer): Buffer =>
    createHmac('sha256', macKey).update(digest(context)).update(sealed).digest();
  return {
    seal: (plain, context) => {
      const iv = takeNonce(CBC_IV_BYTES);
      const cipher = createCipheriv(algorithm, key, iv);
      const sealed = Buffer.concat([iv, cipher.update(plain), cipher.final()]);
      return Buffer.concat([sealed, authenticate(sealed, context)]);
    },
    open: (bytes, context) => {
      assertLength(bytes, CBC_IV_BYTES + MAC_BYTES);
      const sealed = bytes.subarray(0, -MAC_BYTES);
      if (!timingSafeEqual(authenticate(sealed, context), bytes.subarray(-MAC_BYTES)))
        throw new Error(REFUSED);
      const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, CBC_IV_BYTES));
      return join(decipher.update(sealed.subarray(CBC_IV_BYTES)), decipher.final());
    },
  };
}

const BOX_NONCE_BYTES = 24;
const BOX_TAG_BYTES = 16;
const DIGEST_BYTES = 32;

/** NaCl's secretbox, XSalsa20 and Poly1305: a random nonce, then a digest of the context and the bytes. */
export function createSecretbox(key: Buffer): Cipher {
  return {
    seal: (plain, context) => {
      const nonce = takeNonce(BOX_NONCE_BYTES);
      const box = xsalsa20poly1305(key, nonce).encrypt(Buffer.concat([digest(context), plain]));
      return Buffer.concat([nonce, box]);
    },
    open: (sealed, context) => {
      assertLength(sealed, BOX_NONCE_BYTES + BOX_TAG_BYTES + DIGEST_BYTES);
      const nonce = sealed.subarray(0, BOX_NONCE_BYTES);
      const { buffer, byteOffset, length } = xsalsa20poly1305(key, nonce).decrypt(
        sealed.subarray(BOX_NONCE_BYTES),
      );
      const opened = Buffer.from(buffer, byteOffset, length);
      if (!opened.subarray(0, DIGEST_BYTES).equals(digest(context))) throw new Error(REFUSED);
      return opened.subarray(DIGEST_BYTES);
    },
  };
}

const REFUSED = 'the bytes are not authentic';

/** Avoids Node's shared slabs: opened bytes live as long as their object. */
function join(start: Buffer, end: Buffer): Buffer {
  const whole = Buffer.allocUnsafeSlow(start.length + end.length);
  start.copy(whole);
  end.copy(whole, start.length);
  return whole;
}

const digest = (bytes: Buffer): Buffer => hash('sha256', bytes, 'buffer');

function assertLength(sealed: Buffer, least: number): void {
  if (sealed.length < least) throw new Error(`${sealed.length} bytes are too few`);
}
