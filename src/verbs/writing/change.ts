import type { ApiObject } from '../../api/object-meta.ts';
import { conflict, invalid, MODIFIED } from '../../api/status.ts';
import type { ResourceDefinition, ViewSubresource } from '../../registry/definition.ts';
import type { Strategy } from '../../registry/strategy.ts';
import { toResourceVersion } from '../../storage/revision.ts';
import type { Entry } from '../../storage/store.ts';

/**
 * How an update gets from the old object to the new one. The kind says what is written, and so which rules hold for it:
 *
 * - `object`: a whole object, as a client wants it. All rules of its resource hold: defaults, allocated values, preparation,
 *   validation.
 * - `view`: what a subresource such as status shows of the object. The view says what it may change, and validates it.
 * - `state`: what the server itself has found out, such as how much of a quota is used. It is stored as it is.
 *
 * Whatever the kind, plugins are asked, and the result must be a valid object of its resource.
 */
export type Change = ObjectChange | ViewChange | StateChange;

interface ChangeBase {
  /**
   * Gets a copy of the stored object, resourceVersion included, that it may change and return. Called again with a newer one
   * after a conflict. A resourceVersion in what it returns is a precondition.
   */
  apply(copy: ApiObject): ApiObject | Promise<ApiObject>;
  /**
   * What another uid in the object that `apply` returns means: `precondition`, that another object is meant, which is a
   * conflict; `field`, that a field changes which cannot be changed, which is invalid. A precondition where it is left out.
   */
  readonly uidIs?: 'precondition' | 'field';
  /** `apply` does not change its copy, nor does anyone change the parts of it that are in what it returns: none need be made. */
  readonly leavesCopy?: boolean;
}

export interface ObjectChange extends ChangeBase {
  readonly kind: 'object';
  /** What to create when there is no object (server-side apply, create on update). */
  create?(): ApiObject | Promise<ApiObject>;
}

/** `apply` returns the view as it is to be; the view takes from it what it may change. */
export interface ViewChange extends ChangeBase {
  readonly kind: 'view';
  readonly view: ViewSubresource;
}

export interface StateChange extends ChangeBase {
  readonly kind: 'state';
}

/** The object as a change leaves it, and what was sent to a view that shows the whole of it. */
export interface Changed {
  readonly object: ApiObject;
  readonly sent?: ApiObject;
}

export async function applyChange(
  change: Change,
  { storage }: ResourceDefinition,
  copy: ApiObject,
): Promise<Changed> {
  const made = await change.apply(copy);
  if (change.kind !== 'view') return { object: made };
  const object = change.view.write(made, copy);
  return change.view.type === storage.type ? { object, sent: made } : { object };
}

/** Those rules of a resource that hold for some kinds of changes only. */
export type UpdateRules = Pick<Strategy, 'defaults' | 'assigned' | 'prepareForUpdate' | 'validateUpdate'>;

const NO_RULES: UpdateRules = {};

export function rulesOf(change: Change, strategy: Strategy): UpdateRules {
  switch (change.kind) {
    case 'object':
      return strategy;
    case 'view': {
      const { view } = change;
      return { validateUpdate: (object, old, isOn) => view.validate?.(object, old, isOn) ?? [] };
    }
    case 'state':
      return NO_RULES;
    default:
      return change satisfies never;
  }
}

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
