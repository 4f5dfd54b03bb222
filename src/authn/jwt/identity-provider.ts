import { createPublicKey } from 'node:crypto';
import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import { isObject } from '../../object/json-values.ts';
import type { HttpsGet } from '../../outbound/http-client.ts';
import { pause } from '../../util/pause.ts';
import { readUnverified, type VerificationKey, verifyToken } from '../jws.ts';

interface IdentityProviderOptions {
  readonly issuerUrl: string;
  /** '' for the place below the issuer's address. */
  readonly discoveryUrl: string;
  readonly algorithms: readonly string[];
  readonly get: HttpsGet;
  readonly onError: (error: unknown) => void;
  /** Called with each key set, and with undefined for one that could not be fetched. */
  readonly onFetch?: (keySet: string | undefined) => void;
  readonly now?: () => number;
  /** Between attempts to find the provider. */
  readonly retryMs?: number;
}

const RETRY_MS = 10_000;
/** The least time between fetches, however many tokens have unknown keys. */
const KEYS_COOLDOWN_MS = 3000;
/** After this time the keys are fetched again. */
const KEYS_MAX_AGE_MS = 10 * 60_000;

/** Further ones are left out: a token without the name of its key is tried with all of them. */
const MAX_KEYS = 256;

const KEY_ALGORITHMS: Readonly<Record<string, readonly string[]>> = {
  RSA: ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  'P-256': ['ES256'],
  'P-384': ['ES384'],
  'P-521': ['ES512'],
};

/** An OpenID Connect provider: finds its keys (OpenID Connect Discovery 1.0), and verifies the tokens that they signed. */
export class IdentityProvider {
  readonly #options: IdentityProviderOptions;
  readonly #found = Promise.withResolvers<void>();
  #jwksUri: string | undefined;
  #keys: readonly VerificationKey[] = [];
  #fetchedAtMs = Number.NEGATIVE_INFINITY;
  #triedAtMs = Number.NEGATIVE_INFINITY;
  #fetching: Promise<void> | undefined;

  constructor(options: IdentityProviderOptions) {
    this.#options = options;
  }

  /** Resolves when the provider has been found. */
  ready(): Promise<void> {
    return this.#found.promise;
  }

  /** Tries until the provider is found: it may run on the cluster that this server starts. */
  async run(signal: AbortSignal): Promise<void> {
    const { retryMs = RETRY_MS, onError, issuerUrl } = this.#options;
    while (!signal.aborted && this.#jwksUri === undefined) {
      try {
        this.#jwksUri = await this.#discover(signal);
        this.#found.resolve();
      } catch (error) {
        if (signal.aborted) return;
        onError(new Error(`oidc: the provider ${issuerUrl} cannot be used yet`, { cause: error }));
        await pause(retryMs, signal);
      }
    }
  }

  /** The claims of a token that one of the provider's keys signed. @throws Error */
  async verify(token: string): Promise<JsonObject> {
    const uri = this.#jwksUri;
    if (uri === undefined) throw new Error('oidc: authenticator not initialized');
    const keyId = readUnverified(token)?.keyId ?? '';
    await this.#renewKeys(uri);
    try {
      return await verifyToken(token, this.#candidates(keyId));
    } catch (error) {
      // The provider may have new keys.
      if (!this.#mayFetch()) throw error;
      await this.#fetchKeys(uri);
      return verifyToken(token, this.#candidates(keyId));
    }
  }

  /** Old keys stay in use while the provider is unreachable; only the first ones are awaited. */
  async #renewKeys(uri: string): Promise<void> {
    if (this.#now() - this.#fetchedAtMs < KEYS_MAX_AGE_MS || !this.#mayFetch()) return;
    const fetching = this.#fetchKeys(uri);
    if (this.#keys.length === 0) await fetching;
    else fetching.catch(this.#options.onError);
  }

  #mayFetch(): boolean {
    return this.#fetching !== undefined || this.#now() - this.#triedAtMs >= KEYS_COOLDOWN_MS;
  }

  async #discover(signal: AbortSignal): Promise<string> {
    const { issuerUrl, discoveryUrl, get } = this.#options;
    const url =
      discoveryUrl === '' ? `${issuerUrl.replace(/\/$/, '')}/.well-known/openid-configuration` : discoveryUrl;
    const document = toObject(await get(url, { signal }));
    if (document.issuer !== issuerUrl) {
      throw new Error(
        `issuer did not match the issuer returned by provider, expected ${JSON.stringify(issuerUrl)} got ${JSON.stringify(document.issuer)}`,
      );
    }
    const uri = typeof document.jwks_uri === 'string' ? document.jwks_uri : '';
    if (!uri.startsWith('https://')) throw new Error(`jwks_uri ${JSON.stringify(uri)} must use https`);
    return uri;
  }

  /** All callers share one fetch. @throws Error */
  #fetchKeys(uri: string): Promise<void> {
    if (this.#fetching !== undefined) return this.#fetching;
    this.#triedAtMs = this.#now();
    this.#fetching = this.#options
      .get(uri)
      .then((text) => {
        this.#keys = parseKeySet(toObject(text), this.#options.algorithms);
        this.#fetchedAtMs = this.#now();
        this.#options.onFetch?.(text);
      })
      .catch((error: unknown) => {
        this.#options.onFetch?.(undefined);
        throw error;
      })
      .finally(() => {
        this.#fetching = undefined;
      });
    return this.#fetching;
  }

  #candidates(keyId: string): readonly VerificationKey[] {
    return keyId === '' ? this.#keys : this.#keys.filter(({ id }) => id === keyId);
  }

  #now(): number {
    return (this.#options.now ?? Date.now)();
  }
}

function toObject(text: string): JsonObject {
  const value: JsonValue = JSON.parse(text);
  if (isObject(value)) return value;
  throw new Error('the answer is no object');
}

/** Unusable keys are skipped, because a provider may have keys for other purposes (RFC 7517, section 5). */
function parseKeySet({ keys }: JsonObject, allowed: readonly string[]): VerificationKey[] {
  return (Array.isArray(keys) ? keys : [])
    .slice(0, MAX_KEYS)
    .filter(isObject)
    .flatMap((jwk) => {
      const { kty, crv, kid, use, alg } = jwk;
      if (use !== undefined && use !== 'sig') return [];
      const possible = KEY_ALGORITHMS[kty === 'EC' ? String(crv) : String(kty)] ?? [];
      const algorithms = possible.filter(
        (one) => allowed.includes(one) && (alg === undefined || alg === one),
      );
      if (algorithms.length === 0) return [];
      try {
        const key = createPublicKey({ key: jwk, format: 'jwk' });
        return [{ id: typeof kid === 'string' ? kid : '', key, algorithms }];
      } catch {
        return [];
      }
    });
}
