import type { JsonObject } from '../../api/object-meta.ts';
import { isObject } from '../../object/json-values.ts';
import type { HttpsGet } from '../../outbound/http-client.ts';
import type { CreateGet } from '../../outbound/shared-documents.ts';
import { errorText } from '../../util/error-text.ts';
import { aborted, pause } from '../../util/pause.ts';
import type { Authentication } from '../authenticator.ts';
import { audiencesOf, readUnverified } from '../jws.ts';
import { createTokenUnion, forAudiences, intersect, type TokenAuthenticator, TokenCache } from '../token.ts';
import { IdentityProvider } from './identity-provider.ts';
import type { JwtConfig } from './jwt-config.ts';
import type { JwtMetrics } from './jwt-metrics.ts';
import { toUser } from './user-mapping.ts';

interface JwtAuthenticatorsOptions extends Omit<JwtAuthenticatorOptions, 'config'> {
  readonly configs: readonly JwtConfig[];
  readonly apiAudiences: readonly string[];
  /** How long to look for the providers of a new configuration. */
  readonly readyTimeoutMs?: number;
}

/** Kubernetes caches every token for ten seconds, and gives a new configuration a minute. */
const SUCCESS_TTL_MS = 10_000;
const READY_TIMEOUT_MS = 60_000;

interface Generation {
  readonly tokens: TokenAuthenticator;
  readonly members: readonly JwtAuthenticator[];
  readonly stop: AbortController;
}

/** All issuers of a configuration, which another configuration can replace. */
export class JwtAuthenticators implements TokenAuthenticator {
  readonly #options: JwtAuthenticatorsOptions;
  readonly #running = new Set<Promise<void>>();
  #current: Generation;
  #signal: AbortSignal | undefined;

  constructor(options: JwtAuthenticatorsOptions) {
    this.#options = options;
    this.#current = this.#create(options.configs);
  }

  authenticate(
    token: string,
    audiences: readonly string[],
  ): Promise<Authentication | undefined> | Authentication | undefined {
    return this.#current.tokens.authenticate(token, audiences);
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    this.#start(this.#current);
    await aborted(signal);
    this.#current.stop.abort();
    await Promise.all(this.#running);
  }

  /**
   * The new issuers take over as soon as all of them are ready; until then the old ones decide.
   * @throws Error when they are not ready in time; the old ones stay then
   */
  async replace(configs: readonly JwtConfig[]): Promise<void> {
    const next = this.#create(configs);
    this.#start(next);
    const inTime = await this.#becomesReady(next);
    if (!inTime) {
      next.stop.abort();
      if (this.#signal?.aborted === true) return;
      throw new Error('a provider of the new authentication configuration could not be found in time');
    }
    this.#current.stop.abort();
    const kept = new Set(next.members.map(({ issuer }) => issuer));
    for (const { issuer } of this.#current.members)
      if (!kept.has(issuer)) this.#options.metrics?.forget(issuer);
    this.#current = next;
  }

  /** False after the timeout, or when the server ends. */
  async #becomesReady({ members }: Generation): Promise<boolean> {
    const decided = new AbortController();
    const end = this.#signal === undefined ? decided.signal : AbortSignal.any([decided.signal, this.#signal]);
    const ready = Promise.all(members.map((member) => member.ready())).then(() => true);
    const late = pause(this.#options.readyTimeoutMs ?? READY_TIMEOUT_MS, end).then(() => false);
    const inTime = await Promise.race([ready, late]);
    decided.abort();
    return inTime;
  }

  #create(configs: readonly JwtConfig[]): Generation {
    const { apiAudiences } = this.#options;
    const members = configs.map((config) => new JwtAuthenticator({ ...this.#options, config }));
    const tokens = new TokenCache({
      tokens: forAudiences(apiAudiences, createTokenUnion(members)),
      successTtlMs: SUCCESS_TTL_MS,
      failureTtlMs: 0,
      ...(this.#options.now === undefined ? {} : { now: this.#options.now }),
    });
    return { tokens, members, stop: new AbortController() };
  }

  #start({ members, stop }: Generation): void {
    const signal = this.#signal === undefined ? stop.signal : AbortSignal.any([stop.signal, this.#signal]);
    for (const member of members) {
      const running = member.run(signal).finally(() => this.#running.delete(running));
      this.#running.add(running);
    }
  }
}

interface JwtAuthenticatorOptions {
  readonly config: JwtConfig;
  readonly createGet: CreateGet;
  readonly metrics?: JwtMetrics | undefined;
  /** Whether users have the ids of their tokens, as since Kubernetes 1.32. */
  readonly namesTokens?: boolean;
  readonly onError: (error: unknown) => void;
  readonly now?: () => number;
  readonly retryMs?: number;
}

const NBF_LEEWAY_SECONDS = 60;
/** The issuer of Google's first tokens had no scheme (OpenID Connect Core 1.0, section 15.6.2). */
const GOOGLE = 'accounts.google.com';

/** A provider that a token has named. */
interface OtherProvider {
  readonly provider: IdentityProvider;
  readonly stop: AbortController;
  /** Whether there is one under its name. */
  readonly isFound: boolean;
}

/** ID tokens of one issuer. */
class JwtAuthenticator implements TokenAuthenticator {
  readonly #options: JwtAuthenticatorOptions;
  readonly #provider: IdentityProvider;
  readonly #get: HttpsGet;
  /** Providers of distributed claims, created when a token first names them. */
  readonly #others = new Map<string, OtherProvider>();
  #signal: AbortSignal | undefined;

  constructor(options: JwtAuthenticatorOptions) {
    this.#options = options;
    const { url, discoveryUrl, certificateAuthority: ca, egress } = options.config.issuer;
    this.#get = options.createGet({ ca, egress });
    this.#provider = this.#createProvider(url, discoveryUrl, (keySet) =>
      options.metrics?.fetched(url, keySet),
    );
  }

  get issuer(): string {
    return this.#options.config.issuer.url;
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
    const { config, metrics } = this.#options;
    const { url } = config.issuer;
    if (issuerOf(readUnverified(token)?.issuer) !== url) return undefined;
    const startedMs = performance.now();
    const measure = (isGood: boolean): void => metrics?.verified(url, isGood, performance.now() - startedMs);
    try {
      const authentication = await this.#authenticate(token);
      measure(true);
      return authentication;
    } catch (error) {
      measure(false);
      throw error;
    }
  }

  async #authenticate(token: string): Promise<Authentication> {
    const { config, namesTokens = false } = this.#options;
    const { url } = config.issuer;
    const verified = await this.#verify(this.#provider, url, token);
    const claims = await this.#expand(verified);
    return {
      user: toUser(config, claims, { namesToken: namesTokens }),
      ...(typeof verified.exp === 'number' ? { expiresAtMs: verified.exp * 1000 } : {}),
    };
  }

  async #verify(provider: IdentityProvider, issuer: string, token: string): Promise<JsonObject> {
    const claims = await provider.verify(token).catch((error: unknown) => {
      const why = errorText(error);
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
    const known = this.#others.get(issuer);
    if (known !== undefined) return known.provider;
    if (!issuer.startsWith('https://') || !this.#hasRoom())
      throw new Error(`oidc: verifying untrusted issuer ${issuer} failed`);
    const stop = new AbortController();
    const other = { provider: this.#createProvider(issuer, ''), stop, isFound: false };
    this.#others.set(issuer, other);
    const found = (): void => {
      other.isFound = true;
    };
    void other.provider.ready().then(found);
    if (this.#signal !== undefined) void other.provider.run(AbortSignal.any([this.#signal, stop.signal]));
    return other.provider;
  }

  /** Names that lead nowhere, which an endpoint could send in any number, make room for the next. */
  #hasRoom(): boolean {
    if (this.#others.size < MAX_OTHERS) return true;
    for (const [issuer, { isFound, stop }] of this.#others) {
      if (isFound) continue;
      stop.abort();
      return this.#others.delete(issuer);
    }
    return false;
  }

  #createProvider(
    issuerUrl: string,
    discoveryUrl: string,
    onFetch?: (keySet: string | undefined) => void,
  ): IdentityProvider {
    const { config, onError, now, retryMs } = this.#options;
    return new IdentityProvider({
      issuerUrl,
      discoveryUrl,
      algorithms: config.algorithms,
      get: this.#get,
      onError,
      ...(onFetch === undefined ? {} : { onFetch }),
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

interface DistributedClaimsOptions {
  /** The claim that may be distributed. */
  readonly claim: string;
  readonly get: HttpsGet;
  /** Verifies a token of any provider that the configuration's authorities vouch for. @throws Error */
  readonly verify: (issuer: string, token: string) => Promise<JsonObject>;
}

/**
 * Fetches a claim that the token does not contain but refers to (OpenID Connect Core 1.0, section 5.6.2):
 *
 *   "_claim_names": {"groups": "src1"}, "_claim_sources": {"src1": {"endpoint": "https://…", "access_token": "…"}}
 *
 * Returns the claims with that claim added. @throws Error
 */
async function expandClaims(
  claims: JsonObject,
  { claim, get, verify }: DistributedClaimsOptions,
): Promise<JsonObject> {
  if (claims[claim] !== undefined || claims._claim_names === undefined) return claims;
  const names = claims._claim_names;
  if (!isObject(names)) throw new Error('oidc: error parsing distributed claim names');
  const sources = claims._claim_sources;
  if (!isObject(sources)) throw new Error('oidc: no claim sources');
  const source = names[claim];
  if (typeof source !== 'string') return claims;
  const place = sources[source];
  if (!isObject(place)) {
    throw new Error(`id token _claim_names contained a source ${source} missing in _claims_sources`);
  }
  const { endpoint, access_token: accessToken } = place;
  // Aggregated claims have no endpoint.
  if (typeof endpoint !== 'string' || endpoint === '') return claims;
  if (!endpoint.startsWith('https://')) throw new Error(`oidc: claim source ${endpoint} must use https`);
  const options = typeof accessToken === 'string' ? { authorization: `Bearer ${accessToken}` } : {};
  const token = (await get(endpoint, options)).trim();
  const issuer = readUnverified(token)?.issuer ?? '';
  const fetched = await verify(issuer, token);
  if (fetched[claim] === undefined) {
    throw new Error(
      `jwt returned by distributed claim endpoint ${JSON.stringify(endpoint)} did not contain claim: ${claim}`,
    );
  }
  return { ...claims, [claim]: fetched[claim] };
}
