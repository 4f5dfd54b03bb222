import type { TypeLibrary } from '../../api/idl/types.ts';
import { StatusError } from '../../api/status.ts';
import type { Change, RecordedObject, RestoreResult } from '../../api/types/history/v1alpha1.ts';
import { messageOf as schemaOf } from '../../registry/custom.ts';
import type { ResourceDefinition } from '../../registry/resource-definition.ts';
import { inTurns } from '../../util/turns.ts';
import { changesBetween } from '../changes.ts';
import { toMaskedChange } from '../masking.ts';
import type { PastObject } from './past-objects.ts';
import type { Subject } from './write-rights.ts';
import type { Restored } from './writes.ts';

/** Results of a Restore, per object. */

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

/** Stands for all objects of a resource. */
export const recordedResource = ({ kind, storage }: ResourceDefinition): RecordedObject => ({
  ...(storage.group === '' ? {} : { group: storage.group }),
  version: storage.version,
  resource: storage.resource,
  kind,
});

/** Approximate limit of the values in all results together. After that, results list changed paths only. */
const MOST_VALUES_BYTES = 4 * 1024 * 1024;
const MOST_PATHS = 20;

/** Describes what was written. */
export class Results {
  readonly #types: TypeLibrary;
  #leftBytes = MOST_VALUES_BYTES;

  constructor(types: TypeLibrary) {
    this.#types = types;
  }

  /** `showsNew`: the result of a new object includes all its fields. */
  async of(subject: PastObject, restored: Restored, showsNew: boolean): Promise<RestoreResult> {
    const { before, after, revision, notes } = restored;
    const isNew = before === undefined;
    const { changes, isTruncated } = isNew && !showsNew ? CREATED : await this.#changesOf(subject, restored);
    const action = isNew ? 'created' : changes.length === 0 ? 'unchanged' : 'updated';
    const said = isTruncated ? [...notes, 'there are more changes, or values, than these'] : notes;
    return {
      object: recorded(subject, after.metadata.uid),
      action,
      ...(revision === undefined || action === 'unchanged' ? {} : { revision: revision.toString() }),
      ...(changes.length === 0 ? {} : { changes: [...changes] }),
      ...(said.length === 0 ? {} : { message: said.join('; ') }),
    };
  }

  async #changesOf(subject: PastObject, { before, after }: Restored): Promise<ShownChanges> {
    if (before === after) return { changes: [], isTruncated: false };
    const { definition, sizeBytes } = subject;
    const message = schemaOf(definition, definition.storage.type, this.#types);
    const isBrief = this.#leftBytes < sizeBytes;
    const most = isBrief ? MOST_PATHS : undefined;
    const found = await inTurns(changesBetween(before, after, { kind: 'message', message }, most));
    if (isBrief) return { changes: found.changes.map(({ path }) => ({ path })), isTruncated: true };
    if (found.changes.length > 0) this.#leftBytes -= sizeBytes;
    // Audit logs include the answer, and must not contain secrets.
    const secrecy = isSecret(subject) ? 'secret' : 'none';
    return { ...found, changes: found.changes.map((change) => toMaskedChange(change, secrecy)) };
  }
}

interface ShownChanges {
  readonly changes: readonly Change[];
  readonly isTruncated: boolean;
}

const CREATED: ShownChanges = { changes: [{ path: '' }], isTruncated: false };

const isSecret = ({ definition: { storage } }: Subject): boolean =>
  storage.group === '' && storage.resource === 'secrets';

/** The message of an error for the caller; undefined: the error is internal. */
export const messageOf = (error: unknown): string | undefined =>
  error instanceof StatusError ? (error.status.message ?? '') : undefined;
