import { randomBytes } from 'node:crypto';

const POOL_BYTES = 8192;

let pool = Buffer.alloc(0);

/** Random bytes that nobody has had before. Asking the system for each few of them takes longer than encrypting a Secret. */
export function takeNonce(sizeBytes: number): Buffer {
  // A new pool: who has bytes of the old one keeps them.
  if (pool.length < sizeBytes) pool = randomBytes(POOL_BYTES);
  const nonce = pool.subarray(0, sizeBytes);
  pool = pool.subarray(sizeBytes);
  return nonce;
}
