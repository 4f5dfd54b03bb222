import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { duplicate, invalidValue, notSupported, required } from '../../../object/field-errors.ts';
import { isIpv6 } from '../../../object/ip.ts';
import { text } from '../../../object/parts.ts';
import { validateIp } from '../../validation/ip-fields.ts';
import { strings } from '../../validation/values.ts';
import { isHeadless } from '../service-kind.ts';

const CLUSTER_IPS = 'spec.clusterIPs';
const MOST_ADDRESSES = 2;

/**
 * clusterIP, clusterIPs and ipFamilies with each other. Assigning addresses asks this too, before it relies on what it was
 * given.
 */
export function validateClusterIps(spec: JsonObject): FieldError[] {
  const ips = strings(spec, 'clusterIPs');
  const errors = [
    ...validateFirst(text(spec.clusterIP), ips),
    ...validateFamilies(strings(spec, 'ipFamilies')),
  ];
  const wrong = validateEach(ips);
  errors.push(...wrong);
  if (ips.length > MOST_ADDRESSES)
    errors.push(invalidValue(CLUSTER_IPS, ips, 'may only hold up to 2 values'));
  // Families of addresses that are none would only confuse.
  if (wrong.length > 0) return errors;
  if (ips.length > 1 && new Set(ips.map(isIpv6)).size < 2) {
    errors.push(invalidValue(CLUSTER_IPS, ips, 'may specify no more than one IP for each IP family'));
  }
  return [...errors, ...validateFamiliesMatch(spec, ips)];
}

function validateFirst(clusterIp: string, ips: readonly string[]): FieldError[] {
  if (clusterIp === '') {
    if (ips.length === 0) return [];
    return [invalidValue(CLUSTER_IPS, ips, 'must be empty when `clusterIP` is not specified')];
  }
  if (ips.length === 0) return [required(CLUSTER_IPS)];
  return ips[0] === clusterIp ? [] : [invalidValue(CLUSTER_IPS, ips, 'first value must match `clusterIP`')];
}

function validateFamilies(families: readonly string[]): FieldError[] {
  return families.flatMap((family, at) => {
    const path = `spec.ipFamilies[${at}]`;
    const known = ['IPv4', 'IPv6'].includes(family);
    return [
      ...(known ? [] : [notSupported(path, family, ['IPv4', 'IPv6'])]),
      ...(families.indexOf(family) < at ? [duplicate(path, family)] : []),
    ];
  });
}

function validateEach(ips: readonly string[]): FieldError[] {
  return ips.flatMap((ip, at) => {
    if (at > 0 || ip !== 'None') return validateIp(`${CLUSTER_IPS}[${at}]`, ip);
    return ips.length === 1
      ? []
      : [invalidValue(CLUSTER_IPS, ips, "'None' must be the first and only value")];
  });
}

function validateFamiliesMatch(spec: JsonObject, ips: readonly string[]): FieldError[] {
  if (isHeadless(spec)) return [];
  const families = strings(spec, 'ipFamilies');
  return ips.flatMap((ip, at) => {
    const family = families[at];
    const actual = isIpv6(ip) ? 'IPv6' : 'IPv4';
    if ((family !== 'IPv4' && family !== 'IPv6') || family === actual) return [];
    const why = `expected an ${family} value as indicated by \`ipFamilies[${at}]\``;
    return [invalidValue(`${CLUSTER_IPS}[${at}]`, ip, why)];
  });
}
