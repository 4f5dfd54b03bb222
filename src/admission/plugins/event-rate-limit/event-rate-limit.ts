import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { ResourceOf } from '../../../api/names.ts';
import { StatusError } from '../../../api/status.ts';
import type { Event } from '../../../api/types/core/v1.ts';
import type { AdmissionPlugin } from '../../admission.ts';
import { describePlugin, type PluginParts } from '../../plugin.ts';
import { isWriteOf, type WriteOf } from '../../write-of.ts';
import { type Limit, type LimitType, readLimits } from './config.ts';
import { TokenBucket } from './token-bucket.ts';

const EVENTS: ResourceOf<Event> = { group: '', resource: 'events' };
const MAX_KEY_CHARS = 500;

/**
 * Refuses events that come faster than the limits, so that a flood of them does not fill the storage. Those of
 * events.k8s.io are not counted, because they are of another kind (Kubernetes: plugin/pkg/admission/eventratelimit).
 */
export function createEventRateLimit(limits: readonly Limit[], nowMs: () => number): AdmissionPlugin {
  const takers = limits.map((limit) => createTaker(limit, nowMs));
  return {
    name: 'EventRateLimit',
    operations: ['CREATE', 'UPDATE'],
    validate: (attributes) => {
      if (!isWriteOf(attributes, EVENTS) || attributes.dryRun) return;
      // Each limit counts the event, whether or not another refuses it.
      const reached = takers.flatMap((take) => take(attributes) ?? []);
      if (reached.length > 0) throw tooMany(reached);
    },
  };
}

/** No word of when to come again, as in Kubernetes: events are for dropping. */
function tooMany(reached: readonly string[]): StatusError {
  const [first = '', ...others] = new Set(reached);
  const why = others.length === 0 ? first : `[${[first, ...others].join(', ')}]`;
  return new StatusError({ code: 429, reason: 'TooManyRequests', message: `Too many requests: ${why}` });
}

/** Answers why not, or undefined. */
type Taker = (attributes: WriteOf<Event>) => string | undefined;

function createTaker({ type, perSecond, burst, cacheSize }: Limit, nowMs: () => number): Taker {
  const keyOf = KEYS[type];
  const buckets = new LRUCache<string, TokenBucket>({ max: type === 'Server' ? 1 : cacheSize });
  return (attributes) => {
    const key = keyOf(attributes);
    const slot = toSlot(key);
    const now = nowMs();
    const bucket = buckets.get(slot) ?? new TokenBucket({ perSecond, burst, nowMs: now });
    buckets.set(slot, bucket);
    return bucket.take(now) ? undefined : `limit reached on type ${type} for key ${key}`;
  };
}

/** Callers choose what is in a key, and long ones could fill the memory. */
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
  create: ({ config }: Pick<PluginParts, 'config'>) =>
    createEventRateLimit(readLimits(config), () => performance.now()),
});
