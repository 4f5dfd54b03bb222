import { randomUUID } from 'node:crypto';
import type { ApiObject, ObjectMeta, OwnerReference } from '../../api/object-meta.ts';
import { badRequest } from '../../api/status.ts';
import { generateName } from '../../object/metadata.ts';
import { toTimestamp } from '../../object/timestamps.ts';
import type { ResourceDefinition } from '../../registry/resource-definition.ts';

/** Metadata rules of every write of any resource (Kubernetes: registry/rest, BeforeCreate and BeforeUpdate). */

/** Generates a name, after plugins have run: they may set one. */
export function giveName(meta: ObjectMeta): void {
  const { name = '', generateName: prefix = '' } = meta;
  if (name === '' && prefix !== '') meta.name = generateName(prefix);
}

/**
 * Sets the namespace of the path, or checks that the object has it. Ignores it for cluster-scoped objects: some clients always
 * set one (registry/rest, EnsureObjectNamespaceMatchesRequestNamespace).
 * @throws StatusError 400
 */
export function placeInNamespace(meta: ObjectMeta, definition: ResourceDefinition, namespace: string): void {
  if (!definition.namespaced) {
    delete meta.namespace;
    return;
  }
  if (meta.namespace !== undefined && meta.namespace !== '' && meta.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  meta.namespace = namespace;
}

/**
 * Keeps the first of equal owner references, and returns the warning about the others (endpoints/handlers,
 * dedupOwnerReferences). `when`: ` after mutating admission happens`, or empty.
 */
export function keepEachOwnerOnce(meta: ObjectMeta, when: string): string | undefined {
  const { ownerReferences: owners = [] } = meta;
  if (owners.length < 2) return undefined;
  const kept = new Map<string, OwnerReference>();
  const repeated: OwnerReference[] = [];
  for (const owner of owners) {
    const { apiVersion, kind, name, uid, controller, blockOwnerDeletion } = owner;
    const key = JSON.stringify([apiVersion, kind, name, uid, controller, blockOwnerDeletion]);
    if (kept.has(key)) repeated.push(owner);
    else kept.set(key, owner);
  }
  if (repeated.length === 0) return undefined;
  meta.ownerReferences = [...kept.values()];
  const uids = repeated.map(({ uid }) => uid).join(', ');
  return `.metadata.ownerReferences contains duplicate entries${when}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${uids}`;
}

/** Drops the fields of a posted object that belong to the server (registry/rest, WipeObjectMetaSystemFields). */
export function wipeSystemMetadata(metadata: ObjectMeta): void {
  delete metadata.uid;
  delete metadata.creationTimestamp;
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  delete metadata.selfLink;
}

/** Sets the fields of a new object that belong to the server. */
export function initializeMetadata(object: ApiObject, tracksGeneration: boolean, now: Date): void {
  const { metadata } = object;
  metadata.uid = randomUUID();
  metadata.creationTimestamp = toTimestamp(now);
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  delete metadata.selfLink;
  delete metadata.resourceVersion;
  if (tracksGeneration) metadata.generation = 1;
  else delete metadata.generation;
}

/** Restores fields that an update cannot change; absent ones too. */
export function keepSystemMetadata(object: ApiObject, old: ApiObject): void {
  const { metadata } = object;
  const before = old.metadata;
  if ((metadata.uid ?? '') === '') metadata.uid = before.uid ?? '';
  metadata.creationTimestamp = before.creationTimestamp ?? null;
  restore(metadata, before, 'deletionTimestamp');
  metadata.deletionGracePeriodSeconds ??= before.deletionGracePeriodSeconds ?? 0;
  if (before.deletionGracePeriodSeconds === undefined) delete metadata.deletionGracePeriodSeconds;
  restore(metadata, before, 'generation');
  restore(metadata, before, 'resourceVersion');
  delete metadata.selfLink;
}

function restore(
  metadata: ObjectMeta,
  before: ObjectMeta,
  field: 'deletionTimestamp' | 'generation' | 'resourceVersion',
): void {
  const value = before[field];
  if (value === undefined) delete metadata[field];
  else Object.assign(metadata, { [field]: value });
}
