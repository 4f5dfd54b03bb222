import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import { part, parts, text } from '../../object/parts.ts';
import type { Cell } from '../../registry/definition.ts';
import { age, labelsText, NONE } from '../cells.ts';
import { ingressPointTexts } from '../load-balancer-status.ts';
import { strings } from '../validation/values.ts';

export function serviceCells(service: ApiObject, now: number): readonly Cell[] {
  const spec = part(service, 'spec');
  return [
    service.metadata.name ?? '',
    text(spec.type),
    strings(spec, 'clusterIPs')[0] ?? NONE,
    externalIp(spec, part(service, 'status')),
    text(parts(spec, 'ports').map(portText).join(','), NONE),
    age(service, now),
    labelsText(part(spec, 'selector')),
  ];
}

function portText({ port, nodePort, protocol }: JsonObject): string {
  return typeof nodePort === 'number' && nodePort > 0
    ? `${port}:${nodePort}/${protocol}`
    : `${port}/${protocol}`;
}

function externalIp(spec: JsonObject, status: JsonObject): string {
  if (spec.type === 'ExternalName') return text(spec.externalName);
  const own = strings(spec, 'externalIPs');
  if (spec.type !== 'LoadBalancer') return text(own.join(','), NONE);
  const assigned = ingressPointTexts(parts(part(status, 'loadBalancer'), 'ingress'));
  return text([...assigned, ...own].join(','), '<pending>');
}
