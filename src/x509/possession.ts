import { constants, createPublicKey, type KeyObject, verify } from 'node:crypto';

/** Public keys of pods, and proofs that their owner has the private key (Kubernetes: certificates/validation). */

/** A key that a pod may have, or what is wrong with the key. */
type ReadKey =
  | { readonly key: KeyObject; readonly problem?: undefined }
  | { readonly shown: string | undefined; readonly problem: string };

const CURVES = ['prime256v1', 'secp384r1', 'secp521r1'];
const RSA_BITS = [3072, 4096];

/** Reads a public key that is serialized as PKIX. `shown`: how messages show it, if not by its bytes. */
export function readPodKey(der: Buffer): ReadKey {
  const key = parse(der);
  if (key === undefined) return { shown: undefined, problem: 'must be a valid PKIX-serialized public key' };
  const { namedCurve = '', modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
  switch (key.asymmetricKeyType) {
    case 'ed25519':
      return { key };
    case 'ec':
      return CURVES.includes(namedCurve)
        ? { key }
        : { shown: `curve ${namedCurve}`, problem: 'elliptic public keys must use curve P256 or P384' };
    case 'rsa':
      return RSA_BITS.includes(modulusLength)
        ? { key }
        : {
            shown: `${modulusLength}-bit modulus`,
            problem: 'RSA keys must have modulus size 3072 or 4096',
          };
    default:
      return {
        shown: undefined,
        problem: 'unknown public key type; supported types are Ed25519, ECDSA, and RSA',
      };
  }
}

function parse(der: Buffer): KeyObject | undefined {
  try {
    return createPublicKey({ key: der, format: 'der', type: 'spki' });
  } catch {
    return undefined;
  }
}

/** Whether `signature` is one of `message` by the private key of `key`, in the way that is usual for its kind. */
export function provesPossession(key: KeyObject, message: string, signature: Buffer): boolean {
  const data = Buffer.from(message);
  try {
    if (key.asymmetricKeyType === 'ed25519') return verify(null, data, key, signature);
    if (key.asymmetricKeyType === 'ec') return verify('sha256', data, key, signature);
    const padding = constants.RSA_PKCS1_PSS_PADDING;
    return verify('sha256', data, { key, padding, saltLength: constants.RSA_PSS_SALTLEN_AUTO }, signature);
  } catch {
    return false;
  }
}
