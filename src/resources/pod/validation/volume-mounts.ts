import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import {
  forbiddenField,
  invalidValue,
  notFoundValue,
  notSupported,
  required,
} from '../../../object/field-errors.ts';
import { part, parts, text } from '../../cells.ts';
import { each } from '../../validation/values.ts';
import { validateDescendingPath, validateNoBacksteps } from './paths.ts';

type Volumes = ReadonlyMap<string, JsonObject>;

/** Volumes as directories. Some messages are about the list, not the mount: so Kubernetes names the field. */
export function validateMounts(container: JsonObject, path: string, volumes: Volumes): FieldError[] {
  const devices = parts(container, 'volumeDevices');
  const list = `${path}.volumeMounts`;
  const points = new Set<string>();
  return each(parts(container, 'volumeMounts'), list, (mount, at) => {
    const name = text(mount.name);
    const point = text(mount.mountPath);
    const errors: FieldError[] = [];
    if (!volumes.has(name)) errors.push(notFoundValue(`${at}.name`, name));
    if (points.has(point)) errors.push(invalidValue(`${at}.mountPath`, point, 'must be unique'));
    points.add(point);
    if (devices.some((device) => device.name === name))
      errors.push(invalidValue(`${at}.name`, name, 'must not already exist in volumeDevices'));
    if (devices.some(({ devicePath }) => devicePath === point)) {
      const why = 'must not already exist as a path in volumeDevices';
      errors.push(invalidValue(`${at}.mountPath`, point, why));
    }
    return [
      ...errors,
      ...validateSubPaths(mount, at, list, volumes.get(name)),
      ...validatePropagation(mount, container, `${list}.mountPropagation`),
      ...validateRecursiveReadOnly(mount, `${list}.recursiveReadOnly`),
    ];
  });
}

function validateSubPaths(
  mount: JsonObject,
  path: string,
  list: string,
  volume: JsonObject | undefined,
): FieldError[] {
  const subPath = text(mount.subPath);
  const expression = text(mount.subPathExpr);
  const errors: FieldError[] = [];
  if (volume?.image !== undefined) {
    const why = 'not allowed in image volume sources';
    if (subPath !== '') errors.push(invalidValue(`${path}.subPath`, subPath, why));
    if (expression !== '') errors.push(invalidValue(`${path}.subPathExpr`, expression, why));
  }
  if (subPath !== '' && expression !== '') {
    const why = 'subPathExpr and subPath are mutually exclusive';
    errors.push(invalidValue(`${path}.subPathExpr`, expression, why));
  }
  return [
    ...errors,
    ...validateDescendingPath(subPath, `${list}.subPath`),
    ...validateDescendingPath(expression, `${list}.subPathExpr`),
  ];
}

function validatePropagation(mount: JsonObject, container: JsonObject, path: string): FieldError[] {
  const privileged = part(container, 'securityContext').privileged === true;
  if (mount.mountPropagation !== 'Bidirectional' || privileged) return [];
  return [forbiddenField(path, 'Bidirectional mount propagation is available only to privileged containers')];
}

const RECURSIVE = ['Disabled', 'Enabled', 'IfPossible'];

function validateRecursiveReadOnly(mount: JsonObject, path: string): FieldError[] {
  const { recursiveReadOnly: value, mountPropagation = 'None' } = mount;
  if (value === undefined || value === 'Disabled') return [];
  if (!RECURSIVE.includes(text(value))) return [notSupported(path, value, RECURSIVE)];
  const errors: FieldError[] = [];
  if (mount.readOnly !== true)
    errors.push(forbiddenField(path, 'may only be specified when readOnly is true'));
  if (mountPropagation !== 'None') {
    const why = 'may only be specified when mountPropagation is None or not specified';
    errors.push(forbiddenField(path, why));
  }
  return errors;
}

/** Volumes as block devices: only what has a block device behind it. */
export function validateDevices(container: JsonObject, path: string, volumes: Volumes): FieldError[] {
  const mounts = parts(container, 'volumeMounts');
  const names = new Set<string>();
  const paths = new Set<string>();
  return each(parts(container, 'volumeDevices'), `${path}.volumeDevices`, (device, at) => {
    const name = text(device.name);
    const place = text(device.devicePath);
    const errors = validateDeviceVolume(name, volumes.get(name), `${at}.name`);
    if (names.has(name)) errors.push(invalidValue(`${at}.name`, name, 'must be unique'));
    if (paths.has(place)) errors.push(invalidValue(`${at}.devicePath`, place, 'must be unique'));
    if (validateNoBacksteps(place, '').length > 0)
      errors.push(invalidValue(`${at}.devicePath`, place, "can not contain backsteps ('..')"));
    if (mounts.some((mount) => mount.name === name))
      errors.push(invalidValue(`${at}.name`, name, 'must not already exist in volumeMounts'));
    if (mounts.some(({ mountPath }) => mountPath === place)) {
      const why = 'must not already exist as a path in volumeMounts';
      errors.push(invalidValue(`${at}.devicePath`, place, why));
    }
    names.add(name);
    paths.add(place);
    return errors;
  });
}

function validateDeviceVolume(name: string, volume: JsonObject | undefined, path: string): FieldError[] {
  if (name === '') return [required(path)];
  if (volume === undefined) return [notFoundValue(path, name)];
  if (volume.persistentVolumeClaim !== undefined || volume.ephemeral !== undefined) return [];
  const why = 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode';
  return [invalidValue(path, name, why)];
}
