import type { GroupResource } from '../../../api/names.ts';
import { table } from '../../../util/table.ts';
import type { Measure } from '../measure.ts';
import { measureClaims } from './claims.ts';
import { measureCount } from './counts.ts';
import { measurePods } from './pods.ts';
import { measureServices } from './services.ts';

/** What nobody counts: requests that are not stored, and events. */
const UNCOUNTED: Readonly<Record<string, readonly string[]>> = table({
  '': ['bindings', 'componentstatuses', 'events'],
  'events.k8s.io': ['events'],
  'authentication.k8s.io': ['tokenreviews', 'selfsubjectreviews'],
  'authorization.k8s.io': [
    'subjectaccessreviews',
    'selfsubjectaccessreviews',
    'localsubjectaccessreviews',
    'selfsubjectrulesreviews',
  ],
});

const SPECIAL = [measurePods, measureServices, measureClaims];

/** Undefined: quotas do not count this resource. */
export function measureOf({ group, resource }: GroupResource): Measure | undefined {
  if (UNCOUNTED[group]?.includes(resource)) return undefined;
  const special =
    group === '' ? SPECIAL.find((measure) => measure.resource.resource === resource) : undefined;
  return special ?? measureCount({ group, resource });
}
