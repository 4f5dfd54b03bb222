import type { ResourceDefinition } from '../../registry/resource-definition.ts';
import type { Traits } from './restored-state.ts';

/** The traits of a resource that decide how its objects are restored. */
export const traitsOf = ({ storage, subresources }: ResourceDefinition): Traits => ({
  ...storage,
  hasStatus: subresources.some(({ name }) => name === 'status'),
});
