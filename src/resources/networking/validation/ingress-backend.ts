import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { eachInvalid, invalidValue, required } from '../../../object/field-errors.ts';
import { checkName, checkPort, checkPortName } from '../../../object/formats.ts';
import { count, part, text } from '../../../object/parts.ts';
import { validateObjectReference } from './object-reference.ts';

/** Where the traffic of a path goes: a port of a service, or another object that the controller knows what to do with. */
export function validateIngressBackend(backend: JsonObject, path: string): FieldError[] {
  const { resource, service } = backend;
  if (resource !== undefined && service !== undefined) {
    return [invalidValue(path, '', 'cannot set both resource and service backends')];
  }
  if (resource !== undefined) return validateObjectReference(part(backend, 'resource'), `${path}.resource`);
  if (service !== undefined) return validateServiceBackend(part(backend, 'service'), path);
  return [invalidValue(path, '', 'resource or service backend is required')];
}

function validateServiceBackend(service: JsonObject, path: string): FieldError[] {
  const name = text(service.name);
  const named =
    name === ''
      ? [required(`${path}.service.name`)]
      : eachInvalid(`${path}.service.name`, name, checkName(name, 'dns-1035-label'));
  return [...named, ...validatePort(part(service, 'port'), path)];
}

function validatePort(port: JsonObject, path: string): FieldError[] {
  const name = text(port.name);
  const number = count(port.number);
  if (name !== '' && number !== 0) {
    return [invalidValue(path, '', 'cannot set both port name & port number')];
  }
  if (name !== '') return eachInvalid(`${path}.service.port.name`, name, checkPortName(name));
  if (number !== 0) return eachInvalid(`${path}.service.port.number`, number, checkPort(number));
  return [required(path, 'port name or number is required')];
}
