import { generateKeyPair } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { KeepKey } from './kept-keys.ts';

/** RSA, because that is what every verifier of such tokens can read; no smaller than they accept. */
const MODULUS_BITS = 2048;

/**
 * The key that signs service account tokens when no other is given: made once for the cluster, so that a token of one server is
 * good at every other. Answers the file it is in, for its owner alone.
 */
export async function ensureServiceAccountKey(folder: string, keep: KeepKey): Promise<string> {
  const path = join(folder, 'service-account.key');
  const own = existsSync(path) ? readFileSync(path, 'utf8') : undefined;
  const { key } = await keep('service-account', {
    fits: () => true,
    make: async () => ({ certificate: '', key: own ?? (await createKey()) }),
  });
  if (key !== own) writeFileSync(path, key, { mode: 0o600 });
  return path;
}

async function createKey(): Promise<string> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: MODULUS_BITS });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}
