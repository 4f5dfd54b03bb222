import type { JsonObject, JsonValue } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { asObject, checkFields, checkOneOf, throwProblems } from '../../../object/config-fields.ts';
import { invalidValue, notSupported } from '../../../object/field-errors.ts';
import { shown } from '../../../object/go-value.ts';
import { count, objectsOf } from '../../../object/parts.ts';

const TYPES = ['Server', 'Namespace', 'User', 'SourceAndObject'] as const;

/** What shares a bucket: all events, those of a namespace, of a user, or of a source about an object. */
export type LimitType = (typeof TYPES)[number];

export interface Limit {
  readonly type: LimitType;
  readonly perSecond: number;
  readonly burst: number;
  /** Buckets that are remembered; those used last. */
  readonly cacheSize: number;
}

const API_VERSIONS = ['k8s.io', 'cluster.io'].map((domain) => `eventratelimit.admission.${domain}/v1alpha1`);
const DEFAULT_CACHE_SIZE = 4096;
/** The cache sets its room aside at once: 8 MB for these. Fields are of 32 bits, and would fill the memory. */
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
 * @throws Error that names everything that is wrong, as it is without limits
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
    const none = shown(`[]eventratelimit.Limit${Array.isArray(file.limits) ? '{}' : '(nil)'}`);
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
    if (!Number.isInteger(count(value)) || typeof value === 'string')
      problems.push(invalidValue(`${path}.${name}`, value, 'must be an integer'));
    return count(value);
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
