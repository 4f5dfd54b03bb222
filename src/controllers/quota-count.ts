import { type Measure, ZERO } from '../admission/quota/measure.ts';
import { measureOf } from '../admission/quota/measures/all.ts';
import { only, scopesOf } from '../admission/quota/quota.ts';
import type { ResourceQuota } from '../api/types/core/v1.ts';
import { addLists, NOTHING, type ResourceList, toResourceList } from '../object/resource-list.ts';
import type { ResourceDefinition } from '../registry/definition.ts';
import type { Client } from '../verbs/client/client.ts';

export interface CountedResource {
  readonly definition: ResourceDefinition;
  readonly measure: Measure;
}

/** The resources whose objects limits of these names are of. */
export function resourcesCountedBy(
  names: readonly string[],
  definitions: readonly ResourceDefinition[],
): CountedResource[] {
  return definitions.flatMap((definition) => {
    const measure = definition.namespaced ? measureOf(definition) : undefined;
    return measure !== undefined && names.some((name) => measure.counts(name))
      ? [{ definition, measure }]
      : [];
  });
}

/** What a quota's namespace uses of what it limits, all objects counted. A limit on what nobody counts has no usage. */
export async function countUsage(
  client: Client,
  quota: ResourceQuota,
  definitions: readonly ResourceDefinition[],
  now: Date,
): Promise<ResourceList> {
  const hard = toResourceList(quota.spec?.hard);
  const { namespace = '' } = quota.metadata;
  let used: ResourceList = NOTHING;
  for (const { measure } of resourcesCountedBy([...hard.keys()], definitions)) {
    const names = [...hard.keys()].filter((name) => measure.counts(name));
    used = addLists(used, new Map(names.map((name) => [name, ZERO])));
    for await (const object of client.each(measure.resource, { namespace })) {
      if (!scopesOf(quota).every((selector) => measure.isInScope?.(selector, object) === true)) continue;
      used = addLists(
        used,
        only(measure.usage(object, now), (name) => names.includes(name)),
      );
    }
  }
  return used;
}
