import type {
  CinderPersistentVolumeSource,
  GlusterfsPersistentVolumeSource,
  StorageOSPersistentVolumeSource,
} from '../../../../api/types/core/v1.ts';
import type { FieldPath } from '../../../../object/field-path.ts';
import { mustBeName, mustBeNamed } from '../../../rules/names.ts';
import { mustHaveTexts } from '../../../rules/required.ts';

/** Disks over the network, as far as volumes of pods have other rules for them, or none. */

export function validateGlusterfs(at: FieldPath, source: GlusterfsPersistentVolumeSource): void {
  const { endpointsNamespace: namespace } = source;
  const path = at.field('endpointsNamespace');
  mustHaveTexts(at, source, ['endpoints', 'path']);
  if (namespace === '')
    path.invalid(namespace, 'if the endpointnamespace is set, it must be a valid namespace name');
  else if (namespace !== undefined) mustBeName(path, namespace, 'dns-label');
}

export function validateCinder(at: FieldPath, source: CinderPersistentVolumeSource): void {
  mustHaveTexts(at, source, ['volumeID']);
  mustNameSecret(at, source);
}

export function validateStorageOs(at: FieldPath, source: StorageOSPersistentVolumeSource): void {
  const { volumeName = '', volumeNamespace = '' } = source;
  mustBeNamed(at.field('volumeName'), volumeName, 'dns-label');
  if (volumeNamespace !== '') mustBeName(at.field('volumeNamespace'), volumeNamespace, 'dns-label');
  mustNameSecret(at, source);
}

interface HoldsSecret {
  readonly secretRef?: { readonly name?: string; readonly namespace?: string };
}

/** A secret that is referred to must be named, with its namespace. */
function mustNameSecret(at: FieldPath, { secretRef }: HoldsSecret): void {
  if (secretRef !== undefined) mustHaveTexts(at.field('secretRef'), secretRef, ['name', 'namespace']);
}
