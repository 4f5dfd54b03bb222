import type { PodSpec } from '../api/types/core/v1.ts';
import { parseQuantity } from './quantity.ts';

/** Guaranteed: limits everywhere, and requests as high. BestEffort: nothing is asked for. Burstable: the rest. */
export function qosClass(spec: PodSpec): string {
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

function amountsOf(spec: PodSpec, name: 'cpu' | 'memory'): Amounts {
  let limits = 0n;
  let requests = 0n;
  let limitedEverywhere = true;
  for (const list of COUNTED) {
    for (const { resources } of spec[list] ?? []) {
      const limit = amount(resources?.limits, name);
      if (limit === 0n) limitedEverywhere = false;
      limits += limit;
      requests += amount(resources?.requests, name);
    }
  }
  return { limits, requests, limitedEverywhere };
}

/** Zero asks for nothing. */
function amount(list: Readonly<Record<string, string>> | undefined, name: string): bigint {
  const value = list?.[name];
  const nanos = value === undefined ? 0n : (parseQuantity(value)?.nanos ?? 0n);
  return nanos > 0n ? nanos : 0n;
}

const isAsked = ({ limits, requests }: Amounts): boolean => limits > 0n || requests > 0n;

const isGuaranteed = ({ limits, requests, limitedEverywhere }: Amounts): boolean =>
  limitedEverywhere && limits === requests;
