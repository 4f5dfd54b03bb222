import { generateKeyPairSync } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** RSA, because that is what every verifier of such tokens can read; no smaller than they accept. */
const MODULUS_BITS = 2048;

/** The key that signs service account tokens when no other is given: made once, kept, for its owner alone. */
export function ensureServiceAccountKey(folder: string): string {
  const path = join(folder, 'service-account.key');
  if (existsSync(path)) return path;
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: MODULUS_BITS });
  writeFileSync(path, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  return path;
}
