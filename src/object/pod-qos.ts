import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import { objectOf, objectsOf } from './parts.ts';
import { parseQuantity } from './quantity.ts';

/** Guaranteed: limits everywhere, and requests as high. BestEffort: nothing is asked for. Burstable: the rest. */
export function qosClass(spec: JsonObject): string {
  const cpu = amountsOf(spec, 'cpu');
  const memory = amountsOf(spec, 'memory');
  if (!isAsked(cpu) && !isAsked(memory)) return 'BestEffort';
  return isGuaranteed(cpu) && isGuaranteed(memory) ? 'Guaranteed' : 'Burstable';
}

/** What counts when memory or time is short, of all containers together; in billionths. */
interface Amounts {
  readonly limits: bigint;
  readonly requests: bigint;
  readonly limitedEverywhere: boolean;
}

const COUNTED = ['containers', 'initContainers'] as const;

function amountsOf(spec: JsonObject, name: 'cpu' | 'memory'): Amounts {
  let limits = 0n;
  let requests = 0n;
  let limitedEverywhere = true;
  for (const list of COUNTED) {
    for (const container of objectsOf(spec[list])) {
      const resources = objectOf(container.resources);
      const limit = amount(resources.limits, name);
      if (limit === 0n) limitedEverywhere = false;
      limits += limit;
      requests += amount(resources.requests, name);
    }
  }
  return { limits, requests, limitedEverywhere };
}

/** Zero asks for nothing. */
function amount(list: JsonValue | undefined, name: string): bigint {
  const value = objectOf(list)[name];
  const nanos = value === undefined ? 0n : (parseQuantity(String(value))?.nanos ?? 0n);
  return nanos > 0n ? nanos : 0n;
}

const isAsked = ({ limits, requests }: Amounts): boolean => limits > 0n || requests > 0n;

const isGuaranteed = ({ limits, requests, limitedEverywhere }: Amounts): boolean =>
  limitedEverywhere && limits === requests;
