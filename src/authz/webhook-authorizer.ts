import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import { type PauseFor, retry } from '../outbound/retry.ts';
import { errorText } from '../util/error-text.ts';
import { NEVER } from '../util/pause.ts';
import {
  type AuthorizationAttributes,
  type Authorizer,
  type Decision,
  NO_OPINION,
  NO_RULES,
  type Rules,
  type Verdict,
} from './authorizer.ts';
import { toReviewSelectors } from './review-selectors.ts';

interface WebhookOptions {
  /** The version sent and expected. */
  readonly version: ReviewVersion;
  /** How long an allow, and any other answer, is cached in milliseconds. 0: not at all. */
  readonly authorizedTtlMs: number;
  readonly unauthorizedTtlMs: number;
  /** For each try. */
  readonly timeoutMs: number;
  /** The decision when the webhook fails. */
  readonly onFailure: Exclude<Decision, 'allow'>;
  /** Sends a review and returns the answered one. @throws Error, also for an answer that is not 2xx */
  readonly post: (review: JsonObject, signal: AbortSignal) => Promise<JsonValue>;
  /** Whether an error of `post` may pass: a lost connection, 429, 500, 504, or an answer with Retry-After. */
  readonly isTransient?: (error: unknown) => boolean;
  /**
   * Match conditions: whether to call the webhook, given the spec of a v1 review.
   * @throws Error when one failed and none was false; then `onFailure` decides
   */
  readonly matches?: (spec: JsonObject) => Promise<boolean> | boolean;
  readonly now?: () => number;
  readonly pauseFor?: PauseFor;
}

/** As in Kubernetes (apiserver, plugin/pkg/authorizer/webhook). */
const CACHED_ANSWERS = 8192;
/** Longer questions are not cached, because callers choose their parts and could fill the memory. */
const MAX_CACHED_CHARS = 10_000;

/** A webhook cannot list its rules. */
export const WEBHOOK_RULES: Rules = {
  ...NO_RULES,
  incomplete: true,
  error: 'webhook authorizer does not support user rule resolution',
};

/** Mode Webhook: asks another server, and caches its answers. */
export class WebhookAuthorizer implements Authorizer {
  readonly #options: WebhookOptions;
  readonly #answers: ExpiringCache<ReviewStatus>;

  constructor(options: WebhookOptions) {
    this.#options = options;
    this.#answers = new ExpiringCache({ capacity: CACHED_ANSWERS, now: options.now ?? Date.now });
  }

  async authorize(attributes: AuthorizationAttributes): Promise<Verdict> {
    const spec = toReviewSpec(attributes);
    try {
      if ((await this.#options.matches?.(spec)) === false) return NO_OPINION;
      return toVerdict(await this.#review(spec, attributes));
    } catch (error) {
      const text = errorText(error);
      return { decision: this.#options.onFailure, reason: '', error: text };
    }
  }

  rules(): Rules {
    return WEBHOOK_RULES;
  }

  async #review(spec: JsonObject, attributes: AuthorizationAttributes): Promise<ReviewStatus> {
    const key = JSON.stringify(spec);
    const known = this.#answers.get(key);
    if (known !== undefined) return known;
    const status = await this.#ask(toReview(spec, this.#options.version), attributes.signal ?? NEVER);
    const { authorizedTtlMs, unauthorizedTtlMs } = this.#options;
    if (isCacheable(attributes)) {
      this.#answers.set(key, status, status.allowed ? authorizedTtlMs : unauthorizedTtlMs);
    }
    return status;
  }

  async #ask(review: JsonObject, signal: AbortSignal): Promise<ReviewStatus> {
    const { post, isTransient = () => false, timeoutMs, pauseFor } = this.#options;
    const limit = (): AbortSignal => AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const attempt = async () => parseReviewStatus(await post(review, limit()));
    return retry(attempt, { signal, isTransient, pauseFor });
  }
}

function toVerdict({ allowed, denied, reason }: ReviewStatus): Verdict {
  if (!denied) return { decision: allowed ? 'allow' : 'no-opinion', reason };
  const error = 'webhook subject access review returned both allow and deny response';
  return { decision: 'deny', reason, ...(allowed ? { error } : {}) };
}

function isCacheable({ verb, target, path }: AuthorizationAttributes): boolean {
  const { subpath: _, ...parts } = target ?? {};
  const chars = [verb, path, ...Object.values(parts)].reduce((sum, part) => sum + part.length, 0);
  return chars < MAX_CACHED_CHARS;
}

/** SubjectAccessReviews, for webhooks. */

type ReviewVersion = 'v1' | 'v1beta1';

interface ReviewStatus {
  readonly allowed: boolean;
  readonly denied: boolean;
  readonly reason: string;
}

/** The spec of authorization.k8s.io/v1, without empty fields. */
export function toReviewSpec({ user, verb, target, path, selectors }: AuthorizationAttributes): JsonObject {
  const { username, uid, groups, extra } = user;
  const { subpath: _, ...resource } = target ?? {};
  const attributes =
    target === undefined
      ? { nonResourceAttributes: filled({ path, verb }) }
      : {
          resourceAttributes: {
            ...filled({ ...resource, verb }),
            ...(selectors === undefined ? {} : toReviewSelectors(selectors)),
          },
        };
  return {
    ...attributes,
    ...filled({ user: username, uid }),
    ...(groups.length === 0 ? {} : { groups: [...groups] }),
    ...(Object.keys(extra).length === 0 ? {} : { extra: copyExtra(extra) }),
  };
}

/** In v1beta1 the groups are called `group`. */
function toReview(spec: JsonObject, version: ReviewVersion): JsonObject {
  const { groups, ...rest } = spec;
  const sent = version === 'v1' || groups === undefined ? spec : { ...rest, group: groups };
  return {
    kind: 'SubjectAccessReview',
    apiVersion: `authorization.k8s.io/${version}`,
    metadata: {},
    spec: sent,
    status: { allowed: false },
  };
}

/** @throws Error when the answer is no review */
function parseReviewStatus(answer: JsonValue): ReviewStatus {
  const { kind, status } = asObject(answer);
  if (kind !== undefined && kind !== 'SubjectAccessReview') {
    throw new Error(`webhook answered with a ${JSON.stringify(kind)} instead of a SubjectAccessReview`);
  }
  const { allowed, denied, reason } = asObject(status);
  return {
    allowed: allowed === true,
    denied: denied === true,
    reason: typeof reason === 'string' ? reason : '',
  };
}

function asObject(value: JsonValue | undefined): JsonObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new Error('webhook answered with no SubjectAccessReview');
}

const filled = (fields: Readonly<Record<string, string>>): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));

const copyExtra = (extra: Readonly<Record<string, readonly string[]>>): JsonObject =>
  Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]]));

/**
 * A cache of the last used values, each until it expires. A Map keeps the order of insertion, so a value that is used moves to
 * the end, and the first one is the next to be dropped.
 */
export class ExpiringCache<T> {
  readonly #values = new Map<string, { readonly value: T; readonly untilMs: number }>();
  readonly #capacity: number;
  readonly #now: () => number;

  constructor(options: { capacity: number; now: () => number }) {
    this.#capacity = options.capacity;
    this.#now = options.now;
  }

  get(key: string): T | undefined {
    const found = this.#values.get(key);
    if (found === undefined) return undefined;
    this.#values.delete(key);
    if (found.untilMs <= this.#now()) return undefined;
    this.#values.set(key, found);
    return found.value;
  }

  set(key: string, value: T, ttlMs: number): void {
    this.#values.delete(key);
    if (ttlMs <= 0) return;
    this.#values.set(key, { value, untilMs: this.#now() + ttlMs });
    if (this.#values.size <= this.#capacity) return;
    const oldest = this.#values.keys().next();
    if (oldest.done !== true) this.#values.delete(oldest.value);
  }
}
