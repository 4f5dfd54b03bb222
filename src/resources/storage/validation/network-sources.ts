import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { eachInvalid, invalidValue, required } from '../../../object/field-errors.ts';
import { checkName } from '../../../object/formats.ts';
import { part, text } from '../../../object/parts.ts';
import { validateQuobyteRegistry } from '../../validation/network-disks.ts';
import { optionalText } from '../../validation/optional-text.ts';
import { requireSecretNames } from './csi-names.ts';
import { requireField, requireFields } from './required-fields.ts';

export function validateNfs(source: JsonObject, path: string): FieldError[] {
  const target = text(source.path);
  return [
    ...requireFields(source, ['server', 'path'], path),
    ...(target.startsWith('/') ? [] : [invalidValue(`${path}.path`, target, 'must be an absolute path')]),
  ];
}

export function validateGlusterfs(source: JsonObject, path: string): FieldError[] {
  const errors = requireFields(source, ['endpoints', 'path'], path);
  const namespace = optionalText(source, 'endpointsNamespace');
  if (namespace === undefined) return errors;
  const reasons =
    namespace === ''
      ? ['if the endpointnamespace is set, it must be a valid namespace name']
      : checkName(namespace, 'dns-label');
  return [...errors, ...eachInvalid(`${path}.endpointsNamespace`, namespace, reasons)];
}

export function validateQuobyte(source: JsonObject, path: string): FieldError[] {
  return [...validateQuobyteRegistry(source, path), ...requireField(source, 'volume', path)];
}

export function validateCinder(source: JsonObject, path: string): FieldError[] {
  return [
    ...requireField(source, 'volumeID', path),
    ...(source.secretRef === undefined
      ? []
      : requireSecretNames(part(source, 'secretRef'), `${path}.secretRef`)),
  ];
}

export function validateFlexVolume(source: JsonObject, path: string): FieldError[] {
  const reserved = Object.keys(part(source, 'options')).filter((key) => {
    const namespace = `.${key.split('/')[0]?.toLowerCase()}`;
    return namespace.endsWith('.kubernetes.io') || namespace.endsWith('.k8s.io');
  });
  return [
    ...requireField(source, 'driver', path),
    ...reserved.map((key) =>
      invalidValue(`${path}.options[${key}]`, key, 'kubernetes.io and k8s.io namespaces are reserved'),
    ),
  ];
}

export const validateScaleIo = (source: JsonObject, path: string): FieldError[] =>
  requireFields(source, ['gateway', 'system', 'volumeName'], path);

export function validateStorageOs(source: JsonObject, path: string): FieldError[] {
  const name = text(source.volumeName);
  const namespace = text(source.volumeNamespace);
  return [
    ...(name === ''
      ? [required(`${path}.volumeName`)]
      : eachInvalid(`${path}.volumeName`, name, checkName(name, 'dns-label'))),
    ...(namespace === ''
      ? []
      : eachInvalid(`${path}.volumeNamespace`, namespace, checkName(namespace, 'dns-label'))),
    ...(source.secretRef === undefined
      ? []
      : requireSecretNames(part(source, 'secretRef'), `${path}.secretRef`)),
  ];
}
