import { createHmac, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Authentication } from './authenticator.ts';
import type { TokenAuthenticator } from './token.ts';

export interface TokenCacheOptions {
  readonly tokens: TokenAuthenticator;
  /** How long a successful answer is cached, at most until the token expires. */
  readonly successTtlMs: number;
  /** How long the answer for an unknown token is cached. */
  readonly failureTtlMs: number;
  readonly now?: () => number;
}

interface Answer {
  readonly found: Authentication | undefined;
  readonly untilMs: number;
}

/** Kubernetes' bound: the tokens of 5,000 nodes and their pods. */
const CAPACITY = 32 * 1024;

/**
 * Caches answers about tokens, and asks once for concurrent requests. Tokens are stored as keyed digests, so that nobody can
 * prepare two tokens that collide. Errors are not cached, because they may pass.
 */
export class TokenCache implements TokenAuthenticator {
  readonly #options: TokenCacheOptions;
  readonly #secret = randomBytes(32);
  readonly #answers = new LRUCache<string, Answer>({ max: CAPACITY });
  readonly #asking = new Map<string, Promise<Authentication | undefined>>();

  constructor(options: TokenCacheOptions) {
    this.#options = options;
  }

  authenticate(
    token: string,
    audiences: readonly string[],
  ): Promise<Authentication | undefined> | Authentication | undefined {
    const key = createHmac('sha256', this.#secret)
      .update(JSON.stringify([token, audiences]))
      .digest('base64');
    const known = this.#answers.get(key);
    if (known !== undefined && known.untilMs > this.#now()) return known.found;
    let asking = this.#asking.get(key);
    if (asking === undefined) {
      asking = this.#ask(key, token, audiences).finally(() => this.#asking.delete(key));
      this.#asking.set(key, asking);
    }
    return asking;
  }

  async #ask(key: string, token: string, audiences: readonly string[]): Promise<Authentication | undefined> {
    const { tokens, successTtlMs, failureTtlMs } = this.#options;
    const found = await tokens.authenticate(token, audiences);
    const ttlMs = found === undefined ? failureTtlMs : successTtlMs;
    const untilMs = Math.min(this.#now() + ttlMs, found?.expiresAtMs ?? Number.POSITIVE_INFINITY);
    if (untilMs > this.#now()) this.#answers.set(key, { found, untilMs });
    return found;
  }

  #now(): number {
    return (this.#options.now ?? Date.now)();
  }
}
