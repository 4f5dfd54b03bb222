import { invalid } from '../../../api/status.ts';
import type { Service, ServiceSpec } from '../../../api/types/core/v1.ts';
import { equal } from '../../../object/equality.ts';
import { boundedProblems } from '../../../object/field-errors.ts';
import { type FieldPath, problemsOf } from '../../../object/field-path.ts';
import { isIpv6 } from '../../../object/ip.ts';
import { isExternalName, typeOf } from './kind.ts';
import { validateClusterIps } from './validate.ts';

/**
 * Chooses the IP families of a service from its spec, the spec it had, and the configuration of the cluster (Kubernetes:
 * registry/core/service/storage). `configured` has one or two families, the preferred one first.
 * @throws StatusError 422
 */
export function chooseFamilies(
  service: Service,
  old: Service | undefined,
  configured: readonly string[],
): void {
  const { spec = {} } = service;
  const before = old?.spec ?? {};
  if (isExternalName(spec) || (old !== undefined && staysPreferred(spec, before))) return;
  spec.ipFamilyPolicy ??= defaultPolicy(spec, before);
  assertSpec(service, (at) => validateClusterIps(at, spec));
  assertSpec(service, (at) => {
    if (old !== undefined) narrow(at, spec, before);
    validatePolicy(at, spec);
    inferFamilies(at, spec, configured);
  });
  if (isSelectorlessHeadless(spec)) {
    completeFamilies(spec, configured, true);
    return;
  }
  assertSpec(service, (at) => mustBeConfigured(at, spec, configured));
  completeFamilies(spec, configured, configured.length > 1);
}

/** @throws StatusError 422 with the rule's errors in the spec */
function assertSpec({ metadata }: Service, rule: (at: FieldPath) => void): void {
  const errors = boundedProblems(() => problemsOf(rule, 'spec'));
  if (errors.length > 0) throw invalid({ kind: 'Service', group: '' }, metadata.name ?? '', errors);
}

const isSingleStack = ({ ipFamilyPolicy }: ServiceSpec): boolean => ipFamilyPolicy === 'SingleStack';

/** The server does not know the endpoints of such a service, so they may be of any family. */
const isSelectorlessHeadless = ({ clusterIP, selector }: ServiceSpec): boolean =>
  clusterIP === 'None' && Object.keys(selector ?? {}).length === 0;

/** The lists that have an item for each family, and how messages name their second item and several of them. */
const LISTS = [
  { field: 'clusterIPs', second: 'secondary cluster IP', several: 'cluster IPs' },
  { field: 'ipFamilies', second: 'secondary IP family', several: 'IP families' },
] as const;

const isSameList = (spec: ServiceSpec, before: ServiceSpec, field: 'clusterIPs' | 'ipFamilies'): boolean =>
  equal(spec[field] ?? [], before[field] ?? []);

/** A service that prefers two families changes only on request, never because the cluster's configuration changed. */
export function staysPreferred(spec: ServiceSpec, before: ServiceSpec): boolean {
  if (spec.ipFamilyPolicy !== 'PreferDualStack' || typeOf(spec) !== typeOf(before)) return false;
  const { ipFamilyPolicy = 'PreferDualStack', ipFamilies = [] } = before;
  if (isExternalName(spec) || ipFamilyPolicy !== 'PreferDualStack' || ipFamilies.length === 0) return false;
  return isSameList(spec, before, 'clusterIPs') && isSameList(spec, before, 'ipFamilies');
}

function defaultPolicy(spec: ServiceSpec, before: ServiceSpec): string {
  if (before.ipFamilyPolicy !== undefined) return before.ipFamilyPolicy;
  return isSelectorlessHeadless(spec) ? 'RequireDualStack' : 'SingleStack';
}

/** SingleStack drops the second item of each list that did not change. No other policy allows a list to become shorter. */
function narrow(at: FieldPath, spec: ServiceSpec, before: ServiceSpec): void {
  for (const { field, second } of LISTS) {
    const now = spec[field] ?? [];
    if (isSingleStack(spec)) {
      if (isSameList(spec, before, field) && now.length > 1) spec[field] = now.slice(0, 1);
    } else if (now.length > 0 && now.length < (before[field] ?? []).length)
      refusePolicy(at, spec, `must be 'SingleStack' to release the ${second}`);
  }
}

function validatePolicy(at: FieldPath, spec: ServiceSpec): void {
  if (!isSingleStack(spec)) return;
  for (const { field, several } of LISTS)
    if (spec[field]?.length === 2)
      refusePolicy(
        at,
        spec,
        `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${several} are specified`,
      );
}

function refusePolicy(at: FieldPath, { ipFamilyPolicy }: ServiceSpec, why: string): void {
  at.field('ipFamilyPolicy').invalid(ipFamilyPolicy, why);
}

/** Addresses without a family get the one they are of. */
function inferFamilies(at: FieldPath, spec: ServiceSpec, configured: readonly string[]): void {
  const { clusterIPs: ips = [], ipFamilies = [] } = spec;
  if (ips[0] === 'None') return;
  const families = [...ipFamilies];
  for (const [path, ip, index] of at.field('clusterIPs').each(ips)) {
    if (index < families.length) continue;
    const family = isIpv6(ip) ? 'IPv6' : 'IPv4';
    if (configured.includes(family)) families.push(family);
    else path.invalid(ips, `${family} is not configured on this cluster`);
  }
  if (families.length > 0) spec.ipFamilies = families;
}

function mustBeConfigured(at: FieldPath, spec: ServiceSpec, configured: readonly string[]): void {
  if (spec.ipFamilyPolicy === 'RequireDualStack' && configured.length < 2)
    refusePolicy(at, spec, 'this cluster is not configured for dual-stack services');
  for (const [path, family] of at.field('ipFamilies').each(spec.ipFamilies))
    if (!configured.includes(family)) path.invalid(family, 'not configured on this cluster');
}

function completeFamilies(spec: ServiceSpec, configured: readonly string[], mayBeDual: boolean): void {
  const [first = configured[0] ?? 'IPv4', ...more] = spec.ipFamilies ?? [];
  const other = first === 'IPv4' ? 'IPv6' : 'IPv4';
  const addsOther = !isSingleStack(spec) && more.length === 0 && mayBeDual;
  spec.ipFamilies = [first, ...more, ...(addsOther ? [other] : [])];
}
