import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { JsonObject, JsonValue } from '../../../api/object-meta.ts';
import type { Pod } from '../../../api/types/core/v1.ts';
import { checkQualifiedName } from '../../../object/formats.ts';
import { readClientConfig } from '../../../outbound/client-config.ts';
import { createJsonPost, isTransient } from '../../../outbound/http-client.ts';
import { pause } from '../../../util/pause.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../../admission.ts';
import { describePlugin, type PluginParts } from '../../plugin.ts';
import { refusal } from '../../refusal.ts';
import { PODS } from '../../resources.ts';
import { isWriteOf, type WriteOf } from '../../write-of.ts';
import { type ImagePolicyConfig, readImagePolicyConfig } from './config.ts';
import { parseReviewStatus, type ReviewStatus, toReview, toReviewSpec } from './review.ts';

export interface ImagePolicyParts {
  readonly config: Omit<ImagePolicyConfig, 'kubeConfigFile'>;
  /** Sends a review and answers the one that came back. @throws Error, also for an answer that is not 2xx */
  readonly post: (review: JsonObject, signal: AbortSignal) => Promise<JsonValue>;
  /** Whether what `post` threw may pass. */
  readonly isTransient: (error: unknown) => boolean;
  readonly nowMs?: () => number;
  /** Waits between tries; tests wait for nothing. */
  readonly pauseFor?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Kubernetes: apiserver, util/webhook: tries, the waits between them, the time each has; the answers kept. */
const TRIES = 5;
const WAIT_FACTOR = 1.5;
const TIMEOUT_MS = 30_000;
const CACHED_ANSWERS = 1024;

const NOTES = 'imagepolicywebhook.image-policy.k8s.io/';
const NEVER = new AbortController().signal;

/**
 * Another server decides which images pods may run (Kubernetes: plugin/pkg/admission/imagepolicy). A pod that is let in
 * because that server does not answer is marked in the audit log alone: what Kubernetes writes into the pod at this point is
 * not stored either.
 */
export function createImagePolicy(parts: ImagePolicyParts): AdmissionPlugin {
  const policy = new ImagePolicy(parts);
  return {
    name: 'ImagePolicyWebhook',
    operations: ['CREATE', 'UPDATE'],
    validate: (attributes) => {
      const isImageWrite = isWriteOf(attributes, PODS) || isWriteOf(attributes, PODS, 'ephemeralcontainers');
      return isImageWrite ? policy.check(attributes) : undefined;
    },
  };
}

class ImagePolicy {
  readonly #parts: ImagePolicyParts;
  readonly #answers: LRUCache<string, ReviewStatus>;

  constructor(parts: ImagePolicyParts) {
    this.#parts = parts;
    const { nowMs } = parts;
    this.#answers = new LRUCache({
      max: CACHED_ANSWERS,
      ttlResolution: 0,
      ...(nowMs === undefined ? {} : { perf: { now: nowMs } }),
    });
  }

  /** @throws StatusError 403 */
  async check(attributes: WriteOf<Pod>): Promise<void> {
    const status = await this.#review(toReviewSpec(attributes), attributes);
    if (status === undefined) return;
    for (const [key, value] of status.auditAnnotations) {
      if (checkQualifiedName(`${NOTES}${key}`).length === 0) attributes.annotate(`${NOTES}${key}`, value);
    }
    if (status.allowed) return;
    throw refusal(
      attributes,
      status.reason === ''
        ? 'one or more images rejected by webhook backend'
        : `image policy webhook backend denied one or more images: ${status.reason}`,
    );
  }

  /** Undefined: nobody answered, which the configuration takes for a yes. @throws StatusError 403 when it does not */
  async #review(spec: JsonObject, attributes: AdmissionAttributes): Promise<ReviewStatus | undefined> {
    // Of one length: annotations can be long, and callers choose them.
    const key = createHash('sha256').update(JSON.stringify(spec)).digest('base64');
    const known = this.#answers.get(key);
    if (known !== undefined) return known;
    const { allowTtlMs, denyTtlMs, defaultAllow } = this.#parts.config;
    try {
      const status = await this.#ask(toReview(spec), attributes.caller?.signal ?? NEVER);
      const ttl = status.allowed ? allowTtlMs : denyTtlMs;
      if (ttl > 0) this.#answers.set(key, status, { ttl });
      return status;
    } catch (error) {
      if (!defaultAllow) throw refusal(attributes, error instanceof Error ? error.message : String(error));
      attributes.annotate(`${NOTES}failed-open`, 'true');
      return undefined;
    }
  }

  async #ask(review: JsonObject, signal: AbortSignal): Promise<ReviewStatus> {
    const { post, isTransient, config, pauseFor = pause } = this.#parts;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return parseReviewStatus(
          await post(review, AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)])),
        );
      } catch (error) {
        if (attempt === TRIES || signal.aborted || !isTransient(error)) throw error;
      }
      await pauseFor(config.retryBackoffMs * WAIT_FACTOR ** (attempt - 1), signal);
    }
  }
}

function createFrom({ config: written }: Pick<PluginParts, 'config'>): AdmissionPlugin {
  const config = readImagePolicyConfig(written);
  return createImagePolicy({
    config,
    post: createJsonPost(readClientConfig(config.kubeConfigFile)),
    isTransient,
  });
}

export const imagePolicy = describePlugin({
  name: 'ImagePolicyWebhook',
  isDefault: false,
  create: createFrom,
});
