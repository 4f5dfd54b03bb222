import type {
  Container,
  SecurityContext,
  Volume,
  VolumeDevice,
  VolumeMount,
} from '../../../api/types/core/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { hasBacksteps, mustDescend } from './file-paths.ts';

type Volumes = ReadonlyMap<string, Volume>;

/** Volumes as directories; `at` is their list. Some messages are about the list, not the mount: so Kubernetes names the field. */
export function validateMounts(
  at: FieldPath,
  { volumeMounts, volumeDevices = [], securityContext = {} }: Container,
  volumes: Volumes,
): void {
  const points = new Set<string>();
  for (const [path, mount] of at.each(volumeMounts)) {
    const { name = '', mountPath = '' } = mount;
    if (!volumes.has(name)) path.field('name').notFound(name);
    if (points.has(mountPath)) path.field('mountPath').invalid(mountPath, 'must be unique');
    points.add(mountPath);
    refuseDevice(path, mount, volumeDevices);
    validateSubPaths({ list: at, mount: path }, mount, volumes.get(name));
    if (mount.mountPropagation === 'Bidirectional') validatePropagation(at, securityContext);
    validateRecursiveReadOnly(at.field('recursiveReadOnly'), mount);
  }
}

/** A volume is a directory or a device, and no two are in one place. */
function refuseDevice(
  at: FieldPath,
  { name = '', mountPath = '' }: VolumeMount,
  devices: readonly VolumeDevice[],
): void {
  if (devices.some((device) => device.name === name))
    at.field('name').invalid(name, 'must not already exist in volumeDevices');
  if (devices.some(({ devicePath }) => devicePath === mountPath))
    at.field('mountPath').invalid(mountPath, 'must not already exist as a path in volumeDevices');
}

function validateSubPaths(
  at: { readonly list: FieldPath; readonly mount: FieldPath },
  { subPath = '', subPathExpr = '' }: VolumeMount,
  volume: Volume | undefined,
): void {
  if (subPath === '' && subPathExpr === '') return;
  const expression = at.mount.field('subPathExpr');
  if (volume?.image !== undefined && at.list.minor < 33) {
    const why = 'not allowed in image volume sources';
    if (subPath !== '') at.mount.field('subPath').invalid(subPath, why);
    if (subPathExpr !== '') expression.invalid(subPathExpr, why);
  }
  if (subPath !== '' && subPathExpr !== '')
    expression.invalid(subPathExpr, 'subPathExpr and subPath are mutually exclusive');
  mustDescend(at.list.field('subPath'), subPath);
  mustDescend(at.list.field('subPathExpr'), subPathExpr);
}

/** For bidirectional propagation. */
function validatePropagation(at: FieldPath, { privileged }: SecurityContext): void {
  if (privileged !== true)
    at.field('mountPropagation').forbidden(
      'Bidirectional mount propagation is available only to privileged containers',
    );
}

const RECURSIVE = ['Disabled', 'Enabled', 'IfPossible'];

function validateRecursiveReadOnly(at: FieldPath, mount: VolumeMount): void {
  const { recursiveReadOnly: value, mountPropagation = 'None', readOnly } = mount;
  if (value === undefined || value === 'Disabled') return;
  if (!RECURSIVE.includes(value)) {
    at.notSupported(value, RECURSIVE);
    return;
  }
  if (readOnly !== true) at.forbidden('may only be specified when readOnly is true');
  if (mountPropagation !== 'None')
    at.forbidden('may only be specified when mountPropagation is None or not specified');
}

/** Validates block devices: only volumes with a block device behind them. */
export function validateDevices(
  at: FieldPath,
  { volumeDevices, volumeMounts = [] }: Container,
  volumes: Volumes,
): void {
  const names = new Set<string>();
  const paths = new Set<string>();
  for (const [path, { name = '', devicePath = '' }] of at.each(volumeDevices)) {
    const ofName = path.field('name');
    const ofPath = path.field('devicePath');
    mustBeBlockVolume(ofName, name, volumes.get(name));
    if (names.has(name)) ofName.invalid(name, 'must be unique');
    if (paths.has(devicePath)) ofPath.invalid(devicePath, 'must be unique');
    if (hasBacksteps(devicePath)) ofPath.invalid(devicePath, "can not contain backsteps ('..')");
    if (volumeMounts.some((mount) => mount.name === name))
      ofName.invalid(name, 'must not already exist in volumeMounts');
    if (volumeMounts.some(({ mountPath }) => mountPath === devicePath))
      ofPath.invalid(devicePath, 'must not already exist as a path in volumeMounts');
    names.add(name);
    paths.add(devicePath);
  }
}

function mustBeBlockVolume(at: FieldPath, name: string, volume: Volume | undefined): void {
  if (name === '') at.required();
  else if (volume === undefined) at.notFound(name);
  else if (volume.persistentVolumeClaim === undefined && volume.ephemeral === undefined)
    at.invalid(name, 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode');
}
