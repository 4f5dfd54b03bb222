import type { ServiceSpec } from '../../../api/types/core/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { isIpv6 } from '../../../object/ip.ts';
import { mustBeIp } from '../../rules/addresses.ts';
import { mustBeOneOf } from '../../rules/names.ts';
import { isHeadless } from './kind.ts';

const FAMILIES = ['IPv4', 'IPv6'];
const MAX_ADDRESSES = 2;

/**
 * clusterIP, clusterIPs and ipFamilies with each other. Assigning addresses asks this too, before it relies on what it was
 * given. `at` is the spec.
 */
export function validateClusterIps(at: FieldPath, spec: ServiceSpec): void {
  const { clusterIP = '', clusterIPs: ips = [] } = spec;
  const path = at.field('clusterIPs');
  validateFirst(path, clusterIP, ips);
  validateFamilies(at.field('ipFamilies'), spec.ipFamilies ?? []);
  const before = at.found;
  validateEach(path, ips);
  const areAddresses = at.found === before;
  if (ips.length > MAX_ADDRESSES) path.invalid(ips, 'may only hold up to 2 values');
  // Families of addresses that are none would only confuse.
  if (!areAddresses) return;
  if (ips.length > 1 && new Set(ips.map(isIpv6)).size < 2)
    path.invalid(ips, 'may specify no more than one IP for each IP family');
  if (!isHeadless(spec)) mustMatchFamilies(path, ips, spec.ipFamilies ?? []);
}

function validateFirst(at: FieldPath, clusterIp: string, ips: readonly string[]): void {
  if (clusterIp === '') {
    if (ips.length > 0) at.invalid(ips, 'must be empty when `clusterIP` is not specified');
  } else if (ips.length === 0) at.required();
  else if (ips[0] !== clusterIp) at.invalid(ips, 'first value must match `clusterIP`');
}

function validateFamilies(at: FieldPath, families: readonly string[]): void {
  for (const [path, family, index] of at.each(families)) {
    mustBeOneOf(path, family, FAMILIES);
    if (families.indexOf(family) < index) path.duplicate(family);
  }
}

function validateEach(at: FieldPath, ips: readonly string[]): void {
  for (const [path, ip, index] of at.each(ips)) {
    if (index > 0 || ip !== 'None') mustBeIp(path, ip);
    else if (ips.length > 1) at.invalid(ips, "'None' must be the first and only value");
  }
}

function mustMatchFamilies(at: FieldPath, ips: readonly string[], families: readonly string[]): void {
  for (const [path, ip, index] of at.each(ips)) {
    const family = families[index] ?? '';
    const actual = isIpv6(ip) ? 'IPv6' : 'IPv4';
    if (FAMILIES.includes(family) && family !== actual)
      path.invalid(ip, `expected an ${family} value as indicated by \`ipFamilies[${index}]\``);
  }
}
