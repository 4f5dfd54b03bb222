import type { ApiObject } from '../../api/object-meta.ts';
import { count, part, text } from '../../object/parts.ts';

/**
 * How long a pod is given to end: what the caller asks for, or else what the pod itself says. One that was never placed on a
 * node, or has ended already, goes at once.
 */
export function podGracePeriod(pod: ApiObject, requested: number | undefined): number {
  const spec = part(pod, 'spec');
  const phase = text(part(pod, 'status').phase);
  if (text(spec.nodeName) === '' || phase === 'Failed' || phase === 'Succeeded') return 0;
  const seconds = requested ?? count(spec.terminationGracePeriodSeconds);
  // Below zero was once accepted, and means as soon as can be.
  return seconds < 0 ? 1 : seconds;
}
