import type { PersistentVolume } from '../../../api/types/core/v1.ts';
import { FieldPath } from '../../../object/field-path.ts';
import { addNodeTermWarnings } from '../../pod/placement-warnings.ts';
import type { SourceKind } from './sources/rules.ts';
import { BETA_CLASS_ANNOTATION } from './table.ts';
import { MOUNT_OPTIONS_ANNOTATION } from './validate.ts';

const OLD_ANNOTATIONS: readonly (readonly [string, string])[] = [
  [BETA_CLASS_ANNOTATION, 'deprecated since v1.8; use "storageClassName" attribute instead'],
  [MOUNT_OPTIONS_ANNOTATION, 'deprecated since v1.31; use "mountOptions" attribute instead'],
];

const RECYCLE_WARNING =
  'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.';

/** Each with its name in Go. */
const GONE_SOURCES: readonly (readonly [SourceKind, string, string])[] = [
  ['cephfs', 'cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['photonPersistentDisk', 'photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['scaleIO', 'scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['storageos', 'storageOS', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['rbd', 'rbd', 'deprecated in v1.28, non-functional in v1.31+'],
];

export function warnings({ metadata, spec = {} }: PersistentVolume): string[] {
  const said: string[] = [];
  for (const [name, why] of OLD_ANNOTATIONS)
    if (metadata.annotations?.[name] !== undefined) said.push(`metadata.annotations[${name}]: ${why}`);
  if (spec.persistentVolumeReclaimPolicy === 'Recycle') said.push(RECYCLE_WARNING);
  const terms = FieldPath.root().field('spec.nodeAffinity.required.nodeSelectorTerms');
  for (const [at, term] of terms.each(spec.nodeAffinity?.required?.nodeSelectorTerms))
    addNodeTermWarnings(said, at, term);
  for (const [kind, name, why] of GONE_SOURCES)
    if (spec[kind] !== undefined) said.push(`spec.${name}: ${why}`);
  return said;
}
