import { randomFillSync } from 'node:crypto';
import type { ObjectMeta } from '../api/object-meta.ts';

/** Without vowels and look-alikes, so that it spells no words. */
const SUFFIX_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_CHARS = 5;
const MAX_GENERATED_NAME_CHARS = 63;

/** Random bytes for many names at once: drawing them takes longer than the rest of making a pod's token volume. */
const pool = Buffer.alloc(1000 * SUFFIX_CHARS);
let taken = pool.length;

/** `web-` → `web-x7k2p`, cut so that the result stays a DNS label. */
export function generateName(prefix: string): string {
  if (taken === pool.length) {
    randomFillSync(pool);
    taken = 0;
  }
  let suffix = '';
  for (const end = taken + SUFFIX_CHARS; taken < end; taken += 1)
    suffix += SUFFIX_ALPHABET[(pool[taken] ?? 0) % SUFFIX_ALPHABET.length];
  return prefix.slice(0, MAX_GENERATED_NAME_CHARS - SUFFIX_CHARS) + suffix;
}

/** The next generation; 1 for an object without one. After the largest int64 comes the smallest, as in Go. */
export function nextGeneration({ generation }: ObjectMeta): number | bigint {
  if (typeof generation === 'bigint' || generation === Number.MAX_SAFE_INTEGER) {
    return BigInt.asIntN(64, BigInt(generation) + 1n);
  }
  return (generation ?? 0) + 1;
}

/** The metadata of a written view that belongs to the write: its preconditions, and the owners of fields after it. */
export function statedBy({ resourceVersion, uid, managedFields }: ObjectMeta): ObjectMeta {
  return {
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(uid === undefined ? {} : { uid }),
    ...(managedFields === undefined ? {} : { managedFields }),
  };
}
