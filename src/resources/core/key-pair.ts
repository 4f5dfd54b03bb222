import { createPrivateKey, X509Certificate } from 'node:crypto';
import { type PemBlock, pemBlocks, toPem } from '../../x509/pem.ts';

/** Why a certificate and a key, both in PEM, do not belong together; empty when they do. The texts are those of crypto/tls. */
export function checkKeyPair(certificate: Buffer, key: Buffer): string[] {
  const chain = blocksOf(certificate);
  const leaf = chain.find(({ type }) => type === 'CERTIFICATE');
  if (leaf === undefined) return [`tls: failed to find ${whyNoCertificate(chain)}`];
  const keys = blocksOf(key);
  const own = keys.find(({ type }) => type === 'PRIVATE KEY' || type.endsWith(' PRIVATE KEY'));
  if (own === undefined) return [`tls: ${whyNoKey(keys)}`];
  const parsed = orUndefined(() => new X509Certificate(leaf.der));
  if (parsed === undefined) return ['x509: malformed certificate'];
  const secret = orUndefined(() => createPrivateKey(toPem(own.type, own.der)));
  if (secret === undefined) return ['tls: failed to parse private key'];
  return parsed.checkPrivateKey(secret) ? [] : ['tls: private key does not match public key'];
}

const blocksOf = (pem: Buffer): PemBlock[] => [...pemBlocks(pem.toString('latin1'))];

const listTypes = (blocks: readonly PemBlock[]): string => `[${blocks.map(({ type }) => type).join(' ')}]`;

function whyNoCertificate(skipped: readonly PemBlock[]): string {
  const [first] = skipped;
  if (first === undefined) return 'any PEM data in certificate input';
  return skipped.length === 1 && first.type.endsWith('PRIVATE KEY')
    ? 'certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched'
    : `"CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: ${listTypes(skipped)}`;
}

function whyNoKey(skipped: readonly PemBlock[]): string {
  const [first] = skipped;
  if (first === undefined) return 'failed to find any PEM data in key input';
  return skipped.length === 1 && first.type === 'CERTIFICATE'
    ? 'found a certificate rather than a key in the PEM for the private key'
    : `failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: ${listTypes(skipped)}`;
}

function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
