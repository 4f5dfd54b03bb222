import type { TypeLibrary } from '../../api/idl/types.ts';
import { StatusError } from '../../api/status.ts';
import type { RecordedObject, RestoreResult } from '../../api/types/history/v1alpha1.ts';
import { messageOf as schemaOf } from '../../registry/custom.ts';
import type { ResourceDefinition } from '../../registry/definition.ts';
import { inTurns } from '../../util/concurrency.ts';
import { changesBetween } from '../changes.ts';
import { toShown } from '../recorded-rows.ts';
import type { Subject } from './rights.ts';
import type { Restored } from './writes.ts';

/** What became of objects, as a Restore tells it. */

export const resultOf = (
  action: 'skipped' | 'failed' | 'created',
  object: RecordedObject,
  message: string,
): RestoreResult => ({ object, action, message });

export function recorded({ definition, namespace, name }: Subject, uid?: string): RecordedObject {
  return {
    ...recordedResource(definition),
    ...(definition.namespaced ? { namespace } : {}),
    name,
    ...(uid === undefined ? {} : { uid }),
  };
}

/** Stands for the objects of a resource. */
export const recordedResource = ({ kind, storage }: ResourceDefinition): RecordedObject => ({
  group: storage.group,
  version: storage.version,
  resource: storage.resource,
  kind,
});

export interface Telling {
  readonly types: TypeLibrary;
  /** Whether a new object is told with all that is in it. */
  readonly showsNew: boolean;
}

export async function toResult(
  subject: Subject,
  { before, after, revision, notes }: Restored,
  { types, showsNew }: Telling,
): Promise<RestoreResult> {
  const { definition } = subject;
  const message = schemaOf(definition, definition.storage.type, types);
  const told = await inTurns(changesBetween(before, after, { kind: 'message', message }));
  const isBrief = before === undefined && !showsNew;
  // The answer goes to audit logs too, which are no place for secrets.
  const secrecy = isSecret(subject) ? 'secret' : 'none';
  const changes = told.changes.map((change) => (isBrief ? { path: change.path } : toShown(change, secrecy)));
  const action = before === undefined ? 'created' : changes.length === 0 ? 'unchanged' : 'updated';
  const said = [...notes, ...(told.isTruncated ? ['there are more changes than these'] : [])];
  return {
    object: recorded(subject, after.metadata.uid),
    action,
    ...(revision === undefined || action === 'unchanged' ? {} : { revision: revision.toString() }),
    ...(changes.length === 0 ? {} : { changes }),
    ...(said.length === 0 ? {} : { message: said.join('; ') }),
  };
}

const isSecret = ({ definition: { storage } }: Subject): boolean =>
  storage.group === '' && storage.resource === 'secrets';

/** What a failure says to the caller; undefined where it says nothing that is for callers. */
export const messageOf = (error: unknown): string | undefined =>
  error instanceof StatusError ? (error.status.message ?? '') : undefined;
