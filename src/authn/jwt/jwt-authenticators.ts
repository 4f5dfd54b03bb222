import { pause } from '../../util/pause.ts';
import type { Authentication } from '../authenticator.ts';
import { createTokenUnion, forAudiences, type TokenAuthenticator } from '../token.ts';
import { TokenCache } from '../token-cache.ts';
import type { JwtConfig } from './config.ts';
import { JwtAuthenticator, type JwtAuthenticatorOptions } from './jwt-authenticator.ts';

export interface JwtAuthenticatorsOptions extends Omit<JwtAuthenticatorOptions, 'config'> {
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
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    });
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
