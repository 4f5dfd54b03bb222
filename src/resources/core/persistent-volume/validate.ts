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
import { mustNotChange } from '../../rules/immutable.ts';
import { SOURCE_KINDS, type SourceKind } from './sources/rules.ts';
import { validateVolumeSpec } from './validate-spec.ts';

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

/** Kubernetes names these fields without where they stand. */
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
  if (old.nodeAffinity !== undefined && !isSameAffinity(spec.nodeAffinity, old.nodeAffinity)) {
    const why = 'field is immutable, except for updating from beta label to GA';
    at.field('nodeAffinity').invalid(spec.nodeAffinity ?? null, why);
  }
}

/** Where the data is. */
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
