import { randomFillSync } from 'node:crypto';

/** Without vowels and look-alikes, so that no word comes out of it. */
const SUFFIX_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_CHARS = 5;
const MAX_GENERATED_NAME_CHARS = 63;

/** Asked for once for many names: asking takes longer than all the rest of making a pod's volume. */
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
