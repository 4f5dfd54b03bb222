import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { EVENTS } from '../../api/known-resources.ts';
import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import { type FieldError, StatusError } from '../../api/status.ts';
import type { Event } from '../../api/types/core/v1.ts';
import {
  asObject,
  checkFields,
  checkOneOf,
  invalidValue,
  notSupported,
  throwProblems,
} from '../../object/field-errors.ts';
import { goText } from '../../object/go-value.ts';
import { numberOf, objectsOf } from '../../object/json-values.ts';
import { NEVER } from '../../util/pause.ts';
import type { AdmissionPlugin } from '../admission.ts';
import { describePlugin, isWriteOf, type OnceInServer, type PluginParts, type WriteOf } from '../plugin.ts';

const MAX_KEY_CHARS = 500;

/**
 * Refuses events that exceed the limits, so that a flood of them does not fill the storage. Events of events.k8s.io are not
 * counted, because they are of another kind (Kubernetes: plugin/pkg/admission/eventratelimit).
 */
export function createEventRateLimit(
  limits: readonly Limit[],
  nowMs: () => number,
  once: OnceInServer = (_, create) => create(),
): AdmissionPlugin {
  const take = once('EventRateLimit', () => createBuckets(limits, nowMs));
  return {
    name: 'EventRateLimit',
    operations: ['CREATE', 'UPDATE'],
    validate: (attributes) => {
      if (!isWriteOf(attributes, EVENTS) || attributes.dryRun) return;
      const keys = limits.map(({ type }) => KEYS[type](attributes));
      const taken = take(keys, attributes.caller?.signal ?? NEVER);
      return taken instanceof Promise
        ? taken.then((each) => assertTaken(limits, keys, each))
        : assertTaken(limits, keys, taken);
    },
  };
}

/** @throws StatusError 429 that names the limits of which no token was left */
function assertTaken(limits: readonly Limit[], keys: readonly string[], taken: readonly boolean[]): void {
  const reached = limits.flatMap(({ type }, at) =>
    taken[at] === false ? `limit reached on type ${type} for key ${keys[at]}` : [],
  );
  if (reached.length > 0) throw tooMany(reached);
}

/** The buckets of all limits. Each limit counts an event by its key, whether or not another refuses it. */
function createBuckets(
  limits: readonly Limit[],
  nowMs: () => number,
): (keys: readonly string[]) => readonly boolean[] {
  const takers = limits.map((limit) => createTaker(limit, nowMs));
  return (keys) => takers.map((take, at) => take(keys[at] ?? ''));
}

/** Without Retry-After, as in Kubernetes: clients drop refused events. */
function tooMany(reached: readonly string[]): StatusError {
  const [first = '', ...others] = new Set(reached);
  const why = others.length === 0 ? first : `[${[first, ...others].join(', ')}]`;
  return new StatusError({ code: 429, reason: 'TooManyRequests', message: `Too many requests: ${why}` });
}

/** Takes a token. Returns false when there is none. */
type Taker = (key: string) => boolean;

function createTaker({ type, perSecond, burst, cacheSize }: Limit, nowMs: () => number): Taker {
  const buckets = new LRUCache<string, TokenBucket>({ max: type === 'Server' ? 1 : cacheSize });
  return (key) => {
    const slot = toSlot(key);
    const now = nowMs();
    const bucket = buckets.get(slot) ?? new TokenBucket({ perSecond, burst, nowMs: now });
    buckets.set(slot, bucket);
    return bucket.take(now);
  };
}

/** Keys have a bounded length, because callers choose their parts and long keys could fill the memory. */
const toSlot = (key: string): string =>
  key.length <= MAX_KEY_CHARS ? key : createHash('sha256').update(key).digest('base64');

const KEYS: Readonly<Record<LimitType, (attributes: WriteOf<Event>) => string>> = {
  Server: () => '',
  Namespace: ({ namespace }) => namespace,
  User: ({ user }) => user.username,
  SourceAndObject: ({ object }) => {
    const { component, host } = object?.source ?? {};
    const { kind, namespace, name, uid, apiVersion } = object?.involvedObject ?? {};
    return [component, host, kind, namespace, name, uid, apiVersion].join('');
  },
};

export const eventRateLimit = describePlugin({
  name: 'EventRateLimit',
  isDefault: false,
  create: ({ config, once }: Pick<PluginParts, 'config' | 'once'>) =>
    createEventRateLimit(readLimits(config), () => performance.now(), once),
});

const TYPES = ['Server', 'Namespace', 'User', 'SourceAndObject'] as const;

/** The events that share a bucket: all, those of a namespace, of a user, or of a source about an object. */
type LimitType = (typeof TYPES)[number];

interface Limit {
  readonly type: LimitType;
  readonly perSecond: number;
  readonly burst: number;
  /** How many recently used buckets are remembered. */
  readonly cacheSize: number;
}

const API_VERSIONS = ['k8s.io', 'cluster.io'].map((domain) => `eventratelimit.admission.${domain}/v1alpha1`);
const DEFAULT_CACHE_SIZE = 4096;
/** The cache allocates its memory at once, 8 MB for this many. The field allows 32 bits, which would exhaust the memory. */
const MAX_CACHE_SIZE = 2 ** 20;

/**
 *   apiVersion: eventratelimit.admission.k8s.io/v1alpha1
 *   kind: Configuration
 *   limits:
 *   - type: Namespace
 *     qps: 50
 *     burst: 100
 *     cacheSize: 2000
 *
 * @throws Error with all problems; a configuration without limits is one
 */
export function readLimits(config: JsonValue | undefined): Limit[] {
  const file = asObject(config);
  const problems: FieldError[] = [];
  if (config !== undefined) {
    checkOneOf(file.apiVersion, API_VERSIONS, 'apiVersion', problems);
    checkOneOf(file.kind, ['Configuration'], 'kind', problems);
    checkFields(file, ['apiVersion', 'kind', 'limits'], '', problems);
  }
  const limits = objectsOf(file.limits);
  if (limits.length === 0) {
    const none = goText(`[]eventratelimit.Limit${Array.isArray(file.limits) ? '{}' : '(nil)'}`);
    problems.push(invalidValue('limits', none, 'must not be empty'));
  }
  const read = limits.flatMap((limit, at) => readLimit(asObject(limit), `limits[${at}]`, problems));
  throwProblems('EventRateLimit configuration', problems);
  return read;
}

function readLimit(limit: JsonObject, path: string, problems: FieldError[]): Limit[] {
  checkFields(limit, ['type', 'qps', 'burst', 'cacheSize'], path, problems);
  const type = TYPES.find((one) => one === limit.type);
  if (type === undefined) problems.push(notSupported(`${path}.type`, limit.type ?? '', TYPES));
  const number = (name: string): number => {
    const value = limit[name] ?? 0;
    if (!Number.isInteger(numberOf(value)) || typeof value === 'string')
      problems.push(invalidValue(`${path}.${name}`, value, 'must be an integer'));
    return numberOf(value);
  };
  const [burst, perSecond, cacheSize] = [number('burst'), number('qps'), number('cacheSize')];
  if (burst <= 0) problems.push(invalidValue(`${path}.burst`, burst, 'must be positive'));
  if (perSecond <= 0) problems.push(invalidValue(`${path}.qps`, perSecond, 'must be positive'));
  if (type !== 'Server' && cacheSize < 0)
    problems.push(invalidValue(`${path}.cacheSize`, cacheSize, 'must not be negative'));
  if (type === undefined) return [];
  const most = Math.min(cacheSize || DEFAULT_CACHE_SIZE, MAX_CACHE_SIZE);
  return [{ type, perSecond, burst, cacheSize: most }];
}

/**
 * A token bucket: holds `burst` tokens and gains `perSecond` each second (Go: x/time/rate).
 *
 *   const bucket = new TokenBucket({ perSecond: 1, burst: 2, nowMs: 0 });
 *   bucket.take(0) && bucket.take(0)  // true
 *   bucket.take(500)                  // false
 *   bucket.take(1000)                 // true
 */
class TokenBucket {
  readonly #perSecond: number;
  readonly #burst: number;
  #tokens: number;
  #atMs: number;

  constructor({ perSecond, burst, nowMs }: { perSecond: number; burst: number; nowMs: number }) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#tokens = burst;
    this.#atMs = nowMs;
  }

  /** False when the bucket is empty. `nowMs` never goes back. */
  take(nowMs: number): boolean {
    const refilled = ((nowMs - this.#atMs) / 1000) * this.#perSecond;
    this.#tokens = Math.min(this.#burst, this.#tokens + refilled);
    this.#atMs = nowMs;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
