import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { part, text } from '../../../object/parts.ts';
import { validateDriverName, validateSecretReference } from './csi-names.ts';
import { requireField } from './required-fields.ts';

/** Secrets whose names are looked at; that of staging never was (Kubernetes: validateCSIPersistentVolumeSource). */
const SECRETS = [
  'controllerPublishSecretRef',
  'controllerExpandSecretRef',
  'nodePublishSecretRef',
  'nodeExpandSecretRef',
];

export function validateCsi(source: JsonObject, path: string): FieldError[] {
  return [
    ...validateDriverName(text(source.driver), `${path}.driver`),
    ...requireField(source, 'volumeHandle', path),
    ...SECRETS.filter((field) => source[field] !== undefined).flatMap((field) =>
      validateSecretReference(part(source, field), `${path}.${field}`),
    ),
  ];
}
