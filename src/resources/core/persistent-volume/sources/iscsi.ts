import type { ISCSIPersistentVolumeSource } from '../../../../api/types/core/v1.ts';
import type { FieldPath } from '../../../../object/field-path.ts';
import { mustBeWithin } from '../../../rules/numbers.ts';
import { mustHaveTexts } from '../../../rules/required.ts';

/** What the kernel takes as the name of an interface. */
const MAX_INTERFACE_CHARS = 64;
const TOO_LONG =
  'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';

export function validateIscsi(at: FieldPath, source: ISCSIPersistentVolumeSource, volumeName: string): void {
  const { targetPortal: portal = '', initiatorName } = source;
  mustHaveTexts(at, source, ['targetPortal']);
  // Kubernetes writes these two fields in lower case.
  if (initiatorName !== undefined && `${volumeName}:${portal}`.length > MAX_INTERFACE_CHARS)
    at.field('targetportal').invalid(portal, TOO_LONG);
  validateTarget(at, source);
  if (initiatorName !== undefined) mustBeIscsiName(at.field('initiatorname'), initiatorName);
}

function validateTarget(at: FieldPath, source: ISCSIPersistentVolumeSource): void {
  const { iqn = '', lun, secretRef } = source;
  if (iqn === '') at.field('iqn').required();
  else mustBeIscsiName(at.field('iqn'), iqn);
  mustBeWithin(at.field('lun'), lun, { least: 0, most: 255 });
  const isAuthenticated = source.chapAuthDiscovery === true || source.chapAuthSession === true;
  if (secretRef !== undefined) mustHaveTexts(at.field('secretRef'), secretRef, ['name']);
  else if (isAuthenticated) at.field('secretRef').required();
}

const IQN = /iqn\.\d{4}-\d{2}\.[A-Za-z0-9\-.]+:[^,;*&$|\s]+$/;
const EUI = /^eui.[A-Za-z0-9]{16}$/;
const NAA = /^naa.[A-Za-z0-9]{32}$/;

/** Names of targets and initiators (RFC 3720, section 3.2.6.3): iqn., eui. or naa. */
function mustBeIscsiName(at: FieldPath, name: string): void {
  const isName = (name.startsWith('iqn') && IQN.test(name)) || EUI.test(name) || NAA.test(name);
  if (!isName) at.invalid(name, 'must be valid format');
}
