import type { ResourceDefinition } from '../../registry/definition.ts';
import type { Traits } from './states.ts';

/** What matters of a resource when its objects are restored. */
export const traitsOf = ({ storage, subresources }: ResourceDefinition): Traits => ({
  ...storage,
  hasStatus: subresources.some(({ name }) => name === 'status'),
});
