import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Minor } from '../../api/emulation.ts';
import { PODS } from '../../api/known-resources.ts';
import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import type { Pod } from '../../api/types/core/v1.ts';
import { asObject, checkFields, required, throwProblems } from '../../object/field-errors.ts';
import { objectAt, objectOf, stringOf } from '../../object/json-values.ts';
import { checkQualifiedName } from '../../object/text-formats.ts';
import { readClientConfig } from '../../outbound/client-config.ts';
import { createJsonPost, isTransient } from '../../outbound/http-client.ts';
import { type PauseFor, retry } from '../../outbound/retry.ts';
import { errorText } from '../../util/error-text.ts';
import { goDuration } from '../../util/go-duration.ts';
import { NEVER } from '../../util/pause.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import {
  type Ask,
  describePlugin,
  isWriteOf,
  type OnceInServer,
  type PluginParts,
  refusal,
  type WriteOf,
} from '../plugin.ts';

interface ImagePolicyParts {
  readonly config: Omit<ImagePolicyConfig, 'kubeConfigFile'>;
  readonly emulated: Minor;
  /** Sends a review and returns the answered one. @throws Error, also for an answer that is not 2xx */
  readonly post: (review: JsonObject, signal: AbortSignal) => Promise<JsonValue>;
  /** Whether an error of `post` may pass. */
  readonly isTransient: (error: unknown) => boolean;
  readonly nowMs?: () => number;
  readonly pauseFor?: PauseFor;
}

/** Asks for a review, or finds the answer that it got before. @throws Error that says why there is none */
type Review = Ask<JsonObject, ReviewStatus>;

/** As in Kubernetes: the time of each try, and the number of cached answers. */
const TIMEOUT_MS = 30_000;
const CACHED_ANSWERS = 1024;

const NOTES = 'imagepolicywebhook.image-policy.k8s.io/';

/**
 * Lets another server decide which images pods may run (Kubernetes: plugin/pkg/admission/imagepolicy). A pod that is let in
 * because that server does not answer is marked in the audit log alone: the annotation that Kubernetes adds to the pod at this
 * point is not stored either.
 */
export function createImagePolicy(
  parts: ImagePolicyParts,
  once: OnceInServer = (_, create) => create(),
): AdmissionPlugin {
  const review = once('ImagePolicyWebhook', (): Review => {
    const reviews = new ImageReviews(parts);
    return (spec, signal) => reviews.review(spec, signal);
  });
  const policy = new ImagePolicy(parts.config, review);
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
  readonly #config: Pick<ImagePolicyConfig, 'defaultAllow'>;
  readonly #ask: Review;

  constructor(config: Pick<ImagePolicyConfig, 'defaultAllow'>, ask: Review) {
    this.#config = config;
    this.#ask = ask;
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

  /** Undefined: no answer came, and the configuration allows that. @throws StatusError 403 when it does not */
  async #review(spec: JsonObject, attributes: AdmissionAttributes): Promise<ReviewStatus | undefined> {
    try {
      return await this.#ask(spec, attributes.caller?.signal ?? NEVER);
    } catch (error) {
      if (!this.#config.defaultAllow) throw refusal(attributes, errorText(error));
      attributes.annotate(`${NOTES}failed-open`, 'true');
      return undefined;
    }
  }
}

/** The reviews of a server, with the answers that are cached. */
class ImageReviews {
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

  async review(spec: JsonObject, signal: AbortSignal): Promise<ReviewStatus> {
    // A digest, because callers choose the annotations, which can be long.
    const key = createHash('sha256').update(JSON.stringify(spec)).digest('base64');
    const known = this.#answers.get(key);
    if (known !== undefined) return known;
    const { allowTtlMs, denyTtlMs } = this.#parts.config;
    const status = await this.#ask(toReview(spec, this.#parts.emulated), signal);
    const ttl = status.allowed ? allowTtlMs : denyTtlMs;
    if (ttl > 0) this.#answers.set(key, status, { ttl });
    return status;
  }

  async #ask(review: JsonObject, signal: AbortSignal): Promise<ReviewStatus> {
    const { post, isTransient, config, pauseFor } = this.#parts;
    const limit = (): AbortSignal => AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    const attempt = async () => parseReviewStatus(await post(review, limit()));
    return retry(attempt, { signal, isTransient, firstWaitMs: config.retryBackoffMs, pauseFor });
  }
}

interface Parts extends Pick<PluginParts, 'config' | 'once'> {
  readonly emulated: Minor;
}

function createFrom({ config: written, once, emulated }: Parts): AdmissionPlugin {
  const config = readImagePolicyConfig(written);
  const post = createJsonPost(readClientConfig(config.kubeConfigFile));
  return createImagePolicy({ config, emulated, post, isTransient }, once);
}

export const imagePolicy = describePlugin({
  name: 'ImagePolicyWebhook',
  isDefault: false,
  create: createFrom,
});

const KIND = 'ImageReview';
const API_VERSION = 'imagepolicy.k8s.io/v1alpha1';

/** The webhook's verdict about some images. */
interface ReviewStatus {
  readonly allowed: boolean;
  readonly reason: string;
  readonly auditAnnotations: readonly (readonly [key: string, value: string])[];
}

/** The question about a pod: its ephemeral containers in a write of these, otherwise all other containers. */
function toReviewSpec({ object, subresource, namespace }: WriteOf<Pod>): JsonObject {
  const { containers: main, initContainers, ephemeralContainers } = object?.spec ?? {};
  const written = subresource === '' ? [...(main ?? []), ...(initContainers ?? [])] : ephemeralContainers;
  const containers = (written ?? []).map(({ image = '' }) => (image === '' ? {} : { image }));
  const annotations = Object.entries(object?.metadata.annotations ?? {}).filter(([key]) =>
    key.includes('.image-policy.k8s.io/'),
  );
  // Sorted, because the question is the key of cached answers.
  const sorted = annotations.sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    ...(containers.length === 0 ? {} : { containers }),
    ...(sorted.length === 0 ? {} : { annotations: Object.fromEntries(sorted) }),
    namespace,
  };
}

/** The time of creation, which a review lacks, is left out since 1.34. */
const toReview = (spec: JsonObject, emulated: Minor): JsonObject => ({
  kind: KIND,
  apiVersion: API_VERSION,
  metadata: emulated < 34 ? { creationTimestamp: null } : {},
  spec,
  status: { allowed: false },
});

/** @throws Error for what is no review */
function parseReviewStatus(answer: JsonValue): ReviewStatus {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer))
    throw new Error(`webhook answered with no ${KIND}`);
  const { kind = KIND, apiVersion = API_VERSION } = answer;
  if (kind !== KIND || apiVersion !== API_VERSION) {
    const what = `${stringOf(apiVersion)}, Kind=${stringOf(kind)}`;
    throw new Error(`webhook answered with ${what} instead of ${API_VERSION}, Kind=${KIND}`);
  }
  const { allowed, reason, auditAnnotations } = objectAt(answer, 'status');
  const notes = Object.entries(objectOf(auditAnnotations));
  return {
    allowed: allowed === true,
    reason: stringOf(reason),
    auditAnnotations: notes.map(([key, value]) => [key, stringOf(value)] as const),
  };
}

interface ImagePolicyConfig {
  /** Path of a client configuration that leads to the webhook. */
  readonly kubeConfigFile: string;
  /** How long answers are cached. 0: not at all. */
  readonly allowTtlMs: number;
  readonly denyTtlMs: number;
  /** The wait before the second try; each further wait is half as long again. */
  readonly retryBackoffMs: number;
  /** The decision when the webhook does not answer. */
  readonly defaultAllow: boolean;
}

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;

interface Range {
  /** The unit of the number in the file. */
  readonly unitMs: number;
  readonly defaultMs: number;
  readonly most: string;
  readonly mostMs: number;
  readonly least: string;
}

const TTL = { unitMs: SECOND_MS, least: '1s', most: '30m0s', mostMs: 30 * MINUTE_MS } as const;
const ALLOW: Range = { ...TTL, defaultMs: 5 * MINUTE_MS };
const DENY: Range = { ...TTL, defaultMs: 30 * SECOND_MS };
const BACKOFF: Range = { unitMs: 1, least: '1ns', most: '5m0s', mostMs: 5 * MINUTE_MS, defaultMs: 500 };

const FIELDS = ['kubeConfigFile', 'allowTTL', 'denyTTL', 'retryBackoff', 'defaultAllow'];

/**
 *   imagePolicy:
 *     kubeConfigFile: /etc/images/webhook.yaml
 *     allowTTL: 50         # seconds; 0: the default, -1: none
 *     denyTTL: 50
 *     retryBackoff: 500    # milliseconds
 *     defaultAllow: false
 *
 * @throws Error about the first problem
 */
export function readImagePolicyConfig(config: JsonValue | undefined): ImagePolicyConfig {
  if (config === undefined) throw new Error('ImagePolicyWebhook configuration: no config specified');
  const problems: FieldError[] = [];
  checkFields(asObject(config), ['imagePolicy'], '', problems);
  const policy = asObject(asObject(config).imagePolicy);
  checkFields(policy, FIELDS, 'imagePolicy', problems);
  if (stringOf(policy.kubeConfigFile) === '') problems.push(required('imagePolicy.kubeConfigFile'));
  const retryBackoffMs = readMs(policy, 'retryBackoff', BACKOFF, problems);
  const allowTtlMs = readMs(policy, 'allowTTL', ALLOW, problems);
  const denyTtlMs = readMs(policy, 'denyTTL', DENY, problems);
  const { defaultAllow = false } = policy;
  if (typeof defaultAllow !== 'boolean')
    problems.push(wrong('imagePolicy.defaultAllow', 'must be true or false'));
  throwProblems('ImagePolicyWebhook configuration', problems);
  const kubeConfigFile = stringOf(policy.kubeConfigFile);
  return { kubeConfigFile, allowTtlMs, denyTtlMs, retryBackoffMs, defaultAllow: defaultAllow === true };
}

const wrong = (field: string, message: string): FieldError => ({ type: 'FieldValueInvalid', field, message });

function readMs(policy: JsonObject, name: string, range: Range, problems: FieldError[]): number {
  const value = Number(policy[name] ?? 0);
  const field = `imagePolicy.${name}`;
  if (typeof policy[name] === 'string' || !Number.isInteger(value)) {
    problems.push(wrong(field, 'must be an integer'));
    return 0;
  }
  if (value === -1) return 0;
  if (value === 0) return range.defaultMs;
  const ms = value * range.unitMs;
  if (ms < 0 || ms > range.mostMs)
    problems.push(
      wrong(field, `valid value is between ${range.least} and ${range.most}, got ${goDuration(ms)}`),
    );
  return ms;
}
