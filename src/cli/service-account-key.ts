import { generateKeyPair } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** RSA, because every verifier of such tokens supports it; the smallest size that they accept. */
const MODULUS_BITS = 2048;

/** Returns the signing key, or makes the first. */
interface SigningKeys {
  ensure(make: () => Promise<string>): Promise<{ readonly pem: string }>;
}

/**
 * Ensures the default key that signs service account tokens: one for the cluster, so that all servers accept its tokens. The
 * first server contributes the key of its folder. Each server keeps the key that signed when it started in its folder, readable
 * by its owner alone.
 */
export async function ensureServiceAccountKey(folder: string, keys: SigningKeys): Promise<void> {
  const path = join(folder, 'service-account.key');
  const own = existsSync(path) ? readFileSync(path, 'utf8') : undefined;
  const { pem } = await keys.ensure(async () => own ?? (await createServiceAccountKey()));
  if (pem !== own) writeFileSync(path, pem, { mode: 0o600 });
}

export async function createServiceAccountKey(): Promise<string> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: MODULUS_BITS });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}
