import type { ResourceDefinition } from '../../../registry/definition.ts';
import type { Measure } from '../measure.ts';
import { measureClaims } from './claims.ts';
import { measureCount } from './counts.ts';
import { measurePods } from './pods.ts';
import { measureServices } from './services.ts';

const SPECIAL = [measurePods, measureServices, measureClaims];

/** Undefined: quotas do not count this resource. */
export function measureOf(definition: ResourceDefinition): Measure | undefined {
  if (!isCounted(definition)) return undefined;
  const { group, resource } = definition;
  const special = SPECIAL.find(
    (measure) => measure.resource.group === group && measure.resource.resource === resource,
  );
  return special ?? measureCount(definition);
}

/** Not what is only asked or only listed, nor events, which come and go by themselves. */
const isCounted = ({ verbs, strategy }: ResourceDefinition): boolean =>
  verbs.includes('create') && verbs.includes('list') && strategy.expires !== true;
