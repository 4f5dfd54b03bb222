import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import { parseQuantity } from '../../object/quantity.ts';
import { part, parts, text } from '../cells.ts';
import { stringMap } from '../validation/values.ts';

/** What counts when memory or time is short. */
const COMPUTE = ['cpu', 'memory'];

/** Guaranteed: limits everywhere, and requests as high. BestEffort: nothing is asked for. Burstable: the rest. */
export function qosClass(spec: JsonObject): string {
  const containers = [...parts(spec, 'containers'), ...parts(spec, 'initContainers')].map((container) => ({
    limits: amounts(container, 'limits'),
    requests: amounts(container, 'requests'),
  }));
  const sum = (of: 'limits' | 'requests', name: string): bigint =>
    containers.reduce((total, container) => total + (container[of].get(name) ?? 0n), 0n);
  const asked = COMPUTE.some((name) => sum('limits', name) > 0n || sum('requests', name) > 0n);
  if (!asked) return 'BestEffort';
  const limited = containers.every(({ limits }) => COMPUTE.every((name) => limits.has(name)));
  const matched = COMPUTE.every((name) => sum('limits', name) === sum('requests', name));
  return limited && matched ? 'Guaranteed' : 'Burstable';
}

/** Zero asks for nothing. */
function amounts(container: JsonObject, list: string): Map<string, bigint> {
  const given = stringMap(part(container, 'resources'), list);
  const found = new Map<string, bigint>();
  for (const name of COMPUTE) {
    const nanos = parseQuantity(given[name] ?? '0')?.nanos ?? 0n;
    if (nanos > 0n) found.set(name, nanos);
  }
  return found;
}

/** As it was found when the pod was created. */
export const qosClassOf = (pod: ApiObject): string =>
  text(part(pod, 'status').qosClass, qosClass(part(pod, 'spec')));
