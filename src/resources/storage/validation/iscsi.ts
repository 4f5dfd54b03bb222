import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { invalidValue, required } from '../../../object/field-errors.ts';
import { count, part, text } from '../../../object/parts.ts';
import { optionalText } from '../../validation/optional-text.ts';
import { requireField } from './required-fields.ts';

const IQN = /iqn\.\d{4}-\d{2}\.[A-Za-z0-9\-.]+:[^,;*&$|\s]+$/;
const EUI = /^eui.[A-Za-z0-9]{16}$/;
const NAA = /^naa.[A-Za-z0-9]{32}$/;
const MAX_LUN = 255;
/** What the kernel takes as the name of an interface. */
const MAX_INTERFACE_CHARS = 64;

/** Names of targets and initiators (RFC 3720, section 3.2.6.3): iqn., eui. or naa. */
const isIscsiName = (name: string): boolean =>
  (name.startsWith('iqn') && IQN.test(name)) || EUI.test(name) || NAA.test(name);

export function validateIscsi(source: JsonObject, path: string, volumeName: string): FieldError[] {
  const portal = text(source.targetPortal);
  const initiator = optionalText(source, 'initiatorName');
  const errors = requireField(source, 'targetPortal', path);
  if (initiator !== undefined && `${volumeName}:${portal}`.length > MAX_INTERFACE_CHARS) {
    const why =
      'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';
    errors.push(invalidValue(`${path}.targetportal`, portal, why));
  }
  return [
    ...errors,
    ...validateTarget(source, path),
    ...(initiator === undefined || isIscsiName(initiator)
      ? []
      : [invalidValue(`${path}.initiatorname`, initiator, 'must be valid format')]),
  ];
}

function validateTarget(source: JsonObject, path: string): FieldError[] {
  const iqn = text(source.iqn);
  const lun = count(source.lun);
  const errors: FieldError[] = [];
  if (iqn === '') errors.push(required(`${path}.iqn`));
  else if (!isIscsiName(iqn)) errors.push(invalidValue(`${path}.iqn`, iqn, 'must be valid format'));
  if (lun < 0 || lun > MAX_LUN) errors.push(invalidValue(`${path}.lun`, lun, LUN_RANGE));
  const authenticates = source.chapAuthDiscovery === true || source.chapAuthSession === true;
  if (source.secretRef === undefined) {
    if (authenticates) errors.push(required(`${path}.secretRef`));
  } else errors.push(...requireField(part(source, 'secretRef'), 'name', `${path}.secretRef`));
  return errors;
}

const LUN_RANGE = `must be between 0 and ${MAX_LUN}, inclusive`;

export function validateFibreChannel(source: JsonObject, path: string): FieldError[] {
  const names = listLength(source.targetWWNs);
  const ids = listLength(source.wwids);
  const errors: FieldError[] = [];
  if (names === 0 && ids === 0) {
    errors.push(required(`${path}.targetWWNs`, 'must specify either targetWWNs or wwids, but not both'));
  }
  if (names > 0 && ids > 0) {
    const why = 'targetWWNs and wwids can not be specified simultaneously';
    errors.push(invalidValue(`${path}.targetWWNs`, source.targetWWNs, why));
  }
  if (names === 0) return errors;
  if (typeof source.lun !== 'number') {
    errors.push(required(`${path}.lun`, 'lun is required if targetWWNs is specified'));
  } else if (source.lun < 0 || source.lun > MAX_LUN) {
    errors.push(invalidValue(`${path}.lun`, source.lun, LUN_RANGE));
  }
  return errors;
}

const listLength = (value: unknown): number => (Array.isArray(value) ? value.length : 0);
