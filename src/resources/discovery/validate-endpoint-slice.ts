import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import {
  duplicate,
  eachInvalid,
  invalidValue,
  notSupported,
  required,
  tooMany,
} from '../../object/field-errors.ts';
import { checkLabelValue, checkName, checkQualifiedName } from '../../object/formats.ts';
import { parseIp } from '../../object/ip.ts';
import { part, parts, text } from '../../object/parts.ts';
import { validateImmutableField } from '../validation/immutable.ts';
import { validateNonSpecialIp } from '../validation/ip-fields.ts';
import { strings } from '../validation/values.ts';

const MOST_ENDPOINTS = 1000;
const MOST_ADDRESSES = 100;
const MOST_PORTS = 20_000;
const MOST_ZONES = 8;

export function validateEndpointSlice(slice: ApiObject): FieldError[] {
  const type = text(slice.addressType);
  const endpoints = parts(slice, 'endpoints');
  const ports = parts(slice, 'ports');
  return [
    ...(endpoints.length > MOST_ENDPOINTS
      ? [tooMany('endpoints', endpoints.length, MOST_ENDPOINTS)]
      : endpoints.flatMap((endpoint, at) => validateEndpoint(endpoint, type, `endpoints[${at}]`))),
    ...(ports.length > MOST_PORTS ? [tooMany('ports', ports.length, MOST_PORTS)] : validatePorts(ports)),
  ];
}

export const validateEndpointSliceUpdate = (slice: ApiObject, old: ApiObject): FieldError[] =>
  validateImmutableField('addressType', slice.addressType, old.addressType);

function validateEndpoint(endpoint: JsonObject, type: string, path: string): FieldError[] {
  const addresses = strings(endpoint, 'addresses');
  const errors: FieldError[] = [];
  if (addresses.length === 0) {
    errors.push(required(`${path}.addresses`, 'must contain at least 1 address'));
  } else if (addresses.length > MOST_ADDRESSES) {
    errors.push(tooMany(`${path}.addresses`, addresses.length, MOST_ADDRESSES));
  }
  const node = text(endpoint.nodeName);
  const host = text(endpoint.hostname);
  return [
    ...errors,
    ...addresses.flatMap((address, at) => validateAddress(address, type, `${path}.addresses[${at}]`)),
    ...(endpoint.nodeName === undefined
      ? []
      : eachInvalid(`${path}.nodeName`, node, checkName(node, 'dns-subdomain'))),
    ...(endpoint.hostname === undefined
      ? []
      : eachInvalid(`${path}.hostname`, host, checkName(host, 'dns-label'))),
    ...validateHints(parts(part(endpoint, 'hints'), 'forZones'), `${path}.hints.forZones`),
  ];
}

function validateAddress(address: string, type: string, path: string): FieldError[] {
  if (type === 'FQDN') return validateDomainName(address, path);
  if (type !== 'IPv4' && type !== 'IPv6') return [];
  const family = type === 'IPv4' ? 4 : 6;
  const wrong =
    parseIp(address)?.family === family
      ? []
      : [invalidValue(path, address, `must be a valid ${type} address`)];
  return [...wrong, ...validateNonSpecialIp(path, address)];
}

/** At least two labels; a trailing dot is allowed. One mistake is enough to say. */
function validateDomainName(address: string, path: string): FieldError[] {
  if (address === '') return [required(path)];
  const name = address.replace(/\.$/, '');
  const wrong = checkName(name, 'dns-subdomain');
  if (wrong.length > 0) return [invalidValue(path, name, wrong.join(','))];
  const labels = name.split('.');
  if (labels.length < 2) {
    return [invalidValue(path, name, 'should be a domain with at least two segments separated by dots')];
  }
  const bad = labels.find((label) => checkName(label, 'dns-label').length > 0);
  return bad === undefined ? [] : [invalidValue(path, bad, checkName(bad, 'dns-label').join(','))];
}

function validateHints(zones: readonly JsonObject[], path: string): FieldError[] {
  if (zones.length > MOST_ZONES) return [tooMany(path, zones.length, MOST_ZONES)];
  const names = zones.map(({ name }) => text(name));
  return names.flatMap((name, at) => [
    ...(names.indexOf(name) < at ? [duplicate(`${path}[${at}].name`, name)] : []),
    ...eachInvalid(`${path}[${at}].name`, name, checkLabelValue(name)),
  ]);
}

function validatePorts(ports: readonly JsonObject[]): FieldError[] {
  const taken = new Set<string>();
  return ports.flatMap((port, at) => {
    const path = `ports[${at}]`;
    const name = text(port.name);
    const errors = name === '' ? [] : eachInvalid(`${path}.name`, name, checkName(name, 'dns-label'));
    if (taken.has(name)) errors.push(duplicate(`${path}.name`, name));
    taken.add(name);
    if (port.protocol === '') {
      errors.push(notSupported(`${path}.protocol`, '', ['SCTP', 'TCP', 'UDP']));
    }
    if (port.appProtocol === undefined) return errors;
    const protocol = text(port.appProtocol);
    return [...errors, ...eachInvalid(`${path}.appProtocol`, protocol, checkQualifiedName(protocol))];
  });
}
