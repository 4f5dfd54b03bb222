import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { VerificationKey } from '../jws.ts';

export interface SigningKey {
  readonly id: string;
  readonly key: KeyObject;
  readonly algorithm: string;
}

const CURVE_ALGORITHMS: Readonly<Record<string, string>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
};

const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[^-]+-----END \1-----/g;

/** Every key of a file, private ones as their public half. @throws Error that names the file */
export function readVerificationKeys(path: string): VerificationKey[] {
  const blocks = [...readFileSync(path, 'utf8').matchAll(BLOCK)].filter(([, type]) => isKey(type ?? ''));
  if (blocks.length === 0) throw new Error(`${path} holds no RSA or ECDSA key in PEM form`);
  return blocks.map(([pem]) => toVerificationKey(parse(path, () => createPublicKey(pem))));
}

const isKey = (type: string): boolean => type.endsWith('KEY') || type === 'CERTIFICATE';

/** @throws Error that names the file */
export function readSigningKey(path: string): SigningKey {
  const blocks = [...readFileSync(path, 'utf8').matchAll(BLOCK)].filter(([, type]) =>
    type?.endsWith('PRIVATE KEY'),
  );
  const [pem] = blocks[0] ?? [];
  if (pem === undefined) throw new Error(`${path} holds no private key in PEM form`);
  const key = parse(path, () => createPrivateKey(pem));
  return { id: keyId(createPublicKey(key)), key, algorithm: algorithmOf(key, path) };
}

function parse(path: string, read: () => KeyObject): KeyObject {
  try {
    const key = read();
    algorithmOf(key, path);
    return key;
  } catch (error) {
    throw new Error(`${path}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** What Kubernetes signs with, for each kind of key. */
function algorithmOf(key: KeyObject, path: string): string {
  if (key.asymmetricKeyType === 'rsa') return 'RS256';
  const curve = key.asymmetricKeyDetails?.namedCurve ?? '';
  const algorithm = key.asymmetricKeyType === 'ec' ? CURVE_ALGORITHMS[curve] : undefined;
  if (algorithm === undefined)
    throw new Error(`${path}: a key must be RSA, or ECDSA on P-256, P-384 or P-521`);
  return algorithm;
}

export function toVerificationKey(key: KeyObject): VerificationKey {
  return { id: keyId(key), key, algorithms: [algorithmOf(key, 'the key')] };
}

/** Kubernetes' key ids: the digest of the public key's DER form, so that the id gives nothing away and needs no register. */
function keyId(key: KeyObject): string {
  return createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('base64url');
}
