import type { ApiObject } from '../../api/object-meta.ts';
import { part, text } from '../../object/parts.ts';
import { cidrWarnings, ipWarnings } from '../validation/ip-fields.ts';
import { strings } from '../validation/values.ts';
import { isExternalName } from './service-kind.ts';
import { TOPOLOGY_HINTS, TOPOLOGY_MODE } from './validation/service.ts';

export function serviceWarnings(service: ApiObject): string[] {
  const spec = part(service, 'spec');
  const warnings: string[] = [];
  if (service.metadata.annotations?.[TOPOLOGY_HINTS] !== undefined) {
    warnings.push(`annotation ${TOPOLOGY_HINTS} is deprecated, please use ${TOPOLOGY_MODE} instead`);
  }
  const eachOf = (field: string, check: (path: string, value: string) => string[]): void => {
    for (const [at, value] of strings(spec, field).entries())
      warnings.push(...check(`spec.${field}[${at}]`, value));
  };
  if (text(spec.clusterIP, 'None') !== 'None') eachOf('clusterIPs', ipWarnings);
  eachOf('externalIPs', ipWarnings);
  const loadBalancerIp = text(spec.loadBalancerIP);
  if (loadBalancerIp !== '') warnings.push(...ipWarnings('spec.loadBalancerIP', loadBalancerIp));
  eachOf('loadBalancerSourceRanges', cidrWarnings);
  if (isExternalName(spec) && strings(spec, 'externalIPs').length > 0) {
    warnings.push('spec.externalIPs is ignored when spec.type is "ExternalName"');
  }
  if (!isExternalName(spec) && text(spec.externalName) !== '') {
    warnings.push('spec.externalName is ignored when spec.type is not "ExternalName"');
  }
  return warnings;
}
