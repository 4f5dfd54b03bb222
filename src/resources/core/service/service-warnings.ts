import type { Gates } from '../../../api/feature-gates.ts';
import type { Service, ServiceSpec } from '../../../api/types/core/v1.ts';
import { FieldPath } from '../../../object/field-path.ts';
import { cidrWarnings, ipWarnings, warningsOfEach } from '../../rules/ip-warnings.ts';
import { isExternalName, typeOf } from './kind.ts';
import { TOPOLOGY_HINTS, TOPOLOGY_MODE } from './validate.ts';

/** Warnings about a service that is valid, but hardly meant so (Kubernetes: api/service, warnings.go). */
export function serviceWarnings(
  { metadata, spec = {} }: Service,
  _: Service | undefined,
  isOn?: Gates,
): string[] {
  const { clusterIP = '', clusterIPs, externalIPs = [], externalName = '', loadBalancerIP = '' } = spec;
  const root = FieldPath.root([], isOn);
  const { minor } = root;
  const at = root.field('spec');
  const found: string[] = [];
  if (metadata.annotations?.[TOPOLOGY_HINTS] !== undefined)
    found.push(`annotation ${TOPOLOGY_HINTS} is deprecated, please use ${TOPOLOGY_MODE} instead`);
  if (clusterIP !== '' && clusterIP !== 'None')
    found.push(...warningsOfEach(at.field('clusterIPs').each(clusterIPs), ipWarnings));
  const isWithoutIp = typeOf(spec) === 'ClusterIP' && clusterIP === 'None';
  if (minor >= 34 && isWithoutIp) found.push(...ignoredByHeadless(spec));
  found.push(...warningsOfEach(at.field('externalIPs').each(externalIPs), ipWarnings));
  if (minor >= 36 && externalIPs.length > 0 && !isWithoutIp && !isExternalName(spec))
    found.push('spec.externalIPs is deprecated and may no longer be implemented in some clusters');
  if (loadBalancerIP !== '') found.push(...ipWarnings(at.field('loadBalancerIP'), loadBalancerIP));
  const sources = at.field('loadBalancerSourceRanges').each(spec.loadBalancerSourceRanges);
  found.push(...warningsOfEach(sources, cidrWarnings));
  if (isExternalName(spec) && externalIPs.length > 0)
    found.push('spec.externalIPs is ignored when spec.type is "ExternalName"');
  if (!isExternalName(spec) && externalName !== '')
    found.push('spec.externalName is ignored when spec.type is not "ExternalName"');
  if (minor >= 35 && spec.trafficDistribution === 'PreferClose')
    found.push('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"');
  return found;
}

/** What a service without an address has no use for. */
function ignoredByHeadless({
  loadBalancerIP = '',
  externalIPs = [],
  sessionAffinity,
}: ServiceSpec): string[] {
  const ignored = [
    ...(loadBalancerIP === '' ? [] : ['spec.loadBalancerIP']),
    ...(externalIPs.length === 0 ? [] : ['spec.externalIPs']),
    ...(sessionAffinity === 'None' ? [] : ['spec.SessionAffinity']),
  ];
  return ignored.map((field) => `${field} is ignored for headless services`);
}
