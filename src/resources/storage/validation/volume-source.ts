import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { forbiddenField, required } from '../../../object/field-errors.ts';
import { part } from '../../../object/parts.ts';
import { validateFlocker } from '../../validation/network-disks.ts';
import { validateAzureDisk, validateAzureFile } from './azure.ts';
import { validateCsi } from './csi-source.ts';
import { validateFibreChannel, validateIscsi } from './iscsi.ts';
import { validateCloudDisk, validateHostPath, validateLocal } from './local-source.ts';
import {
  validateCinder,
  validateFlexVolume,
  validateGlusterfs,
  validateNfs,
  validateQuobyte,
  validateScaleIo,
  validateStorageOs,
} from './network-sources.ts';
import { requireField, requireFields, requireItems } from './required-fields.ts';

/** How one kind of source is validated. `volumeName` is empty for a volume inside another object. */
interface Source {
  readonly field: string;
  /** How Kubernetes calls it in errors, where that is not the field. */
  readonly path?: string;
  /** How it calls one too many. */
  readonly extraPath?: string;
  /** It is not told that it is one too many. */
  readonly toleratesOthers?: true;
  validate(source: JsonObject, path: string, volumeName: string): FieldError[];
}

const cloudDisk = (idField: string) => (source: JsonObject, path: string) =>
  validateCloudDisk(source, idField, path);

const needs =
  (...fields: string[]) =>
  (source: JsonObject, path: string) =>
    requireFields(source, fields, path);

/** In the order in which the first one counts. */
const SOURCES: readonly Source[] = [
  { field: 'hostPath', validate: validateHostPath },
  { field: 'gcePersistentDisk', path: 'persistentDisk', validate: cloudDisk('pdName') },
  { field: 'awsElasticBlockStore', validate: cloudDisk('volumeID') },
  { field: 'glusterfs', validate: validateGlusterfs },
  { field: 'flocker', validate: validateFlocker },
  { field: 'nfs', validate: validateNfs },
  {
    field: 'rbd',
    validate: (source, path) => [
      ...requireItems(source, 'monitors', path),
      ...requireField(source, 'image', path),
    ],
  },
  { field: 'quobyte', validate: validateQuobyte },
  {
    field: 'cephfs',
    extraPath: 'cephFS',
    validate: (source, path) => requireItems(source, 'monitors', path),
  },
  { field: 'iscsi', validate: validateIscsi },
  { field: 'cinder', validate: validateCinder },
  { field: 'fc', validate: validateFibreChannel },
  { field: 'flexVolume', toleratesOthers: true, validate: validateFlexVolume },
  { field: 'azureFile', validate: validateAzureFile },
  { field: 'vsphereVolume', validate: needs('volumePath') },
  { field: 'photonPersistentDisk', validate: needs('pdID') },
  { field: 'portworxVolume', validate: needs('volumeID') },
  { field: 'azureDisk', validate: validateAzureDisk },
  { field: 'scaleIO', validate: validateScaleIo },
  { field: 'local', validate: validateLocal },
  { field: 'storageos', validate: validateStorageOs },
  { field: 'csi', validate: validateCsi },
];

export const SOURCE_FIELDS: readonly string[] = SOURCES.map(({ field }) => field);

/** Exactly one source, and that one in order. */
export function validateVolumeSource(spec: JsonObject, path: string, volumeName: string): FieldError[] {
  const given = SOURCES.filter(({ field }) => spec[field] !== undefined && spec[field] !== null);
  if (given.length === 0) return [required(path, 'must specify a volume type')];
  return given.flatMap((source, at) => {
    const { field } = source;
    if (at > 0 && source.toleratesOthers !== true) {
      return [
        forbiddenField(`${path}.${source.extraPath ?? field}`, 'may not specify more than 1 volume type'),
      ];
    }
    const errors = source.validate(part(spec, field), `${path}.${source.path ?? field}`, volumeName);
    return field === 'local' && spec.nodeAffinity === undefined
      ? [...errors, required(`${path}.nodeAffinity`, 'Local volume requires node affinity')]
      : errors;
  });
}
