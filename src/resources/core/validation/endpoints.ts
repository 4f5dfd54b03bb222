import type { ApiObject, JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { eachInvalid, required } from '../../../object/field-errors.ts';
import { checkName, checkPort, checkQualifiedName } from '../../../object/formats.ts';
import { count, parts, text } from '../../../object/parts.ts';
import { validateIp, validateNonSpecialIp } from '../../validation/ip-fields.ts';

export function validateEndpoints(endpoints: ApiObject): FieldError[] {
  return parts(endpoints, 'subsets').flatMap((subset, at) => validateSubset(subset, `subsets[${at}]`));
}

/** A headless service's endpoints need no ports, but nothing goes without addresses. */
function validateSubset(subset: JsonObject, path: string): FieldError[] {
  const ready = parts(subset, 'addresses');
  const notReady = parts(subset, 'notReadyAddresses');
  const ports = parts(subset, 'ports');
  const errors: FieldError[] = [];
  if (ready.length === 0 && notReady.length === 0) {
    errors.push(required(path, 'must specify `addresses` or `notReadyAddresses`'));
  }
  return [
    ...errors,
    ...ready.flatMap((address, at) => validateAddress(address, `${path}.addresses[${at}]`)),
    ...notReady.flatMap((address, at) => validateAddress(address, `${path}.notReadyAddresses[${at}]`)),
    ...ports.flatMap((port, at) => validatePort(port, ports.length > 1, `${path}.ports[${at}]`)),
  ];
}

function validateAddress({ ip, hostname, nodeName }: JsonObject, path: string): FieldError[] {
  const host = text(hostname);
  const node = nodeName === undefined ? [] : checkName(text(nodeName), 'dns-subdomain');
  return [
    ...validateIp(`${path}.ip`, text(ip)),
    ...(host === '' ? [] : eachInvalid(`${path}.hostname`, host, checkName(host, 'dns-label'))),
    ...eachInvalid(`${path}.nodeName`, nodeName, node),
    ...validateNonSpecialIp(`${path}.ip`, text(ip)),
  ];
}

function validatePort(port: JsonObject, mustBeNamed: boolean, path: string): FieldError[] {
  const name = text(port.name);
  const errors: FieldError[] = [];
  if (name !== '') errors.push(...eachInvalid(`${path}.name`, name, checkName(name, 'dns-label')));
  else if (mustBeNamed) errors.push(required(`${path}.name`));
  errors.push(...eachInvalid(`${path}.port`, count(port.port), checkPort(count(port.port))));
  if (port.appProtocol === undefined) return errors;
  const protocol = text(port.appProtocol);
  return [...errors, ...eachInvalid(`${path}.appProtocol`, protocol, checkQualifiedName(protocol))];
}
