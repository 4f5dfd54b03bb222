import { posix } from 'node:path';
import type { PersistentVolumeSpec, VolumeNodeAffinity } from '../../../api/types/core/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { validateNodeSelector } from '../../pod/validation/node-selector.ts';
import { mustBeName, mustBeOneOf } from '../../rules/names.ts';
import { mustBePositiveQuantity, mustBeResourceQuantity } from '../../rules/quantities.ts';
import { validateSource } from './sources/rules.ts';

/** The spec of a persistent volume. Values outside enumerations are found by the type's description. */
export function validateVolumeSpec(at: FieldPath, spec: PersistentVolumeSpec, volumeName: string): void {
  const { storageClassName = '', nodeAffinity } = spec;
  validateAccessModes(at, spec);
  validateCapacity(at.field('capacity'), spec.capacity ?? {});
  if (nodeAffinity !== undefined) validateNodeAffinity(at.field('nodeAffinity'), nodeAffinity);
  validateSource(at, spec, volumeName);
  validateRecycling(at, spec);
  if (storageClassName !== '') mustBeName(at.field('storageClassName'), storageClassName, 'dns-subdomain');
}

const INLINE = 'in the context of inline volumes';

/** The spec of a volume that lives in another object (an attachment): of CSI only, and bound to nothing. */
export function validateInlineVolumeSpec(at: FieldPath, spec: PersistentVolumeSpec): void {
  const {
    capacity = {},
    storageClassName = '',
    persistentVolumeReclaimPolicy: policy,
    volumeMode: mode,
  } = spec;
  const mustBeAbsent = (field: keyof PersistentVolumeSpec, isGiven: boolean): void => {
    if (isGiven) at.field(field).forbidden(`may not be specified ${INLINE}`);
  };
  mustBeAbsent('claimRef', spec.claimRef !== undefined);
  mustBeAbsent('capacity', Object.keys(capacity).length > 0);
  if (spec.csi === undefined) at.field('csi').required(`has to be specified ${INLINE}`);
  validateAccessModes(at, spec);
  if ((policy || 'Retain') !== 'Retain')
    at.field('persistentVolumeReclaimPolicy').forbidden(`may only be Retain ${INLINE}`);
  mustBeAbsent('nodeAffinity', spec.nodeAffinity !== undefined);
  validateSource(at, spec, '');
  mustBeAbsent('storageClassName', storageClassName !== '');
  if ((mode || 'Filesystem') !== 'Filesystem')
    at.field('volumeMode').forbidden(`may not specify volumeMode other than Filesystem ${INLINE}`);
}

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
const SINGLE_POD = 'ReadWriteOncePod';

interface Accessible {
  readonly accessModes?: readonly string[];
}

/** At least one mode, and the one of a single pod only by itself. */
export function validateAccessModes(
  root: FieldPath,
  { accessModes = [] }: Accessible,
  whyRequired = '',
): void {
  const at = root.field('accessModes');
  if (accessModes.length === 0) at.required(whyRequired);
  for (const mode of accessModes) mustBeOneOf(at, mode, ACCESS_MODES);
  const hasOther = accessModes.some((mode) => mode !== SINGLE_POD && ACCESS_MODES.includes(mode));
  if (hasOther && accessModes.includes(SINGLE_POD))
    at.forbidden(`may not use ${SINGLE_POD} with other access modes`);
}

function validateCapacity(at: FieldPath, capacity: Readonly<Record<string, string>>): void {
  const names = Object.keys(capacity);
  if (names.length === 0) at.required();
  if (names.length !== 1 || names[0] !== 'storage') at.notSupported(capacity, ['storage']);
  for (const [path, , quantity] of at.entries(capacity)) {
    mustBeResourceQuantity(path, quantity);
    mustBePositiveQuantity(path, quantity);
  }
}

function validateNodeAffinity(at: FieldPath, { required }: VolumeNodeAffinity): void {
  const path = at.field('required');
  if (required === undefined) path.required('must specify required node constraints');
  else validateNodeSelector(path, required);
}

/** Recycling would empty the whole node. */
function validateRecycling(at: FieldPath, spec: PersistentVolumeSpec): void {
  const path = spec.hostPath?.path ?? '';
  if (spec.persistentVolumeReclaimPolicy !== 'Recycle' || path === '' || posix.normalize(path) !== '/')
    return;
  at.field('persistentVolumeReclaimPolicy').forbidden("may not be 'recycle' for a hostPath mount of '/'");
}
