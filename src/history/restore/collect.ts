import type { GroupResource } from '../../api/names.ts';
import type { ApiObject } from '../../api/object-meta.ts';
import type { CustomResourceDefinition } from '../../api/types/apiextensions/v1.ts';
import { invalidUnshown } from '../../object/field-errors.ts';
import { objectAt } from '../../object/json-values.ts';
import type { Registry } from '../../registry/registry.ts';
import type { ResourceDefinition } from '../../registry/resource-definition.ts';
import type { UnreadableObject } from '../../storage/errors.ts';
import { Slots } from '../../util/concurrency.ts';
import { Pace } from '../../util/turns.ts';
import type { PastObject, PastObjects } from './past-objects.ts';
import { type Surroundings, whySkip, whySkipResource } from './skips.ts';
import { isRestorable } from './wish.ts';
import type { Subject } from './write-rights.ts';

/** The objects of a past state, and which of them to restore. */
export interface Collected {
  readonly objects: readonly PastObject[];
  readonly skipped: readonly { readonly object: PastObject; readonly why: string }[];
  /** Resources that had objects, none of which is restored. */
  readonly skippedResources: readonly { readonly resource: ResourceDefinition; readonly why: string }[];
  readonly unreadable: readonly Unreadable[];
  /** Resources that had objects and are not served now. */
  readonly unserved: readonly Unserved[];
}

interface Unreadable extends Subject {
  readonly reason: string;
}

interface Unserved {
  readonly resource: GroupResource & { readonly kind: string };
  readonly definedBy: PastObject;
}

/** Resources that are read at the same time. */
const CONCURRENCY = 8;

/** Most objects in memory at once: a client can restore a larger namespace resource by resource. */
const MOST_OBJECTS = 10_000;
const MOST_BYTES = 128 * 1024 * 1024;

const isNamespaced = ({ namespaced }: ResourceDefinition): boolean => namespaced;

/** Collects all objects of a namespace. @throws StatusError 410, 422 */
export async function collectNamespace(
  past: PastObjects,
  registry: Registry,
  namespace: string,
): Promise<Collected> {
  const found: PastObject[] = [];
  const skippedResources: Collected['skippedResources'][number][] = [];
  const unreadable: Unreadable[] = [];
  let sizeBytes = 0;
  const take = (object: PastObject): void => {
    sizeBytes += object.sizeBytes;
    found.push(object);
    if (found.length > MOST_OBJECTS || sizeBytes > MOST_BYTES) throw past.invalid(tooMany('spec.namespace'));
  };
  await overResources(resourcesOf(registry, isNamespaced), async (resource) => {
    const why = whySkipResource(resource.storage);
    const note = ({ key, reason }: UnreadableObject): void =>
      void unreadable.push({ definition: resource, namespace, name: key.name, reason });
    for await (const object of past.each(resource, { namespace }, note)) {
      if (why === undefined) {
        take(object);
        continue;
      }
      skippedResources.push({ resource, why });
      break;
    }
  });
  const unserved = await findUnserved(past, registry, namespace);
  return { ...(await sift(found)), skippedResources, unreadable, unserved };
}

const tooMany = (field: string) =>
  invalidUnshown(
    field,
    `more than ${MOST_OBJECTS} objects, or ${MOST_BYTES >> 20} MiB, cannot be restored at once`,
  );

const DEFINITIONS: GroupResource = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' };

async function findUnserved(past: PastObjects, registry: Registry, namespace: string): Promise<Unserved[]> {
  const definitions = registry.findStorage(DEFINITIONS);
  const unserved: Unserved[] = [];
  if (definitions === undefined) return unserved;
  for await (const object of past.each(definitions, {})) {
    // widgets.example.com
    const [resource = '', ...domain] = object.name.split('.');
    const group = domain.join('.');
    if (registry.findStorage({ group, resource }) !== undefined) continue;
    // Objects of this resource are stored as this type.
    const { spec } = object.parse() as CustomResourceDefinition;
    if (spec?.scope !== 'Namespaced' || !(await past.had({ group, resource }, { namespace }))) continue;
    const kind = spec.names?.kind ?? '';
    unserved.push({ resource: { group, resource, kind }, definedBy: object });
  }
  return unserved;
}

/** Collects the dependents of an object, at all levels. @throws StatusError 410, 422 */
export async function collectDependents(
  past: PastObjects,
  registry: Registry,
  root: PastObject,
): Promise<Collected> {
  const resources = resourcesOf(registry, ({ namespaced, storage }) => {
    const mayBelong = namespaced || !root.definition.namespaced;
    return mayBelong && whySkipResource(storage) === undefined;
  });
  const scope = root.definition.namespaced ? { namespace: root.namespace } : {};
  const known = new Map([[root.uid, root]]);
  const objects: PastObject[] = [];
  const skipped: Collected['skipped'][number][] = [];
  const unreadable = new Map<string, Unreadable>();
  const surroundings: Surroundings = { has: (uid) => known.has(uid), selects: () => false };
  let owners: ReadonlySet<string> = new Set([root.uid]);
  let { sizeBytes } = root;
  while (owners.size > 0) {
    const next = new Set<string>();
    await overResources(resources, async (resource) => {
      const note = ({ key, uid, reason: why }: UnreadableObject): void => {
        const reason = `${why}; it may have belonged to ${root.name}, or not`;
        unreadable.set(uid, { definition: resource, namespace: key.namespace, name: key.name, reason });
      };
      for await (const object of past.each(resource, scope, note)) {
        if (known.has(object.uid) || !object.ownerUids.some((uid) => owners.has(uid))) continue;
        known.set(object.uid, object);
        sizeBytes += object.sizeBytes;
        if (known.size > MOST_OBJECTS || sizeBytes > MOST_BYTES)
          throw past.invalid(tooMany('spec.withDependents'));
        const why = whySkip(object.parse(), resource.storage, surroundings);
        if (why !== undefined) skipped.push({ object, why });
        else {
          objects.push(object);
          next.add(object.uid);
        }
      }
    });
    owners = next;
  }
  return { objects, skipped, skippedResources: [], unreadable: [...unreadable.values()], unserved: [] };
}

/** Resources whose objects clients can create. */
const resourcesOf = (
  registry: Registry,
  which: (definition: ResourceDefinition) => boolean,
): ResourceDefinition[] =>
  [...registry.storages()].filter((definition) => isRestorable(definition) && which(definition));

async function overResources(
  resources: readonly ResourceDefinition[],
  work: (resource: ResourceDefinition) => Promise<void>,
): Promise<void> {
  const slots = new Slots(CONCURRENCY);
  await Promise.all(resources.map((resource) => slots.run(() => work(resource))));
}

async function sift(found: readonly PastObject[]): Promise<Pick<Collected, 'objects' | 'skipped'>> {
  const uids = new Set(found.map(({ uid }) => uid));
  const selecting = new Set(
    found
      .filter(isService)
      .filter((one) => hasSelector(one.parse()))
      .map(({ name }) => name),
  );
  const surroundings = {
    has: (uid: string) => uids.has(uid),
    selects: (name: string) => selecting.has(name),
  };
  const objects: PastObject[] = [];
  const skipped: { object: PastObject; why: string }[] = [];
  const pace = new Pace({ stepsBetween: 8 });
  for (const object of found) {
    if (pace.isOver()) await pace.rest();
    const why = whySkip(object.parse(), object.definition.storage, surroundings);
    if (why === undefined) objects.push(object);
    else skipped.push({ object, why });
  }
  return { objects, skipped };
}

const SERVICES: GroupResource = { group: '', resource: 'services' };

const isService = ({ definition: { storage } }: PastObject): boolean =>
  storage.group === SERVICES.group && storage.resource === SERVICES.resource;

const hasSelector = (service: ApiObject): boolean =>
  Object.keys(objectAt(service, 'spec', 'selector')).length > 0;
