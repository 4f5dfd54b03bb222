import { randomBytes } from 'node:crypto';

/** Without vowels and look-alikes, so that no word comes out of it. */
const SUFFIX_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_CHARS = 5;
const MAX_GENERATED_NAME_CHARS = 63;

/** `web-` → `web-x7k2p`, cut so that the result stays a DNS label. */
export function generateName(prefix: string): string {
  let suffix = '';
  for (const byte of randomBytes(SUFFIX_CHARS)) suffix += SUFFIX_ALPHABET[byte % SUFFIX_ALPHABET.length];
  return prefix.slice(0, MAX_GENERATED_NAME_CHARS - SUFFIX_CHARS) + suffix;
}
