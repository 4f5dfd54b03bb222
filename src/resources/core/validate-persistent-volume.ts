import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { equal } from '../../object/equality.ts';
import { forbiddenField, invalidValue } from '../../object/field-errors.ts';
import { FieldPath } from '../../object/field-path.ts';
import { part, parts, text } from '../../object/parts.ts';
import { table } from '../../util/table.ts';
import { addNodeTermWarnings } from '../pod/placement-warnings.ts';
import { SOURCE_FIELDS } from '../storage/validation/volume-source.ts';
import { validateVolumeSpec } from '../storage/validation/volume-spec.ts';
import { BETA_CLASS_ANNOTATION } from './volume-cells.ts';

const MOUNT_OPTIONS_ANNOTATION = 'volume.beta.kubernetes.io/mount-options';
/** Sources that can be mounted with options. */
const MOUNTABLE = [
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

export function validateVolume(volume: ApiObject): FieldError[] {
  const spec = part(volume, 'spec');
  const { name = '', annotations = {} } = volume.metadata;
  const errors = validateVolumeSpec(spec, 'spec', name);
  const mountable = MOUNTABLE.some((field) => spec[field] !== undefined);
  if (annotations[MOUNT_OPTIONS_ANNOTATION] === undefined || mountable) return errors;
  const path = `metadata.annotations.${MOUNT_OPTIONS_ANNOTATION}`;
  return [...errors, forbiddenField(path, 'may not specify mount options for this volume type')];
}

/** Labels of nodes that got their final names, which an affinity may take over. */
const FINAL_LABELS: Readonly<Record<string, string>> = table({
  'failure-domain.beta.kubernetes.io/zone': 'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region': 'topology.kubernetes.io/region',
  'beta.kubernetes.io/os': 'kubernetes.io/os',
  'beta.kubernetes.io/arch': 'kubernetes.io/arch',
  'beta.kubernetes.io/instance-type': 'node.kubernetes.io/instance-type',
});

export function validateVolumeUpdate(volume: ApiObject, old: ApiObject): FieldError[] {
  const spec = part(volume, 'spec');
  const before = part(old, 'spec');
  const errors: FieldError[] = [];
  if (!equal(sourceOf(spec, before), sourceOf(before, before))) {
    const why = 'spec.persistentvolumesource is immutable after creation';
    errors.push(forbiddenField('spec.persistentvolumesource', why));
  }
  if (spec.volumeMode !== before.volumeMode) {
    errors.push(invalidValue('volumeMode', spec.volumeMode, 'field is immutable'));
  }
  if (before.nodeAffinity !== undefined && !sameAffinity(spec, before)) {
    const why = 'field is immutable, except for updating from beta label to GA';
    errors.push(invalidValue('nodeAffinity', spec.nodeAffinity ?? null, why));
  }
  return errors;
}

/** Where the data is. The secret for expansion can be added later. */
function sourceOf(spec: JsonObject, before: JsonObject): JsonObject {
  const source = Object.fromEntries(SOURCE_FIELDS.map((field) => [field, spec[field]]));
  if (spec.csi === undefined || part(before, 'csi').controllerExpandSecretRef !== undefined) return source;
  const { controllerExpandSecretRef: _, ...csi } = part(spec, 'csi');
  return { ...source, csi };
}

function sameAffinity(spec: JsonObject, before: JsonObject): boolean {
  const terms = parts(part(spec, 'nodeAffinity', 'required'), 'nodeSelectorTerms');
  const old = parts(part(before, 'nodeAffinity', 'required'), 'nodeSelectorTerms');
  return (
    spec.nodeAffinity !== undefined &&
    terms.length === old.length &&
    terms.every((term, at) => sameTerm(term, old[at] ?? {}))
  );
}

const sameTerm = (term: JsonObject, old: JsonObject): boolean =>
  ['matchExpressions', 'matchFields'].every((field) => {
    const requirements = parts(term, field);
    const before = parts(old, field);
    return (
      requirements.length === before.length &&
      requirements.every((one, at) => sameRequirement(one, before[at] ?? {}))
    );
  });

function sameRequirement(requirement: JsonObject, old: JsonObject): boolean {
  const renamed = FINAL_LABELS[text(old.key)] === requirement.key;
  return equal(requirement, renamed ? { ...old, key: requirement.key } : old);
}

const GONE_SOURCES: readonly (readonly [string, string, string])[] = [
  ['cephfs', 'cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['photonPersistentDisk', 'photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['scaleIO', 'scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['storageos', 'storageOS', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['rbd', 'rbd', 'deprecated in v1.28, non-functional in v1.31+'],
];

const OLD_ANNOTATIONS: readonly (readonly [string, string])[] = [
  [BETA_CLASS_ANNOTATION, 'deprecated since v1.8; use "storageClassName" attribute instead'],
  [MOUNT_OPTIONS_ANNOTATION, 'deprecated since v1.31; use "mountOptions" attribute instead'],
];

export function warnOfVolume(volume: ApiObject): string[] {
  const spec = part(volume, 'spec');
  const { annotations = {} } = volume.metadata;
  const terms = parts(part(spec, 'nodeAffinity', 'required'), 'nodeSelectorTerms');
  const ofTerms: string[] = [];
  const path = FieldPath.root().field('spec.nodeAffinity.required.nodeSelectorTerms');
  for (const [at, term] of path.each(terms)) addNodeTermWarnings(ofTerms, at, term);
  return [
    ...OLD_ANNOTATIONS.filter(([name]) => annotations[name] !== undefined).map(
      ([name, why]) => `metadata.annotations[${name}]: ${why}`,
    ),
    ...(spec.persistentVolumeReclaimPolicy === 'Recycle' ? [RECYCLE_WARNING] : []),
    ...ofTerms,
    ...GONE_SOURCES.filter(([field]) => spec[field] !== undefined).map(
      ([, name, why]) => `spec.${name}: ${why}`,
    ),
  ];
}

const RECYCLE_WARNING =
  'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.';
