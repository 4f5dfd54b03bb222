import type { Service } from '../../../api/types/core/v1.ts';
import { FieldPath } from '../../../object/field-path.ts';
import { cidrWarnings, ipWarnings } from '../../rules/addresses.ts';
import { isExternalName } from './kind.ts';
import { TOPOLOGY_HINTS, TOPOLOGY_MODE } from './validate.ts';

export function warnings({ metadata, spec = {} }: Service): string[] {
  const { clusterIP = '', clusterIPs, externalIPs = [], externalName = '', loadBalancerIP = '' } = spec;
  const at = FieldPath.root().field('spec');
  const found: string[] = [];
  if (metadata.annotations?.[TOPOLOGY_HINTS] !== undefined)
    found.push(`annotation ${TOPOLOGY_HINTS} is deprecated, please use ${TOPOLOGY_MODE} instead`);
  if (clusterIP !== '' && clusterIP !== 'None')
    for (const [path, ip] of at.field('clusterIPs').each(clusterIPs)) found.push(...ipWarnings(path, ip));
  for (const [path, ip] of at.field('externalIPs').each(externalIPs)) found.push(...ipWarnings(path, ip));
  if (loadBalancerIP !== '') found.push(...ipWarnings(at.field('loadBalancerIP'), loadBalancerIP));
  for (const [path, range] of at.field('loadBalancerSourceRanges').each(spec.loadBalancerSourceRanges))
    found.push(...cidrWarnings(path, range));
  if (isExternalName(spec) && externalIPs.length > 0)
    found.push('spec.externalIPs is ignored when spec.type is "ExternalName"');
  if (!isExternalName(spec) && externalName !== '')
    found.push('spec.externalName is ignored when spec.type is not "ExternalName"');
  return found;
}
