import type { GroupResource } from '../../../api/names.ts';
import { countName, type Measure, ONE } from '../measure.ts';

/** Resources that quotas counted before there was `count/…`, by names of their own. */
const OLD_NAMES: ReadonlySet<string> = new Set([
  'configmaps',
  'resourcequotas',
  'replicationcontrollers',
  'secrets',
]);

/** Objects of which quotas know no more than how many there are. */
export function measureCount(resource: GroupResource): Measure {
  const isOld = resource.group === '' && OLD_NAMES.has(resource.resource);
  const names = [countName(resource), ...(isOld ? [resource.resource] : [])];
  const usage = new Map(names.map((name) => [name, ONE]));
  return {
    resource,
    operations: ['CREATE'],
    counts: (name) => names.includes(name),
    usage: () => usage,
  };
}
