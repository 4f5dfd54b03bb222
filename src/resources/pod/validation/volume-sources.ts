import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { forbiddenField, invalidValue, required } from '../../../object/field-errors.ts';
import { part, parts, text } from '../../../object/parts.ts';
import { validateFlocker, validateQuobyteRegistry } from '../../validation/network-disks.ts';
import { each, validateName, validateRange } from '../../validation/values.ts';
import { validateClaimTemplate } from './claim-template.ts';
import * as network from './network-volumes.ts';
import { validateDescendingPath, validateFileMode, validateNoBacksteps } from './paths.ts';
import { validateDownwardFile, validateKeyToPath, validateProjected } from './projected-volume.ts';

/** Rules of one kind of volume. What its type says is required is checked from the type. */
export type VolumeRule = (source: JsonObject, path: string) => FieldError[];

const NOTHING: VolumeRule = () => [];

const requiredTexts =
  (...names: readonly string[]): VolumeRule =>
  (source, path) =>
    names.filter((name) => text(source[name]) === '').map((name) => required(`${path}.${name}`));

const HOST_PATH: VolumeRule = (source, path) => validateNoBacksteps(text(source.path), `${path}.path`);

const GIT_REPO: VolumeRule = (source, path) =>
  validateDescendingPath(text(source.directory), `${path}.directory`);

const EMPTY_DIR: VolumeRule = (source, path) =>
  text(source.sizeLimit).startsWith('-')
    ? [forbiddenField(`${path}.sizeLimit`, 'SizeLimit field must be a valid resource quantity')]
    : [];

const MAX_PARTITION = 255;

/** 0 stands for the whole disk, though the message leaves it out. */
const PARTITIONED: VolumeRule = (source, path) =>
  validateRange(`${path}.partition`, source.partition, 0, MAX_PARTITION).map((error) => ({
    ...error,
    message: error.message.replace('between 0', 'between 1'),
  }));

const keyedFiles =
  (nameField: string): VolumeRule =>
  (source, path) => [
    ...requiredTexts(nameField)(source, path),
    ...validateFileMode(source.defaultMode, `${path}.defaultMode`),
    ...each(parts(source, 'items'), `${path}.items`, validateKeyToPath),
  ];

const DOWNWARD_API: VolumeRule = (source, path) => [
  ...validateFileMode(source.defaultMode, `${path}.defaultMode`),
  ...parts(source, 'items').flatMap((file) => validateDownwardFile(file, path)),
];

const EPHEMERAL: VolumeRule = (source, path) =>
  source.volumeClaimTemplate === undefined
    ? [required(`${path}.volumeClaimTemplate`)]
    : validateClaimTemplate(part(source, 'volumeClaimTemplate'), `${path}.volumeClaimTemplate`);

const MAX_DRIVER_BYTES = 63;

const CSI: VolumeRule = (source, path) => {
  const driver = text(source.driver);
  const errors = validateName(`${path}.driver`, driver.toLowerCase(), 'dns-subdomain');
  if (driver.length > MAX_DRIVER_BYTES) {
    const message = `Too long: must have at most ${MAX_DRIVER_BYTES} bytes`;
    errors.push({ type: 'FieldValueTooLong', field: `${path}.driver`, message });
  }
  if (source.nodePublishSecretRef === undefined) return errors;
  const secret = text(part(source, 'nodePublishSecretRef').name);
  const named =
    secret === ''
      ? [required(`${path}.nodePublishSecretRef.name`)]
      : validateName(`${path}.name`, secret, 'dns-subdomain');
  return [...errors, ...named];
};

const IMAGE: VolumeRule = (source, path) =>
  text(source.pullPolicy) === '' ? [required(`${path}.pullPolicy`)] : [];

const RESERVED_DOMAINS = /(^|\.)(kubernetes|k8s)\.io$/;

const FLEX: VolumeRule = (source, path) =>
  Object.keys(part(source, 'options'))
    .filter((key) => RESERVED_DOMAINS.test((key.split('/', 1)[0] ?? '').toLowerCase()))
    .map((key) =>
      invalidValue(`${path}.options[${key}]`, key, 'kubernetes.io and k8s.io namespaces are reserved'),
    );

/** In the order they are looked at: where two are given, the second is the one too many. */
export const VOLUME_KINDS: ReadonlyMap<string, VolumeRule> = new Map(
  Object.entries<VolumeRule>({
    emptyDir: EMPTY_DIR,
    hostPath: HOST_PATH,
    gitRepo: GIT_REPO,
    gcePersistentDisk: PARTITIONED,
    awsElasticBlockStore: PARTITIONED,
    secret: keyedFiles('secretName'),
    nfs: network.validateNfs,
    iscsi: network.validateIscsi,
    glusterfs: NOTHING,
    flocker: validateFlocker,
    persistentVolumeClaim: NOTHING,
    rbd: network.validateMonitors,
    cinder: network.validateSecretReference,
    cephfs: network.validateMonitors,
    quobyte: validateQuobyteRegistry,
    downwardAPI: DOWNWARD_API,
    fc: network.validateFibreChannel,
    flexVolume: FLEX,
    configMap: keyedFiles('name'),
    azureFile: NOTHING,
    vsphereVolume: NOTHING,
    photonPersistentDisk: NOTHING,
    portworxVolume: NOTHING,
    azureDisk: network.validateAzureDisk,
    storageos: network.validateStorageOs,
    projected: validateProjected,
    scaleIO: requiredTexts('volumeName'),
    csi: CSI,
    ephemeral: EPHEMERAL,
    image: IMAGE,
  }),
);
