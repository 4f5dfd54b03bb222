import { posix } from 'node:path';
import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { eachInvalid, forbiddenField, notSupported, required } from '../../../object/field-errors.ts';
import { problemsOf } from '../../../object/field-path.ts';
import { checkName } from '../../../object/formats.ts';
import { part, text } from '../../../object/parts.ts';
import { validateNodeSelector } from '../../pod/validation/node-selector.ts';
import {
  quantitiesOf,
  validateBasicQuantity,
  validatePositiveQuantity,
} from '../../validation/quantity-values.ts';
import { validateAccessModes } from './access-modes.ts';
import { validateVolumeSource } from './volume-source.ts';

const INLINE = 'in the context of inline volumes';

/** The spec of a persistent volume. Values outside enumerations are found by the type's description. */
export function validateVolumeSpec(spec: JsonObject, path: string, volumeName: string): FieldError[] {
  const storageClass = text(spec.storageClassName);
  return [
    ...validateAccessModes(spec, path),
    ...validateCapacity(spec, path),
    ...(spec.nodeAffinity === undefined
      ? []
      : validateNodeAffinity(part(spec, 'nodeAffinity'), `${path}.nodeAffinity`)),
    ...validateVolumeSource(spec, path, volumeName),
    ...validateRecycling(spec, path),
    ...(storageClass === ''
      ? []
      : eachInvalid(`${path}.storageClassName`, storageClass, checkName(storageClass, 'dns-subdomain'))),
  ];
}

/** The spec of a volume that lives in another object (an attachment): of CSI only, and bound to nothing. */
export function validateInlineVolumeSpec(spec: JsonObject, path: string): FieldError[] {
  const absent = (field: string, given: boolean): FieldError[] =>
    given ? [forbiddenField(`${path}.${field}`, `may not be specified ${INLINE}`)] : [];
  const only = (field: string, value: string): FieldError[] =>
    text(spec[field], value) === value
      ? []
      : [
          forbiddenField(
            `${path}.${field}`,
            `may ${field === 'volumeMode' ? 'not specify volumeMode other than' : 'only be'} ${value} ${INLINE}`,
          ),
        ];
  return [
    ...absent('claimRef', spec.claimRef !== undefined),
    ...absent('capacity', Object.keys(part(spec, 'capacity')).length > 0),
    ...(spec.csi === undefined ? [required(`${path}.csi`, `has to be specified ${INLINE}`)] : []),
    ...validateAccessModes(spec, path),
    ...only('persistentVolumeReclaimPolicy', 'Retain'),
    ...absent('nodeAffinity', spec.nodeAffinity !== undefined),
    ...validateVolumeSource(spec, path, ''),
    ...absent('storageClassName', text(spec.storageClassName) !== ''),
    ...only('volumeMode', 'Filesystem'),
  ];
}

function validateCapacity(spec: JsonObject, path: string): FieldError[] {
  const capacity = part(spec, 'capacity');
  const names = Object.keys(capacity);
  const field = `${path}.capacity`;
  return [
    ...(names.length === 0 ? [required(field)] : []),
    ...(names.length === 1 && names[0] === 'storage' ? [] : [notSupported(field, capacity, ['storage'])]),
    ...quantitiesOf(capacity).flatMap(([name, value]) => [
      ...validateBasicQuantity(value, `${field}[${name}]`),
      ...validatePositiveQuantity(value, `${field}[${name}]`),
    ]),
  ];
}

function validateNodeAffinity(affinity: JsonObject, path: string): FieldError[] {
  return affinity.required === undefined
    ? [required(`${path}.required`, 'must specify required node constraints')]
    : problemsOf((at) => validateNodeSelector(at, part(affinity, 'required')), `${path}.required`);
}

/** Recycling would empty the whole node. */
function validateRecycling(spec: JsonObject, path: string): FieldError[] {
  const target = text(part(spec, 'hostPath').path);
  const recycles = spec.persistentVolumeReclaimPolicy === 'Recycle';
  return recycles && target !== '' && posix.normalize(target) === '/'
    ? [
        forbiddenField(
          `${path}.persistentVolumeReclaimPolicy`,
          "may not be 'recycle' for a hostPath mount of '/'",
        ),
      ]
    : [];
}
