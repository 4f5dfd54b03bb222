import { canonicalGroup } from '../../api/dialect.ts';
import type { JsonObject } from '../../api/json.ts';
import { equal, equalExcept } from '../../object/equality.ts';
import { isObject, numberOf, objectAt, objectsOf, stringOf } from '../../object/json-values.ts';
import type { PastWrite } from './past.ts';

/** What a write did to an object. Objects may be of any kind, so their types are not known. */

export interface OwnerReference {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly isController: boolean;
}

const metadataOf = (state: JsonObject | undefined): JsonObject => objectAt(state, 'metadata');

export const specOf = (state: JsonObject | undefined): JsonObject => objectAt(state, 'spec');

export const statusOf = (state: JsonObject | undefined): JsonObject => objectAt(state, 'status');

export const labelOf = (state: JsonObject | undefined, name: string): string =>
  stringOf(objectAt(state, 'metadata', 'labels')[name]);

export const annotationOf = (state: JsonObject | undefined, name: string): string =>
  stringOf(objectAt(state, 'metadata', 'annotations')[name]);

export const generationOf = (state: JsonObject | undefined): number => numberOf(metadataOf(state).generation);

/** Returns the wanted number, by default one. */
export function replicasOf(state: JsonObject | undefined): number {
  const { replicas } = specOf(state);
  return replicas === undefined ? 1 : numberOf(replicas);
}

export const isEnding = (state: JsonObject | undefined): boolean =>
  stringOf(metadataOf(state).deletionTimestamp) !== '';

export function ownersOf(state: JsonObject | undefined): OwnerReference[] {
  return objectsOf(metadataOf(state).ownerReferences).map((reference) => ({
    group: groupOf(stringOf(reference.apiVersion)),
    kind: stringOf(reference.kind),
    name: stringOf(reference.name),
    uid: stringOf(reference.uid),
    isController: reference.controller === true,
  }));
}

/** Returns it as the registry has it. */
export const groupOf = (apiVersion: string): string =>
  canonicalGroup(apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '').group;

/** Returns the owner that made an object: its controller, or its only owner. */
export function makerOf(state: JsonObject | undefined): OwnerReference | undefined {
  const owners = ownersOf(state);
  return owners.find(({ isController }) => isController) ?? (owners.length === 1 ? owners[0] : undefined);
}

/** Returns the newer state that can be read. */
export const stateOf = ({ is, was }: PastWrite): JsonObject | undefined => is ?? was;

/** Whether the write requested the deletion, even if it ended the object at once. */
export const asksDeletion = ({ verb, was, is }: PastWrite): boolean =>
  verb === 'delete'
    ? was !== undefined && !isEnding(was)
    : verb === 'update' && isEnding(is) && was !== undefined && !isEnding(was);

/** Whether the write is part of a deletion requested before. */
export const continuesDeletion = ({ verb, was }: PastWrite): boolean => verb !== 'create' && isEnding(was);

export const removesFinalizers = ({ was, is }: PastWrite): boolean => {
  const left = new Set(finalizersOf(is));
  return finalizersOf(was).some((name) => !left.has(name));
};

function finalizersOf(state: JsonObject | undefined): string[] {
  // Namespaces have theirs in the spec.
  return [metadataOf(state).finalizers, specOf(state).finalizers].flatMap((list) =>
    Array.isArray(list) ? list.map(String) : [],
  );
}

/** Whether what is wanted of the object, everything but its metadata and status, changed. */
export function changesWanted({ verb, was, is }: PastWrite): boolean {
  if (verb === 'create') return true;
  if (verb === 'delete' || was === undefined || is === undefined) return false;
  return !equalExcept(was, is, ['metadata', 'status', 'kind', 'apiVersion']);
}

export const changesStatus = ({ verb, was, is }: PastWrite): boolean =>
  verb === 'update' && was !== undefined && is !== undefined && !equal(was.status, is.status);

/** Whether a field, given by its path, changed; also for a create that has it. */
export const changesField = ({ verb, was, is }: PastWrite, ...path: readonly string[]): boolean =>
  verb === 'create'
    ? fieldOf(is, path) !== undefined
    : was !== undefined && !equal(fieldOf(was, path), fieldOf(is, path));

function fieldOf(state: JsonObject | undefined, path: readonly string[]): unknown {
  const parent = objectAt(state, ...path.slice(0, -1));
  return parent[path.at(-1) ?? ''];
}

/** Returns the newest generation that a controller has observed, of an object or of its conditions; 0 for none. */
export function observedGeneration(state: JsonObject | undefined): number {
  const status = statusOf(state);
  const ofConditions = objectsOf(status.conditions)
    .filter(isObject)
    .map(({ observedGeneration }) => numberOf(observedGeneration));
  return Math.max(numberOf(status.observedGeneration), ...ofConditions);
}

/** Returns `True`, `False`, `Unknown`, or '' without the condition. */
export const conditionOf = (state: JsonObject | undefined, type: string): string =>
  stringOf(objectsOf(statusOf(state).conditions).find((condition) => condition.type === type)?.status);

/** Names an object for people: `Deployment default/web`. */
export function nameOf(write: PastWrite): string {
  const { namespace, name, resource } = write.key;
  const kind = stringOf(stateOf(write)?.kind, resource);
  return `${kind} ${namespace === '' ? '' : `${namespace}/`}${name}`;
}
