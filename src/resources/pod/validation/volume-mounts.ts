import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import {
  forbiddenField,
  invalidValue,
  notFoundValue,
  notSupported,
  required,
} from '../../../object/field-errors.ts';
import { objectOf, objectsOf, text } from '../../../object/parts.ts';
import { eachAt } from '../../validation/values.ts';
import { addDescendingPath, hasBacksteps } from './paths.ts';

type Volumes = ReadonlyMap<string, JsonObject>;

/** Volumes as directories. Some messages are about the list, not the mount: so Kubernetes names the field. */
export function validateMounts(
  container: JsonObject,
  path: string,
  volumes: Volumes,
  errors: FieldError[],
): void {
  const list = `${path}.volumeMounts`;
  const points = new Set<string>();
  eachAt(objectsOf(container.volumeMounts), list, (mount, at) => {
    const name = text(mount.name);
    const point = text(mount.mountPath);
    if (!volumes.has(name)) errors.push(notFoundValue(`${at}.name`, name));
    if (points.has(point)) errors.push(invalidValue(`${at}.mountPath`, point, 'must be unique'));
    points.add(point);
    if (container.volumeDevices !== undefined) refuseDevice(mount, container, at, errors);
    if (mount.subPath !== undefined || mount.subPathExpr !== undefined)
      validateSubPaths(mount, { path: at, list }, volumes.get(name), errors);
    if (mount.mountPropagation === 'Bidirectional')
      validatePropagation(container, `${list}.mountPropagation`, errors);
    if (mount.recursiveReadOnly !== undefined)
      validateRecursiveReadOnly(mount, `${list}.recursiveReadOnly`, errors);
  });
}

/** A volume is a directory or a device, and no two are in one place. */
function refuseDevice(mount: JsonObject, container: JsonObject, path: string, errors: FieldError[]): void {
  const devices = objectsOf(container.volumeDevices);
  const name = text(mount.name);
  const point = text(mount.mountPath);
  if (devices.some((device) => device.name === name))
    errors.push(invalidValue(`${path}.name`, name, 'must not already exist in volumeDevices'));
  if (devices.some(({ devicePath }) => devicePath === point)) {
    const why = 'must not already exist as a path in volumeDevices';
    errors.push(invalidValue(`${path}.mountPath`, point, why));
  }
}

function validateSubPaths(
  mount: JsonObject,
  { path, list }: { path: string; list: string },
  volume: JsonObject | undefined,
  errors: FieldError[],
): void {
  const subPath = text(mount.subPath);
  const expression = text(mount.subPathExpr);
  if (volume?.image !== undefined) {
    const why = 'not allowed in image volume sources';
    if (subPath !== '') errors.push(invalidValue(`${path}.subPath`, subPath, why));
    if (expression !== '') errors.push(invalidValue(`${path}.subPathExpr`, expression, why));
  }
  if (subPath !== '' && expression !== '') {
    const why = 'subPathExpr and subPath are mutually exclusive';
    errors.push(invalidValue(`${path}.subPathExpr`, expression, why));
  }
  addDescendingPath(errors, subPath, `${list}.subPath`);
  addDescendingPath(errors, expression, `${list}.subPathExpr`);
}

/** Of a mount in both directions. */
function validatePropagation(container: JsonObject, path: string, errors: FieldError[]): void {
  if (objectOf(container.securityContext).privileged === true) return;
  const why = 'Bidirectional mount propagation is available only to privileged containers';
  errors.push(forbiddenField(path, why));
}

const RECURSIVE = ['Disabled', 'Enabled', 'IfPossible'];

function validateRecursiveReadOnly(mount: JsonObject, path: string, errors: FieldError[]): void {
  const { recursiveReadOnly: value, mountPropagation = 'None' } = mount;
  if (value === 'Disabled') return;
  if (!RECURSIVE.includes(text(value))) {
    errors.push(notSupported(path, value, RECURSIVE));
    return;
  }
  if (mount.readOnly !== true)
    errors.push(forbiddenField(path, 'may only be specified when readOnly is true'));
  if (mountPropagation !== 'None') {
    const why = 'may only be specified when mountPropagation is None or not specified';
    errors.push(forbiddenField(path, why));
  }
}

/** Volumes as block devices: only what has a block device behind it. */
export function validateDevices(
  container: JsonObject,
  path: string,
  volumes: Volumes,
  errors: FieldError[],
): void {
  const mounts = objectsOf(container.volumeMounts);
  const names = new Set<string>();
  const paths = new Set<string>();
  eachAt(objectsOf(container.volumeDevices), `${path}.volumeDevices`, (device, at) => {
    const name = text(device.name);
    const place = text(device.devicePath);
    errors.push(...validateDeviceVolume(name, volumes.get(name), `${at}.name`));
    if (names.has(name)) errors.push(invalidValue(`${at}.name`, name, 'must be unique'));
    if (paths.has(place)) errors.push(invalidValue(`${at}.devicePath`, place, 'must be unique'));
    if (hasBacksteps(place))
      errors.push(invalidValue(`${at}.devicePath`, place, "can not contain backsteps ('..')"));
    if (mounts.some((mount) => mount.name === name))
      errors.push(invalidValue(`${at}.name`, name, 'must not already exist in volumeMounts'));
    if (mounts.some(({ mountPath }) => mountPath === place)) {
      const why = 'must not already exist as a path in volumeMounts';
      errors.push(invalidValue(`${at}.devicePath`, place, why));
    }
    names.add(name);
    paths.add(place);
  });
}

function validateDeviceVolume(name: string, volume: JsonObject | undefined, path: string): FieldError[] {
  if (name === '') return [required(path)];
  if (volume === undefined) return [notFoundValue(path, name)];
  if (volume.persistentVolumeClaim !== undefined || volume.ephemeral !== undefined) return [];
  const why = 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode';
  return [invalidValue(path, name, why)];
}
