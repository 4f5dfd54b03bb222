import type { ApiObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { readStrictIp } from '../../../object/canonical-ip.ts';
import { eachInvalid, invalidValue, required } from '../../../object/field-errors.ts';
import { checkName } from '../../../object/formats.ts';
import { part, text } from '../../../object/parts.ts';
import { goParentReference } from '../../validation/go-structs.ts';
import { validateImmutableField } from '../../validation/immutable.ts';

const PARENT = 'spec.parentRef';

/** The name is the address, so that nobody can have it twice. */
export function validateIpAddress(ipAddress: ApiObject): FieldError[] {
  return [...validateName(ipAddress.metadata.name ?? ''), ...validateParent(ipAddress)];
}

export const validateIpAddressUpdate = (ipAddress: ApiObject, old: ApiObject): FieldError[] =>
  validateImmutableField(
    PARENT,
    part(ipAddress, 'spec').parentRef,
    part(old, 'spec').parentRef,
    goParentReference,
  );

function validateName(name: string): FieldError[] {
  if (name === '') return [];
  const reading = readStrictIp(name);
  if (reading.kind === 'bad') return [invalidValue('metadata.name', name, reading.why)];
  if (reading.canonical === name) return [];
  return [invalidValue('metadata.name', name, 'must be a canonical format IP address')];
}

function validateParent(ipAddress: ApiObject): FieldError[] {
  const spec = part(ipAddress, 'spec');
  if (spec.parentRef === undefined) return [required(PARENT)];
  const parent = part(spec, 'parentRef');
  const errors: FieldError[] = [];
  const group = text(parent.group);
  // The group of services is the empty one.
  if (group !== '') errors.push(...eachInvalid(`${PARENT}.group`, group, checkName(group, 'dns-subdomain')));
  for (const field of ['resource', 'name', 'namespace']) {
    const value = text(parent[field]);
    if (value !== '')
      errors.push(...eachInvalid(`${PARENT}.${field}`, value, checkName(value, 'path-segment')));
    else if (field !== 'namespace') errors.push(required(`${PARENT}.${field}`));
  }
  return errors;
}
