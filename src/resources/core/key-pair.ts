import { createPrivateKey, X509Certificate } from 'node:crypto';

const PEM_BLOCK = /-----BEGIN [^-]+-----[^-]+-----END [^-]+-----/;

/** Why a certificate and a key, both in PEM, do not belong together; empty when they do. The texts are those of crypto/tls. */
export function checkKeyPair(certificate: Buffer, key: Buffer): string[] {
  if (!PEM_BLOCK.test(certificate.toString('latin1'))) {
    return ['tls: failed to find any PEM data in certificate input'];
  }
  if (!PEM_BLOCK.test(key.toString('latin1'))) return ['tls: failed to find any PEM data in key input'];
  let parsed: X509Certificate;
  try {
    parsed = new X509Certificate(certificate);
  } catch {
    return ['x509: malformed certificate'];
  }
  try {
    return parsed.checkPrivateKey(createPrivateKey(key))
      ? []
      : ['tls: private key does not match public key'];
  } catch {
    return ['tls: failed to parse private key'];
  }
}
