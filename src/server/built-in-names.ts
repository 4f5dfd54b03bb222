import { canonicalGroup } from '../api/dialect.ts';
import type { Minor } from '../api/emulation.ts';
import { type GroupResource, toResourceKey } from '../api/names.ts';
import type { ReservedNames } from '../controllers/custom-resources/definition-names.ts';
import { builtInResources, EVERY_RESOURCE } from '../resources/all.ts';

/** Names that no custom resource of a group can have, because built-in resources have them, whether they are served or not. */
export function builtInNames(group: string): ReservedNames {
  const canonical = canonicalGroup(group).group;
  const definitions = EVERY_RESOURCE.filter((definition) => definition.group === canonical);
  return {
    resources: definitions.flatMap(({ resource, singular, shortNames }) => [
      resource,
      singular,
      ...shortNames,
    ]),
    kinds: definitions.flatMap(({ kind, listKind }) => [kind, listKind]).filter((name) => name !== ''),
  };
}

/** The storage of a built-in resource; undefined for any other. */
export const storageOf = ({ group, resource }: GroupResource): GroupResource | undefined => {
  const definition = EVERY_RESOURCE.find((one) => one.group === group && one.resource === resource);
  return definition === undefined
    ? undefined
    : { group: definition.storage.group, resource: definition.storage.resource };
};

/**
 * The types, in the IDL, that objects of built-in resources are stored as by servers of a version, whether they are served or not.
 * Resources that it has not are stored as by those that have them.
 */
export function storedTypesIn(minor: Minor): (resource: GroupResource) => string | undefined {
  const types = new Map(
    [...EVERY_RESOURCE, ...builtInResources(minor)].map(({ storage }) => [
      toResourceKey(storage),
      storage.type,
    ]),
  );
  return (resource) => types.get(toResourceKey(resource));
}

export const isBuiltIn = ({ group, resource }: GroupResource): boolean =>
  EVERY_RESOURCE.some(({ storage }) => storage.group === group && storage.resource === resource);
