import type { CSIPersistentVolumeSource, SecretReference } from '../../../../api/types/core/v1.ts';
import type { FieldPath } from '../../../../object/field-path.ts';
import { mustBeNamed } from '../../../rules/names.ts';
import { mustHaveTexts } from '../../../rules/required.ts';
import { mustBeDriverName } from '../../../storage/csi-driver.ts';

/** Secrets whose names are looked at; that of staging never was (Kubernetes: validateCSIPersistentVolumeSource). */
const SECRETS = [
  'controllerPublishSecretRef',
  'controllerExpandSecretRef',
  'nodePublishSecretRef',
  'nodeExpandSecretRef',
] as const;

export function validateCsi(at: FieldPath, source: CSIPersistentVolumeSource): void {
  mustBeDriverName(at.field('driver'), source.driver ?? '');
  mustHaveTexts(at, source, ['volumeHandle']);
  for (const field of SECRETS) {
    const secret = source[field];
    if (secret !== undefined) validateSecret(at.field(field), secret);
  }
}

/** Both its names must be there, and be names. */
function validateSecret(at: FieldPath, { name = '', namespace = '' }: SecretReference): void {
  mustBeNamed(at.field('name'), name, 'dns-subdomain');
  mustBeNamed(at.field('namespace'), namespace, 'dns-label');
}
