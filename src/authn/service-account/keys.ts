import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { pemBlocks, toPem } from '../../x509/pem.ts';
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

/** Every key of a file, private ones as their public half. @throws Error that names the file */
export function readVerificationKeys(path: string): VerificationKey[] {
  const blocks = [...pemBlocks(readFileSync(path, 'utf8'))].filter(({ type }) => isKey(type));
  if (blocks.length === 0) throw new Error(`${path} holds no RSA or ECDSA key in PEM form`);
  return blocks.map(({ type, der }) =>
    toVerificationKey(parse(path, () => createPublicKey(toPem(type, der)))),
  );
}

const isKey = (type: string): boolean => type.endsWith('KEY') || type === 'CERTIFICATE';

/** @throws Error that names the file */
export const readSigningKey = (path: string): SigningKey => parseSigningKey(readFileSync(path, 'utf8'), path);

/** The first private key of a text in PEM form. @throws Error that names the place */
export function parseSigningKey(text: string, place: string): SigningKey {
  const block = [...pemBlocks(text)].find(({ type }) => type.endsWith('PRIVATE KEY'));
  if (block === undefined) throw new Error(`${place} holds no private key in PEM form`);
  const key = parse(place, () => createPrivateKey(toPem(block.type, block.der)));
  return { id: keyId(createPublicKey(key)), key, algorithm: algorithmOf(key, place) };
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

/** Kubernetes' algorithm for each kind of key. */
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

/** Kubernetes' key ids: a digest of the public key's DER form, which reveals nothing and needs no registry. */
function keyId(key: KeyObject): string {
  return createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('base64url');
}
