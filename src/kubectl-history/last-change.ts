import { toQualifiedResource } from '../api/names.ts';
import type { HistoryClient } from './history-client.ts';
import type { ObjectName, Revision } from './history-types.ts';
import { type NamedObject, toShortName } from './named-object.ts';
import { UsageError } from './usage-error.ts';
import { isChangeOfWish } from './write-texts.ts';

export interface ObjectPlace {
  readonly object: NamedObject;
  /** '' for cluster-scoped objects. */
  readonly namespace: string;
}

export const placeOf = (object: NamedObject, namespace: string): ObjectPlace => ({
  object,
  namespace: object.resource.isNamespaced ? namespace : '',
});

/** `deployment.apps/web in shop`. */
export function nameOf({ object: { resource, name }, namespace }: ObjectPlace): string {
  const short = toShortName({ ...resource, name });
  return namespace === '' ? short : `${short} in ${namespace}`;
}

export const selectorOf = ({
  object: { resource, name },
  namespace,
}: ObjectPlace): Record<string, string> => ({
  'object.resource': toQualifiedResource(resource),
  'object.namespace': namespace,
  'object.name': name,
});

/** Status is written often, so many revisions are searched for a change of the spec. */
const LOOKED_THROUGH = 1000;

/** The last revision that changed more than the object's status. Undefined: it has no revisions. */
export async function lastChange(history: HistoryClient, place: ObjectPlace): Promise<Revision | undefined> {
  let newest: Revision | undefined;
  for await (const { items } of history.pages({ fields: selectorOf(place), limit: LOOKED_THROUGH })) {
    newest ??= items[0];
    const found = items.find(isChangeOfWish);
    if (found !== undefined) return found;
  }
  return newest;
}

/** @throws UsageError when a named revision belongs to another object than the named one */
export function assertOf(written: ObjectName | undefined, number: string, place: ObjectPlace): void {
  const { group = '', resource, namespace = '', name } = written ?? {};
  const { object } = place;
  const isOfObject =
    group === object.resource.group &&
    resource === object.resource.resource &&
    namespace === place.namespace &&
    name === object.name;
  if (isOfObject) return;
  throw new UsageError(
    `--revision: ${number} is no revision of ${nameOf(place)}; kubectl history log shows them`,
  );
}
