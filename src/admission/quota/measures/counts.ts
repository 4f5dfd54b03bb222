import type { ResourceDefinition } from '../../../registry/definition.ts';
import { countName, type Measure, ONE } from '../measure.ts';

/** Objects of which quotas know no more than how many there are. */
export function measureCount({ group, resource, quotaName }: ResourceDefinition): Measure {
  const count = countName({ group, resource });
  const names = quotaName === undefined ? [count] : [count, quotaName];
  const usage = new Map(names.map((name) => [name, ONE]));
  return {
    resource: { group, resource },
    operations: ['CREATE'],
    counts: (name) => names.includes(name),
    usage: () => usage,
  };
}
