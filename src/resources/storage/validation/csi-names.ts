import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { eachInvalid, required, tooLong } from '../../../object/field-errors.ts';
import { checkName } from '../../../object/formats.ts';
import { text } from '../../../object/parts.ts';

const MAX_DRIVER_NAME_BYTES = 63;

/** Drivers are named like hosts, in letters of either case. */
export function validateDriverName(driver: string, path: string): FieldError[] {
  return [
    ...(driver === '' ? [required(path)] : []),
    ...(driver.length > MAX_DRIVER_NAME_BYTES ? [tooLong(path, MAX_DRIVER_NAME_BYTES)] : []),
    ...eachInvalid(path, driver, checkName(driver.toLowerCase(), 'dns-subdomain')),
  ];
}

/** A secret of a driver: both its names must be there, and be names. */
export function validateSecretReference(reference: JsonObject, path: string): FieldError[] {
  const name = text(reference.name);
  const namespace = text(reference.namespace);
  return [
    ...(name === ''
      ? [required(`${path}.name`)]
      : eachInvalid(`${path}.name`, name, checkName(name, 'dns-subdomain'))),
    ...(namespace === ''
      ? [required(`${path}.namespace`)]
      : eachInvalid(`${path}.namespace`, namespace, checkName(namespace, 'dns-label'))),
  ];
}

/** Both names must be there. */
export function requireSecretNames(reference: JsonObject, path: string): FieldError[] {
  return ['name', 'namespace'].flatMap((field) =>
    text(reference[field]) === '' ? [required(`${path}.${field}`)] : [],
  );
}
