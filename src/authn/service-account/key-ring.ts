import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { SigningKeyStore, StoredSigningKey } from '../../storage/signing-keys.ts';
import { errorText } from '../../util/error-text.ts';
import { keepDoing, pause } from '../../util/pause.ts';
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
    throw new Error(`${path}: ${errorText(error)}`, { cause: error });
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

/** The current keys. Changed keys are a new object. */
export interface KeyRing {
  readonly signing: SigningKey;
  readonly verifying: readonly VerificationKey[];
}

/** The public half of the signing key comes first, so that a server always accepts its own tokens. */
export function createKeyRing(signing: SigningKey, others: readonly VerificationKey[]): KeyRing {
  const own = toVerificationKey(createPublicKey(signing.key));
  const verifying = [...new Map([own, ...others].map((key) => [key.id, key])).values()];
  return { signing, verifying };
}

interface FollowedKeyRingOptions {
  readonly store: SigningKeyStore;
  /** Accepted beside the stored keys (--service-account-key-file). */
  readonly others: readonly VerificationKey[];
  readonly onChange: (ring: KeyRing) => void;
  readonly onError: (error: unknown) => void;
  readonly everyMs?: number;
}

/** Each check is one small query. A new key signs after five seconds, unless the operator names another time: each server has looked twice by then. */
const LOOK_EVERY_MS = 2000;

/**
 * Follows the keys that all servers of a cluster share and that may change while servers run. While the database is unreachable,
 * the keys stay the same.
 */
export class FollowedKeyRing {
  readonly #options: FollowedKeyRingOptions;
  #current: KeyRing;
  #seen: string;

  /** @throws errors of the store, and Error when it has no key */
  static async open(options: FollowedKeyRingOptions): Promise<FollowedKeyRing> {
    return new FollowedKeyRing(options, await options.store.list());
  }

  private constructor(options: FollowedKeyRingOptions, keys: readonly StoredSigningKey[]) {
    this.#options = options;
    this.#seen = stamp(keys);
    this.#current = this.#make(keys);
  }

  get current(): KeyRing {
    return this.#current;
  }

  run(signal: AbortSignal): Promise<void> {
    const { everyMs = LOOK_EVERY_MS, onError } = this.#options;
    const lookLater = async (): Promise<void> => {
      await pause(everyMs, signal);
      if (!signal.aborted) await this.look();
    };
    return keepDoing(lookLater, signal, { retryMs: everyMs, onError });
  }

  /** @throws errors of the store, and Error for a key that cannot be read */
  async look(): Promise<void> {
    const keys = await this.#options.store.list();
    const seen = stamp(keys);
    if (seen === this.#seen) return;
    this.#current = this.#make(keys);
    this.#seen = seen;
    this.#options.onChange(this.#current);
  }

  #make(keys: readonly StoredSigningKey[]): KeyRing {
    const parsed = keys.map(({ id, pem, signs }) => ({
      signs,
      key: parseSigningKey(pem, `signing key ${id}`),
    }));
    const signing = parsed.find(({ signs }) => signs);
    if (signing === undefined) throw new Error('there is no key to sign service account tokens with');
    const stored = parsed.map(({ key }) => toVerificationKey(createPublicKey(key.key)));
    return createKeyRing(signing.key, [...stored, ...this.#options.others]);
  }
}

const stamp = (keys: readonly StoredSigningKey[]): string =>
  keys.map(({ id, signs }) => `${id}${signs ? ' signs' : ''}`).join();
