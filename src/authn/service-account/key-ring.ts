import { createPublicKey } from 'node:crypto';
import type { SigningKeyStore, StoredSigningKey } from '../../storage/signing-keys.ts';
import { keepDoing, pause } from '../../util/pause.ts';
import type { VerificationKey } from '../jws.ts';
import { parseSigningKey, type SigningKey, toVerificationKey } from './keys.ts';

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

export interface FollowedKeyRingOptions {
  readonly store: SigningKeyStore;
  /** Accepted beside the stored keys (--service-account-key-file). */
  readonly others: readonly VerificationKey[];
  readonly onChange: (ring: KeyRing) => void;
  readonly onError: (error: unknown) => void;
  readonly everyMs?: number;
}

/** Each check is one small query. A new key starts to sign only after several checks. */
const LOOK_EVERY_MS = 1000;

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
