import type { ApiObject, JsonObject, JsonValue } from '../../api/object-meta.ts';
import { type FieldError, invalid } from '../../api/status.ts';
import { equal } from '../../object/equality.ts';
import { invalidValue } from '../../object/field-errors.ts';
import { isIpv6 } from '../../object/ip.ts';
import { part, text } from '../../object/parts.ts';
import { strings } from '../validation/values.ts';
import { isExternalName, typeOf } from './service-kind.ts';
import { validateClusterIps } from './validation/service-addresses.ts';

/**
 * Which IP families a service has, from what it says, what it had, and what the cluster is configured for (Kubernetes:
 * registry/core/service/storage). `configured` has one or two families, the preferred one first.
 */
export function chooseFamilies(
  service: ApiObject,
  old: ApiObject | undefined,
  configured: readonly string[],
): void {
  const spec = part(service, 'spec');
  const before = part(old, 'spec');
  if (isExternalName(spec) || (old !== undefined && staysPreferred(spec, before))) return;
  spec.ipFamilyPolicy ??= defaultPolicy(spec, before);
  refuse(service, validateClusterIps(spec));
  const errors = old === undefined ? [] : narrow(spec, before);
  errors.push(...validatePolicy(spec), ...inferFamilies(spec, configured));
  refuse(service, errors);
  if (isSelectorlessHeadless(spec)) {
    completeFamilies(spec, configured, true);
    return;
  }
  refuse(service, validateConfigured(spec, configured));
  completeFamilies(spec, configured, configured.length > 1);
}

function refuse({ metadata }: ApiObject, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid({ kind: 'Service', group: '' }, metadata.name ?? '', errors);
}

const isSingleStack = ({ ipFamilyPolicy }: JsonObject): boolean => ipFamilyPolicy === 'SingleStack';

/** Endpoints of such services are somebody else's, of whatever family. */
const isSelectorlessHeadless = (spec: JsonObject): boolean =>
  text(spec.clusterIP) === 'None' && Object.keys(part(spec, 'selector')).length === 0;

const sameList = (spec: JsonObject, before: JsonObject, field: string): boolean =>
  equal(strings(spec, field), strings(before, field));

/** A service that prefers two families does not change because the cluster's configuration did, only when it is told to. */
export function staysPreferred(spec: JsonObject, before: JsonObject): boolean {
  if (spec.ipFamilyPolicy !== 'PreferDualStack' || typeOf(spec) !== typeOf(before)) return false;
  const policy = before.ipFamilyPolicy ?? 'PreferDualStack';
  if (isExternalName(spec) || policy !== 'PreferDualStack' || strings(before, 'ipFamilies').length === 0) {
    return false;
  }
  return sameList(spec, before, 'clusterIPs') && sameList(spec, before, 'ipFamilies');
}

function defaultPolicy(spec: JsonObject, before: JsonObject): JsonValue {
  if (before.ipFamilyPolicy !== undefined) return before.ipFamilyPolicy;
  return isSelectorlessHeadless(spec) ? 'RequireDualStack' : 'SingleStack';
}

/** Turning to a single family gives the second of what did not change up; giving it up needs those words. */
function narrow(spec: JsonObject, before: JsonObject): FieldError[] {
  const lists = [
    ['clusterIPs', 'secondary cluster IP'],
    ['ipFamilies', 'secondary IP family'],
  ] as const;
  return lists.flatMap(([field, what]) => {
    const now = strings(spec, field);
    if (isSingleStack(spec)) {
      if (sameList(spec, before, field) && now.length > 1) spec[field] = now.slice(0, 1);
      return [];
    }
    if (now.length === 0 || now.length >= strings(before, field).length) return [];
    return [invalidPolicy(spec, `must be 'SingleStack' to release the ${what}`)];
  });
}

function validatePolicy(spec: JsonObject): FieldError[] {
  if (!isSingleStack(spec)) return [];
  const lists = [
    ['clusterIPs', 'cluster IPs'],
    ['ipFamilies', 'IP families'],
  ] as const;
  return lists
    .filter(([field]) => strings(spec, field).length === 2)
    .map(([, what]) =>
      invalidPolicy(
        spec,
        `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`,
      ),
    );
}

const invalidPolicy = ({ ipFamilyPolicy }: JsonObject, why: string): FieldError =>
  invalidValue('spec.ipFamilyPolicy', ipFamilyPolicy, why);

/** Addresses say which families they are of. */
function inferFamilies(spec: JsonObject, configured: readonly string[]): FieldError[] {
  const ips = strings(spec, 'clusterIPs');
  if (ips[0] === 'None') return [];
  const families = strings(spec, 'ipFamilies');
  const errors: FieldError[] = [];
  for (const [at, ip] of ips.entries()) {
    if (at < families.length) continue;
    const family = isIpv6(ip) ? 'IPv6' : 'IPv4';
    if (configured.includes(family)) families.push(family);
    else {
      errors.push(invalidValue(`spec.clusterIPs[${at}]`, ips, `${family} is not configured on this cluster`));
    }
  }
  if (families.length > 0) spec.ipFamilies = families;
  return errors;
}

function validateConfigured(spec: JsonObject, configured: readonly string[]): FieldError[] {
  const errors: FieldError[] = [];
  if (spec.ipFamilyPolicy === 'RequireDualStack' && configured.length < 2) {
    errors.push(invalidPolicy(spec, 'this cluster is not configured for dual-stack services'));
  }
  for (const [at, family] of strings(spec, 'ipFamilies').entries()) {
    if (configured.includes(family)) continue;
    errors.push(invalidValue(`spec.ipFamilies[${at}]`, family, 'not configured on this cluster'));
  }
  return errors;
}

function completeFamilies(spec: JsonObject, configured: readonly string[], mayBeDual: boolean): void {
  const families = strings(spec, 'ipFamilies');
  const [first = configured[0] ?? 'IPv4', ...more] = families;
  const other = first === 'IPv4' ? 'IPv6' : 'IPv4';
  const addsOther = !isSingleStack(spec) && more.length === 0 && mayBeDual;
  spec.ipFamilies = [first, ...more, ...(addsOther ? [other] : [])];
}
