import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { invalidValue, notSupported, required } from '../../../object/field-errors.ts';
import { part, text } from '../../../object/parts.ts';
import { strings, validateName, validateRange } from '../../validation/values.ts';

/** Volumes that are somewhere else: file servers, and disks over the network. */

export function validateNfs(source: JsonObject, path: string): FieldError[] {
  const exported = text(source.path);
  return exported.startsWith('/') ? [] : [invalidValue(`${path}.path`, exported, 'must be an absolute path')];
}

export function validateMonitors(source: JsonObject, path: string): FieldError[] {
  return strings(source, 'monitors').length === 0 ? [required(`${path}.monitors`)] : [];
}

/** A secret that is referred to must be named. */
export function validateSecretReference(source: JsonObject, path: string): FieldError[] {
  return source.secretRef !== undefined && text(part(source, 'secretRef').name) === ''
    ? [required(`${path}.secretRef.name`)]
    : [];
}

const INITIATORS: Readonly<Record<string, RegExp>> = {
  iqn: /iqn\.\d{4}-\d{2}\.([a-zA-Z0-9\-.]+)(:[^,;*&$|\s]+)$/,
  eui: /^eui.[a-zA-Z0-9]{16}$/,
  naa: /^naa.[a-zA-Z0-9]{32}$/,
};

const MAX_LUN = 255;

export function validateIscsi(source: JsonObject, path: string): FieldError[] {
  const authenticated = source.chapAuthDiscovery === true || source.chapAuthSession === true;
  const initiator = source.initiatorName;
  return [
    ...(text(source.iqn) === '' ? [] : validateInitiator(text(source.iqn), `${path}.iqn`)),
    ...validateRange(`${path}.lun`, source.lun, 0, MAX_LUN),
    ...(authenticated && source.secretRef === undefined ? [required(`${path}.secretRef`)] : []),
    ...(initiator === undefined ? [] : validateInitiator(text(initiator), `${path}.initiatorname`)),
  ];
}

function validateInitiator(name: string, path: string): FieldError[] {
  const pattern = INITIATORS[name.slice(0, 3)];
  if (pattern === undefined)
    return [invalidValue(path, name, 'must be valid format starting with iqn, eui, or naa')];
  return pattern.test(name) ? [] : [invalidValue(path, name, 'must be valid format')];
}

export function validateFibreChannel(source: JsonObject, path: string): FieldError[] {
  const targets = strings(source, 'targetWWNs');
  const ids = strings(source, 'wwids');
  const errors: FieldError[] = [];
  if (targets.length === 0 && ids.length === 0)
    errors.push(required(`${path}.targetWWNs`, 'must specify either targetWWNs or wwids, but not both'));
  if (targets.length > 0 && ids.length > 0) {
    const why = 'targetWWNs and wwids can not be specified simultaneously';
    errors.push(invalidValue(`${path}.targetWWNs`, targets, why));
  }
  if (targets.length === 0) return errors;
  if (source.lun === undefined)
    return [...errors, required(`${path}.lun`, 'lun is required if targetWWNs is specified')];
  return [...errors, ...validateRange(`${path}.lun`, source.lun, 0, MAX_LUN)];
}

const MANAGED_URIS = [
  '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}',
];
const BLOB_URIS = ['https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd'];

export function validateAzureDisk(source: JsonObject, path: string): FieldError[] {
  const uri = text(source.diskURI);
  if (source.kind === undefined) return [];
  const managed = source.kind === 'Managed';
  if (managed ? uri.startsWith('/subscriptions/') : uri.startsWith('https://')) return [];
  return [notSupported(`${path}.diskURI`, uri, managed ? MANAGED_URIS : BLOB_URIS)];
}

export function validateStorageOs(source: JsonObject, path: string): FieldError[] {
  const name = text(source.volumeName);
  const namespace = text(source.volumeNamespace);
  return [
    ...(name === ''
      ? [required(`${path}.volumeName`)]
      : validateName(`${path}.volumeName`, name, 'dns-label')),
    ...(namespace === '' ? [] : validateName(`${path}.volumeNamespace`, namespace, 'dns-label')),
    ...validateSecretReference(source, path),
  ];
}
