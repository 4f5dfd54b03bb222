import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { eachInvalid, invalidValue, required } from '../../../object/field-errors.ts';
import { checkName } from '../../../object/formats.ts';
import { part, text } from '../../cells.ts';
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

export function validateFlocker(source: JsonObject, path: string): FieldError[] {
  const name = text(source.datasetName);
  const uuid = text(source.datasetUUID);
  const errors: FieldError[] = [];
  if (name === '' && uuid === '')
    errors.push(required(path, 'one of datasetName and datasetUUID is required'));
  if (name !== '' && uuid !== '') {
    const why = 'datasetName and datasetUUID can not be specified simultaneously';
    errors.push(invalidValue(path, 'resource', why));
  }
  if (name.includes('/')) errors.push(invalidValue(`${path}.datasetName`, name, "must not contain '/'"));
  return errors;
}

const MAX_TENANT_CHARS = 64;
const HOST_PORT = /^(\[[^[\]]*\]|[^:[\]]*):[^:]*$/;

export function validateQuobyte(source: JsonObject, path: string): FieldError[] {
  return [...validateRegistry(source, path), ...requireField(source, 'volume', path)];
}

function validateRegistry(source: JsonObject, path: string): FieldError[] {
  const registry = text(source.registry);
  const pairs = 'must be a host:port pair or multiple pairs separated by commas';
  if (registry === '') return [required(`${path}.registry`, pairs)];
  if (text(source.tenant).length > MAX_TENANT_CHARS) {
    const why = `must be a UUID and may not exceed a length of ${MAX_TENANT_CHARS} characters`;
    return [required(`${path}.tenant`, why)];
  }
  return registry
    .split(',')
    .filter((pair) => !HOST_PORT.test(pair))
    .map(() => invalidValue(`${path}.registry`, registry, pairs));
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
