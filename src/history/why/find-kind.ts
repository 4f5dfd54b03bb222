import type { Registry } from '../../registry/registry.ts';
import type { KnownResource, Past } from './past.ts';

/** Finds a kind in any version, as owner references name owners. */
export const findIn =
  (registry: Pick<Registry, 'versions' | 'resources'>): Past['find'] =>
  ({ group, kind }): KnownResource | undefined => {
    for (const version of registry.versions(group)) {
      const resources = registry.resources(group, version);
      const found = resources.find(
        ({ definition }) => definition.kind === kind && definition.verbs.includes('get'),
      );
      if (found === undefined) continue;
      const { storage, namespaced } = found.definition;
      return { resource: { group: storage.group, resource: storage.resource }, namespaced };
    }
    return undefined;
  };
