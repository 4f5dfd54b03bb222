import { posix } from 'node:path';
import type {
  CSIPersistentVolumeSource,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PersistentVolume,
  PersistentVolumeSpec,
  VolumeNodeAffinity,
} from '../../../api/types/core/v1.ts';
import { equal, equalExcept } from '../../../object/equality.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { validateNodeSelector } from '../../pod/validation/placement.ts';
import { mustNotChange } from '../../rules/immutable.ts';
import { mustBeName, mustBeOneOf } from '../../rules/name-rules.ts';
import { mustBePositiveQuantity, mustBeResourceQuantity } from '../../rules/numbers.ts';
import { SOURCE_KINDS, type SourceKind, validateSource } from './sources.ts';

export const MOUNT_OPTIONS_ANNOTATION = 'volume.beta.kubernetes.io/mount-options';

/** Sources that can be mounted with options. */
const MOUNTABLE: readonly SourceKind[] = [
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'nfs',
  'rbd',
  'quobyte',
  'iscsi',
  'cinder',
  'cephfs',
  'azureFile',
  'vsphereVolume',
  'azureDisk',
  'photonPersistentDisk',
];

export function validate(at: FieldPath, { metadata, spec = {} }: PersistentVolume): void {
  const { name = '', annotations } = metadata;
  validateVolumeSpec(at.field('spec'), spec, name);
  const isMountable = MOUNTABLE.some((kind) => spec[kind] !== undefined);
  if (annotations?.[MOUNT_OPTIONS_ANNOTATION] === undefined || isMountable) return;
  const path = at.field('metadata').field('annotations').field(MOUNT_OPTIONS_ANNOTATION);
  path.forbidden('may not specify mount options for this volume type');
}

/** Kubernetes reports these fields without their paths. */
export function validateUpdate(
  at: FieldPath,
  { spec = {} }: PersistentVolume,
  { spec: old = {} }: PersistentVolume,
): void {
  if (!isSameSource(spec, old)) {
    const path = at.field('spec.persistentvolumesource');
    path.forbidden('spec.persistentvolumesource is immutable after creation');
  }
  mustNotChange(at.field('volumeMode'), spec.volumeMode, old.volumeMode);
  mustKeepAffinity(at, spec, old);
  mustKeepClass(at, spec.volumeAttributesClassName, old.volumeAttributesClassName);
}

function mustKeepAffinity(at: FieldPath, spec: PersistentVolumeSpec, old: PersistentVolumeSpec): void {
  if (at.isOn('MutablePVNodeAffinity')) return;
  if (old.nodeAffinity !== undefined && !isSameAffinity(spec.nodeAffinity, old.nodeAffinity)) {
    const why = 'field is immutable, except for updating from beta label to GA';
    at.field('nodeAffinity').invalid(spec.nodeAffinity ?? null, why);
  }
}

const CLASSES = 'VolumeAttributesClass';

function mustKeepClass(at: FieldPath, name: string | undefined, old: string | undefined): void {
  if (name === old) return;
  const path = at.field('spec.volumeAttributesClassName');
  if (!at.isOn(CLASSES)) path.forbidden(`update is forbidden when the ${CLASSES} feature gate is disabled`);
  if (name === undefined) path.forbidden('update from non-nil value to nil is forbidden');
}

/** Whether both refer to the same storage. */
const isSameSource = (spec: PersistentVolumeSpec, old: PersistentVolumeSpec): boolean =>
  SOURCE_KINDS.every((kind) =>
    kind === 'csi' ? isSameCsi(spec.csi, old.csi) : equal(spec[kind], old[kind]),
  );

/** The secret for expansion can be added later. */
function isSameCsi(
  csi: CSIPersistentVolumeSource | undefined,
  old: CSIPersistentVolumeSource | undefined,
): boolean {
  const canGetSecret = old !== undefined && old.controllerExpandSecretRef === undefined;
  return canGetSecret && csi !== undefined
    ? equalExcept(csi, old, ['controllerExpandSecretRef'])
    : equal(csi, old);
}

function isSameAffinity(affinity: VolumeNodeAffinity | undefined, old: VolumeNodeAffinity): boolean {
  const terms = affinity?.required?.nodeSelectorTerms;
  return affinity !== undefined && areSame(terms, old.required?.nodeSelectorTerms, isSameTerm);
}

const isSameTerm = (term: NodeSelectorTerm, old: NodeSelectorTerm): boolean =>
  areSame(term.matchExpressions, old.matchExpressions, isSameRequirement) &&
  areSame(term.matchFields, old.matchFields, isSameRequirement);

/** Labels of nodes that got their final names, which an affinity may take over. */
const FINAL_LABELS: ReadonlyMap<string | undefined, string> = new Map([
  ['failure-domain.beta.kubernetes.io/zone', 'topology.kubernetes.io/zone'],
  ['failure-domain.beta.kubernetes.io/region', 'topology.kubernetes.io/region'],
  ['beta.kubernetes.io/os', 'kubernetes.io/os'],
  ['beta.kubernetes.io/arch', 'kubernetes.io/arch'],
  ['beta.kubernetes.io/instance-type', 'node.kubernetes.io/instance-type'],
]);

function isSameRequirement(requirement: NodeSelectorRequirement, old: NodeSelectorRequirement): boolean {
  const { key } = requirement;
  return equal(requirement, key !== undefined && FINAL_LABELS.get(old.key) === key ? { ...old, key } : old);
}

/** Item by item. */
function areSame<T>(
  items: readonly T[] | null | undefined,
  old: readonly T[] | null | undefined,
  isSame: (item: T, old: T) => boolean,
): boolean {
  const now = items ?? [];
  const before = old ?? [];
  return (
    now.length === before.length &&
    before.every((one, at) => {
      const item = now[at];
      return item !== undefined && isSame(item, one);
    })
  );
}

/** The spec of a persistent volume. Values outside enumerations are found by the type's description. */
function validateVolumeSpec(at: FieldPath, spec: PersistentVolumeSpec, volumeName: string): void {
  const { storageClassName = '', nodeAffinity, volumeAttributesClassName: attributes } = spec;
  validateAccessModes(at, spec);
  validateCapacity(at.field('capacity'), spec.capacity ?? {});
  if (nodeAffinity !== undefined) validateNodeAffinity(at.field('nodeAffinity'), nodeAffinity);
  validateSource(at, spec, volumeName);
  validateRecycling(at, spec);
  if (storageClassName !== '') mustBeName(at.field('storageClassName'), storageClassName, 'dns-subdomain');
  if (attributes !== undefined) validateAttributesClass(at, spec, attributes);
}

function validateAttributesClass(at: FieldPath, { csi }: PersistentVolumeSpec, name: string): void {
  const path = at.field('volumeAttributesClassName');
  if (name === '') path.required('an empty string is disallowed');
  else mustBeName(path, name, 'dns-subdomain');
  if (csi === undefined) at.field('csi').required('has to be specified when using volumeAttributesClassName');
}

const INLINE = 'in the context of inline volumes';

/** The spec of a volume within another object (an attachment): CSI only, and unbound. */
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

/** Requires at least one mode; the single-pod mode must be alone. */
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
