import type { Gates } from '../../api/feature-gates.ts';
import type { GroupResource } from '../../api/names.ts';
import type { ApiObject } from '../../api/object-meta.ts';
import { conflict, invalid, MODIFIED } from '../../api/status.ts';
import type { ResourceDefinition, ViewSubresource } from '../../registry/resource-definition.ts';
import type { Strategy } from '../../registry/strategy.ts';
import { toResourceVersion } from '../../storage/revision.ts';
import type { Entry } from '../../storage/store.ts';

/**
 * How an update makes the new object from the old one. The kind determines its rules:
 *
 * - `object`: a whole object from a client. All rules of its resource apply: defaults, allocated values, preparation,
 *   validation.
 * - `view`: the part of an object that a subresource such as status shows. The view restricts and validates changes.
 * - `state`: findings of the server, such as the usage of a quota. It is stored as it is.
 *
 * Admission runs for each kind, and the result must be a valid object of its resource.
 */
export type Change = ObjectChange | ViewChange | StateChange;

interface ChangeBase {
  /**
   * Gets a copy of the stored object, resourceVersion included, that it may change and return. Called again with a newer one
   * after a conflict. A resourceVersion in its result is a precondition.
   */
  apply(copy: ApiObject): ApiObject | Promise<ApiObject>;
  /**
   * The meaning of another uid in the result of `apply`: `precondition`, another object is meant, a conflict; `field`, an
   * immutable field changes, which is invalid. Default: precondition.
   */
  readonly uidIs?: 'precondition' | 'field';
  /** Neither `apply` nor its caller changes parts of the copy: the stored object may be passed itself. */
  readonly leavesCopy?: boolean;
}

interface ObjectChange extends ChangeBase {
  readonly kind: 'object';
  /** Makes the object to create when there is none (server-side apply, create on update). */
  create?(): ApiObject | Promise<ApiObject>;
}

/** `apply` returns the new view, from which the view takes the permitted changes. */
interface ViewChange extends ChangeBase {
  readonly kind: 'view';
  readonly view: ViewSubresource;
}

export interface StateChange extends ChangeBase {
  readonly kind: 'state';
}

/** The object after a change, and the body of a view of the whole object. */
interface Changed {
  readonly object: ApiObject;
  readonly sent?: ApiObject;
}

export async function applyChange(
  change: Change,
  { storage }: ResourceDefinition,
  copy: ApiObject,
  isOn?: Gates,
): Promise<Changed> {
  const made = await change.apply(copy);
  if (change.kind !== 'view') return { object: made };
  const object = change.view.write(made, copy, isOn);
  return change.view.type === storage.type ? { object, sent: made } : { object };
}

/** The rules of a resource that apply to some kinds of changes only. */
export type UpdateRules = Pick<
  Strategy,
  'defaults' | 'assigned' | 'prepareForUpdate' | 'validateUpdate' | 'warnings'
>;

const NO_RULES: UpdateRules = {};

export function rulesOf(change: Change, strategy: Strategy): UpdateRules {
  switch (change.kind) {
    case 'object':
      return strategy;
    case 'view': {
      const { view } = change;
      return {
        validateUpdate: (object, old, isOn) => view.validate?.(object, old, isOn) ?? [],
        warnings: (object, old, isOn) => viewWarnings(view, strategy, { object, old }, isOn),
      };
    }
    case 'state':
      return NO_RULES;
    default:
      return change satisfies never;
  }
}

function viewWarnings(
  view: ViewSubresource,
  strategy: Strategy,
  { object, old }: { readonly object: ApiObject; readonly old: ApiObject | undefined },
  isOn: Gates | undefined,
): string[] {
  if (view.warnings === undefined || old === undefined) return [];
  return (
    (view.warnings === 'parent'
      ? strategy.warnings?.(object, old, isOn)
      : view.warnings(object, old, isOn)) ?? []
  );
}

/** The resource that the answer names where an object is missing: workloads name their scale (Kubernetes: ScaleREST). */
export function resourceOfMissing(definition: ResourceDefinition, subresource: string): GroupResource {
  const { group, resource, custom } = definition;
  return subresource === 'scale' && custom === undefined
    ? { group, resource: `${resource}/scale` }
    : definition;
}

/** Preconditions of a write. */

/** A write with preconditions cannot create an object. @throws StatusError 409 */
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

/** The input of an attempt. `fresh`: read after the request began, so that a mismatch is the caller's mistake. */
export interface Read {
  readonly entry: Entry;
  readonly fresh: boolean;
}

/** The cache may be stale, and no commit would detect it. */
export class StaleRead extends Error {}

/** An answer without a commit requires a fresh read. @throws StaleRead */
export function assertFresh({ fresh }: Read): void {
  if (!fresh) throw new StaleRead();
}

/**
 * Checks resourceVersion and uid of the new object as preconditions of an update.
 * @throws StatusError 409, or 422 when the resource requires a resourceVersion and there is none
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
    throw invalid({ kind: definition.resource, group: definition.group }, name, [
      {
        type: 'FieldValueInvalid',
        field: 'metadata.resourceVersion',
        message: 'Invalid value: 0x0: must be specified for an update',
        messageSince134: 'Invalid value: 0: must be specified for an update',
      },
    ]);
  }
  if (resourceVersion === toResourceVersion(entry.revision)) return;
  throw conflict(definition, name, MODIFIED);
}

/** The message of Kubernetes' storage layer, for which clients search. */
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
