import type { ApiObject } from '../../api/object-meta.ts';
import type { ReplicaSetStatus } from '../../api/types/apps/v1.ts';
import type { PodTemplateSpec } from '../../api/types/core/v1.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { age, containerCells } from '../cells.ts';
import { column, nameColumn, type Table } from '../define.ts';
import { mustAllBeNonNegative } from '../rules/numbers.ts';

/** Columns and rules of workloads that count replicas. */

interface Replicated extends ApiObject {
  spec?: { replicas?: number; template?: PodTemplateSpec };
  status?: ReplicaSetStatus;
}

/** The table of ReplicaSets and ReplicationControllers; their selectors differ in form. */
export function replicaTable<T extends Replicated>(selectorCell: (object: T) => string): Table<T> {
  return {
    columns: [
      nameColumn(),
      column('Desired', 0, 'integer'),
      column('Current', 0, 'integer'),
      column('Ready', 0, 'integer'),
      column('Age'),
      column('Containers', 1),
      column('Images', 1),
      column('Selector', 1),
    ],
    cells: (object, now) => {
      const { metadata, spec = {}, status = {} } = object;
      return [
        metadata.name ?? '',
        spec.replicas ?? 0,
        status.replicas ?? 0,
        status.readyReplicas ?? 0,
        age(object, now),
        ...containerCells(spec.template?.spec ?? {}),
        selectorCell(object),
      ];
    },
  };
}

type Counts<Name extends string> = { readonly [name in Name]?: number };

/** Parts of `replicas` by their field; none is larger than the whole. `at` is the status. */
export function mustBeSharesOfReplicas<Name extends string>(
  at: FieldPath,
  status: Counts<Name | 'replicas'>,
  names: readonly Name[],
): void {
  for (const name of names) {
    const value = status[name] ?? 0;
    if (value > (status.replicas ?? 0))
      at.field(name).invalid(value, 'cannot be greater than status.replicas');
  }
}

/** Available replicas cannot exceed ready ones. `whole`: the message's name for the ready ones. */
export function mustBeAvailableOfReady(
  at: FieldPath,
  { availableReplicas = 0, readyReplicas = 0 }: Counts<'availableReplicas' | 'readyReplicas'>,
  whole: string,
): void {
  if (availableReplicas > readyReplicas)
    at.field('availableReplicas').invalid(availableReplicas, `cannot be greater than ${whole}`);
}

/** Collisions of names are counted, never forgotten: the next name depends on the number. */
export function mustNotForgetCollisions(
  at: FieldPath,
  { collisionCount }: Counts<'collisionCount'>,
  old: Counts<'collisionCount'>,
): void {
  const before = old.collisionCount;
  if (before === undefined || (collisionCount !== undefined && collisionCount >= before)) return;
  at.field('collisionCount').invalid(collisionCount ?? 0, 'cannot be decremented');
}

/** ReplicaSets and ReplicationControllers. */
export function validateReplicaStatus(root: FieldPath, { status = {} }: Replicated): void {
  const at = root.field('status');
  mustAllBeNonNegative(at, status, [
    'replicas',
    'fullyLabeledReplicas',
    'readyReplicas',
    'availableReplicas',
    'terminatingReplicas',
    'observedGeneration',
  ]);
  mustBeSharesOfReplicas(at, status, ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas']);
  mustBeAvailableOfReady(at, status, 'readyReplicas');
}
