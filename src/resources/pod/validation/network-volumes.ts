import type {
  ISCSIVolumeSource,
  LocalObjectReference,
  StorageOSVolumeSource,
} from '../../../api/types/core/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { mustBeName, mustBeNamed } from '../../rules/names.ts';
import { mustBeWithin } from '../../rules/numbers.ts';

/** Disks over the network, as far as persistent volumes have other rules for them. */

/** A secret that is referred to must be named. */
export function mustNameSecret(
  at: FieldPath,
  { secretRef }: { readonly secretRef?: LocalObjectReference },
): void {
  if (secretRef !== undefined && (secretRef.name ?? '') === '')
    at.field('secretRef').field('name').required();
}

const INITIATORS: Readonly<Record<string, RegExp>> = {
  iqn: /iqn\.\d{4}-\d{2}\.([a-zA-Z0-9\-.]+)(:[^,;*&$|\s]+)$/,
  eui: /^eui.[a-zA-Z0-9]{16}$/,
  naa: /^naa.[a-zA-Z0-9]{32}$/,
};

const LUNS = { least: 0, most: 255 };

export function validateIscsi(at: FieldPath, source: ISCSIVolumeSource): void {
  const { iqn = '', lun, initiatorName, secretRef } = source;
  const isAuthenticated = source.chapAuthDiscovery === true || source.chapAuthSession === true;
  if (iqn !== '') mustBeInitiator(at.field('iqn'), iqn);
  mustBeWithin(at.field('lun'), lun, LUNS);
  if (isAuthenticated && secretRef === undefined) at.field('secretRef').required();
  if (initiatorName !== undefined) mustBeInitiator(at.field('initiatorname'), initiatorName);
}

function mustBeInitiator(at: FieldPath, name: string): void {
  const pattern = INITIATORS[name.slice(0, 3)];
  if (pattern === undefined) at.invalid(name, 'must be valid format starting with iqn, eui, or naa');
  else if (!pattern.test(name)) at.invalid(name, 'must be valid format');
}

export function validateStorageOs(at: FieldPath, source: StorageOSVolumeSource): void {
  const { volumeName = '', volumeNamespace = '' } = source;
  mustBeNamed(at.field('volumeName'), volumeName, 'dns-label');
  if (volumeNamespace !== '') mustBeName(at.field('volumeNamespace'), volumeNamespace, 'dns-label');
  mustNameSecret(at, source);
}
