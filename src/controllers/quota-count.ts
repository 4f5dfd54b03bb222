import { measureOf } from '../admission/quota/measures.ts';
import { type Measure, only, scopesOf, ZERO } from '../admission/quota/quota.ts';
import type { ResourceQuota } from '../api/types/core/v1.ts';
import { parseStored } from '../codec/stored-object.ts';
import { addLists, NOTHING, type ResourceList, toResourceList } from '../object/resource-list.ts';
import type { ResourceDefinition } from '../registry/definition.ts';
import type { Store } from '../storage/store.ts';
import { endTurn } from '../util/end-turn.ts';

/** How many objects are read before the event loop is yielded. */
const STRIDE = 100;

export interface CountedResource {
  readonly definition: ResourceDefinition;
  readonly measure: Measure;
}

/** The resources whose objects these limits count. */
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

/** Counts the usage of a quota's namespace over all objects. A limit that no measure counts has no usage. */
export async function countUsage(
  store: Store,
  quota: ResourceQuota,
  definitions: readonly ResourceDefinition[],
  now: Date,
): Promise<ResourceList> {
  const hard = toResourceList(quota.spec?.hard);
  const { namespace = '' } = quota.metadata;
  let used: ResourceList = NOTHING;
  for (const { measure } of resourcesCountedBy([...hard.keys()], definitions)) {
    const names = [...hard.keys()].filter((name) => measure.counts(name));
    const query = { resource: measure.resource, scope: { namespace }, limit: 0 };
    const { entries } = await store.list({ ...query, freshness: { kind: 'latest' } });
    used = addLists(used, new Map(names.map((name) => [name, ZERO])));
    for (const [at, entry] of entries.entries()) {
      if (at % STRIDE === STRIDE - 1) await endTurn();
      const object = parseStored(entry.json);
      if (!scopesOf(quota).every((selector) => measure.isInScope?.(selector, object) === true)) continue;
      used = addLists(
        used,
        only(measure.usage(object, now), (name) => names.includes(name)),
      );
    }
  }
  return used;
}
