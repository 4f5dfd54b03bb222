import type { ApiObject } from '../../api/object-meta.ts';
import { conflict, invalid, MODIFIED } from '../../api/status.ts';
import type { ResourceDefinition } from '../../registry/definition.ts';
import { toResourceVersion } from '../../storage/revision.ts';
import type { Entry } from '../../storage/store.ts';
import type { Change } from './change.ts';

/** What a write expects of the object that it meets. */

/** A write that expects a certain object cannot create one. @throws StatusError 409 */
export function refuseExpectations(
  definition: ResourceDefinition,
  name: string,
  { metadata }: ApiObject,
): void {
  const { uid = '', resourceVersion = '' } = metadata;
  if (uid !== '') {
    const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
    throw conflict(definition, name, why);
  }
  if (resourceVersion !== '' && resourceVersion !== '0') throw conflict(definition, name, MODIFIED);
}

/** What an attempt works on. `fresh`: read after the request began, so that what does not fit is the caller's mistake. */
export interface Read {
  readonly entry: Entry;
  readonly fresh: boolean;
}

/** The cache may be behind, and no commit would notice. */
export class StaleRead extends Error {}

/** What is answered without a commit must rest on a fresh read. @throws StaleRead */
export function assertFresh({ fresh }: Read): void {
  if (!fresh) throw new StaleRead();
}

/**
 * The preconditions inside an update: resourceVersion and uid, where the new object carries them.
 * @throws StatusError 409, or 422 when the resource insists on a resourceVersion and there is none
 */
export function checkVersion(
  definition: ResourceDefinition,
  object: ApiObject,
  entry: Entry,
  uidIs: Change['uidIs'] = 'precondition',
): void {
  const { name = '', uid = '', resourceVersion } = object.metadata;
  if (uidIs === 'precondition' && uid !== '' && uid !== entry.uid) {
    throw conflict(definition, name, uidMismatch(definition, entry, uid));
  }
  if (resourceVersion === undefined || resourceVersion === '' || resourceVersion === '0') {
    if (definition.strategy.allowUnconditionalUpdate) return;
    const message = 'Invalid value: 0x0: must be specified for an update';
    throw invalid({ kind: definition.resource, group: definition.group }, name, [
      { type: 'FieldValueInvalid', field: 'metadata.resourceVersion', message },
    ]);
  }
  if (resourceVersion === toResourceVersion(entry.revision)) return;
  throw conflict(definition, name, MODIFIED);
}

/** The text of Kubernetes' storage layer, which clients are known to search. */
function uidMismatch(
  { group, resource }: ResourceDefinition,
  { namespace, name, uid }: Entry,
  wanted: string,
): string {
  const path = [group, resource, namespace, name].filter((part) => part !== '').join('/');
  return (
    `StorageError: invalid object, Code: 4, Key: /registry/${path}, ResourceVersion: 0, AdditionalErrorMsg: ` +
    `Precondition failed: UID in precondition: ${wanted}, UID in object meta: ${uid}`
  );
}
