import type { JsonObject } from '../../../api/object-meta.ts';
import type { PersistentVolumeClaim } from '../../../api/types/core/v1.ts';
import { equal } from '../../../object/equality.ts';
import { goQuote } from '../../../object/go-value.ts';
import { isObject } from '../../../object/merge-patch.ts';
import type { AdmissionAttributes } from '../../admission.ts';
import { refusal } from '../../refusal.ts';
import { CLAIMS } from '../../resources.ts';
import { isWriteOf } from '../../write-of.ts';
import type { WritingNode } from './writing-node.ts';

const OWN = ['capacity', 'conditions'];
const RECOVERY = ['allocatedResourceStatuses', 'allocatedResources'];

/** A node tells how large a volume has become that it has made larger. */
export function checkClaim(attributes: AdmissionAttributes, { node, recoversExpansion }: WritingNode): void {
  if (!isWriteOf(attributes, CLAIMS, 'status')) throw refusal(attributes, 'may only update PVC status');
  const { operation, object, old } = attributes;
  if (operation !== 'UPDATE') throw refusal(attributes, `unexpected operation ${goQuote(operation)}`);
  const own = recoversExpansion ? [...OWN, ...RECOVERY] : OWN;
  const changed = changedFields(withoutOwn(old, own), withoutOwn(object, own));
  if (changed.length === 0) return;
  throw refusal(
    attributes,
    `node ${goQuote(node)} is not allowed to update fields other than status.quantity and status.conditions: ${changed.join(', ')}`,
  );
}

/** Without what a node may change, and without what the server keeps beside it. */
function withoutOwn(claim: PersistentVolumeClaim | undefined, own: readonly string[]): JsonObject {
  const { resourceVersion: _, managedFields: __, ...metadata } = claim?.metadata ?? {};
  const status = Object.entries(claim?.status ?? {}).filter(([name]) => !own.includes(name));
  return { ...claim, metadata, status: Object.fromEntries(status) };
}

/** `spec.volumeName`, two levels deep: enough to find what it was. */
function changedFields(before: JsonObject, after: JsonObject, path = ''): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .filter((name) => !equal(before[name], after[name]))
    .flatMap((name) =>
      path === ''
        ? changedFields(fieldsOf(before[name]), fieldsOf(after[name]), `${name}.`)
        : [`${path}${name}`],
    );
}

const fieldsOf = (value: JsonObject[string]): JsonObject => (isObject(value) ? value : {});
