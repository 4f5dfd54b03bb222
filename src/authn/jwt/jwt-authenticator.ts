import type { JsonObject } from '../../api/object-meta.ts';
import type { HttpsGet } from '../../outbound/http-client.ts';
import type { Authentication } from '../authenticator.ts';
import { audiencesOf, readUnverified } from '../jws.ts';
import { intersect, type TokenAuthenticator } from '../token.ts';
import type { JwtConfig } from './config.ts';
import { expandClaims } from './distributed-claims.ts';
import { IdentityProvider } from './identity-provider.ts';
import { toUser } from './user-mapping.ts';

export interface JwtAuthenticatorOptions {
  readonly config: JwtConfig;
  readonly createGet: (certificateAuthority: string | undefined) => HttpsGet;
  readonly onError: (error: unknown) => void;
  readonly now?: () => number;
  readonly retryMs?: number;
}

const NBF_LEEWAY_SECONDS = 60;
/** The issuer of Google's first tokens had no scheme (OpenID Connect Core 1.0, section 15.6.2). */
const GOOGLE = 'accounts.google.com';

/** ID tokens of one issuer. */
export class JwtAuthenticator implements TokenAuthenticator {
  readonly #options: JwtAuthenticatorOptions;
  readonly #provider: IdentityProvider;
  readonly #get: HttpsGet;
  /** Providers of distributed claims, created when a token first names them. */
  readonly #others = new Map<string, IdentityProvider>();
  #signal: AbortSignal | undefined;

  constructor(options: JwtAuthenticatorOptions) {
    this.#options = options;
    const { url, discoveryUrl, certificateAuthority } = options.config.issuer;
    this.#get = options.createGet(certificateAuthority);
    this.#provider = this.#createProvider(url, discoveryUrl);
  }

  /** Resolves when tokens can be verified. */
  ready(): Promise<void> {
    return this.#provider.ready();
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    await this.#provider.run(signal);
  }

  async authenticate(token: string): Promise<Authentication | undefined> {
    const { config } = this.#options;
    const { url } = config.issuer;
    if (issuerOf(readUnverified(token)?.issuer) !== url) return undefined;
    const verified = await this.#verify(this.#provider, url, token);
    const claims = await this.#expand(verified);
    return {
      user: toUser(config, claims),
      ...(typeof verified.exp === 'number' ? { expiresAtMs: verified.exp * 1000 } : {}),
    };
  }

  async #verify(provider: IdentityProvider, issuer: string, token: string): Promise<JsonObject> {
    const claims = await provider.verify(token).catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(`oidc: verify token: ${why}`, { cause: error });
    });
    if (typeof claims.iss !== 'string' || issuerOf(claims.iss) !== issuer)
      throw new Error('oidc: verify token: id token issued by a different provider');
    const audiences = audiencesOf(claims);
    const expected = this.#options.config.issuer.audiences;
    if (intersect(audiences, expected).length === 0) {
      throw new Error(
        `oidc: verify token: expected audience in ${JSON.stringify(expected)} got ${JSON.stringify(audiences)}`,
      );
    }
    checkTimes(claims, (this.#options.now ?? Date.now)() / 1000);
    return claims;
  }

  #expand(claims: JsonObject): Promise<JsonObject> | JsonObject {
    const { groups } = this.#options.config;
    if (groups?.kind !== 'claim') return claims;
    return expandClaims(claims, {
      claim: groups.claim,
      get: this.#get,
      verify: (issuer, token) => this.#verify(this.#other(issuer), issuer, token),
    });
  }

  /** @throws Error until the provider is found; a later call may succeed */
  #other(issuer: string): IdentityProvider {
    if (issuer === this.#options.config.issuer.url) return this.#provider;
    let provider = this.#others.get(issuer);
    if (provider === undefined) {
      if (!issuer.startsWith('https://') || this.#others.size >= MAX_OTHERS)
        throw new Error(`oidc: verifying untrusted issuer ${issuer} failed`);
      provider = this.#createProvider(issuer, '');
      this.#others.set(issuer, provider);
      if (this.#signal !== undefined) void provider.run(this.#signal);
    }
    return provider;
  }

  #createProvider(issuerUrl: string, discoveryUrl: string): IdentityProvider {
    const { config, onError, now, retryMs } = this.#options;
    return new IdentityProvider({
      issuerUrl,
      discoveryUrl,
      algorithms: config.algorithms,
      get: this.#get,
      onError,
      ...(now === undefined ? {} : { now }),
      ...(retryMs === undefined ? {} : { retryMs }),
    });
  }
}

/** Bound on the sources of claims, which are few. A provider cannot make the server contact ever new ones. */
const MAX_OTHERS = 16;

const issuerOf = (issuer: string | undefined): string | undefined =>
  issuer === GOOGLE ? `https://${GOOGLE}` : issuer;

function checkTimes({ exp, nbf }: JsonObject, nowSeconds: number): void {
  if (typeof exp !== 'number' || nowSeconds >= exp) throw new Error('oidc: verify token: token is expired');
  if (typeof nbf === 'number' && nbf > nowSeconds + NBF_LEEWAY_SECONDS)
    throw new Error('oidc: verify token: current time before the nbf (not before) time');
}
