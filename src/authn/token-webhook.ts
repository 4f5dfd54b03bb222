import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import { isObject, textOf } from '../object/json-values.ts';
import { type PauseFor, retry } from '../outbound/retry.ts';
import type { Authentication } from './authenticator.ts';
import { intersect, type TokenAuthenticator } from './token.ts';

interface TokenWebhookOptions {
  /** The version sent and expected. */
  readonly version: 'v1' | 'v1beta1';
  /** The audiences of a token when the answer names none. */
  readonly apiAudiences: readonly string[];
  /** Sends a review and returns the answered one. @throws Error, also for an answer that is not 2xx */
  readonly post: (review: JsonObject, signal: AbortSignal) => Promise<JsonValue>;
  readonly isTransient: (error: unknown) => boolean;
  readonly timeoutMs?: number;
  readonly pauseFor?: PauseFor;
}

/** The time of each try, as in Kubernetes. */
const TIMEOUT_MS = 30_000;

/** --authentication-token-webhook-config-file: asks another server for the owner of a token. */
export class TokenWebhook implements TokenAuthenticator {
  readonly #options: TokenWebhookOptions;

  constructor(options: TokenWebhookOptions) {
    this.#options = options;
  }

  async authenticate(token: string, asked: readonly string[]): Promise<Authentication | undefined> {
    const status = await this.#review(token, asked);
    const named = textsOf(status.audiences);
    const audiences = intersect(named.length > 0 ? named : this.#options.apiAudiences, asked);
    if (audiences.length === 0) return undefined;
    if (status.authenticated !== true) {
      const error = textOf(status.error);
      if (error !== '') throw new Error(error);
      return undefined;
    }
    return { user: toUser(status.user), audiences };
  }

  async #review(token: string, audiences: readonly string[]): Promise<JsonObject> {
    const { post, isTransient, version, timeoutMs = TIMEOUT_MS, pauseFor } = this.#options;
    const review = {
      kind: 'TokenReview',
      apiVersion: `authentication.k8s.io/${version}`,
      metadata: {},
      spec: { token, audiences: [...audiences] },
      status: { user: {} },
    };
    const attempt = async () => toStatus(await post(review, AbortSignal.timeout(timeoutMs)), version);
    return retry(attempt, { isTransient, pauseFor });
  }
}

/** @throws Error when the answer is no review of the requested version */
function toStatus(answer: JsonValue, version: string): JsonObject {
  const { kind, apiVersion, status } = isObject(answer) ? answer : {};
  const right = [`authentication.k8s.io/${version}`, `authentication.cluster.io/${version}`];
  if (kind !== 'TokenReview' || !right.includes(textOf(apiVersion)) || !isObject(status)) {
    throw new Error(`the token webhook answered with no TokenReview of version ${version}`);
  }
  return status;
}

/** @throws Error for a user without a name */
function toUser(value: JsonValue | undefined): Authentication['user'] {
  const user = isObject(value) ? value : {};
  const username = textOf(user.username);
  if (username === '') throw new Error('the token webhook answered with a user without a name');
  const extra = isObject(user.extra) ? user.extra : {};
  return {
    username,
    uid: textOf(user.uid),
    groups: textsOf(user.groups),
    extra: Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, textsOf(values)])),
  };
}

const textsOf = (value: JsonValue | undefined): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
