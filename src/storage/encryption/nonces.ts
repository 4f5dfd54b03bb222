import { randomBytes } from 'node:crypto';

const POOL_BYTES = 8192;

let pool = Buffer.alloc(0);

/** Takes unused random bytes from a pool. Asking the system for a few takes longer than encrypting a Secret. */
export function takeNonce(sizeBytes: number): Buffer {
  // A new pool: bytes taken from the old one stay valid.
  if (pool.length < sizeBytes) pool = randomBytes(POOL_BYTES);
  const nonce = pool.subarray(0, sizeBytes);
  pool = pool.subarray(sizeBytes);
  return nonce;
}
