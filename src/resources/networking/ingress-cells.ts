import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import { part, parts, text } from '../../object/parts.ts';
import type { Cell } from '../../registry/definition.ts';
import { age, NONE } from '../cells.ts';
import { ingressPointTexts } from '../load-balancer-status.ts';

const SHOWN_HOSTS = 3;

export function ingressCells(ingress: ApiObject, now: number): readonly Cell[] {
  const spec = part(ingress, 'spec');
  return [
    ingress.metadata.name ?? '',
    text(spec.ingressClassName, NONE),
    hostsText(parts(spec, 'rules')),
    ingressPointTexts(parts(part(ingress, 'status', 'loadBalancer'), 'ingress')).join(','),
    parts(spec, 'tls').length > 0 ? '80, 443' : '80',
    age(ingress, now),
  ];
}

/** Rules without a host are for every host; they count among those not shown. */
function hostsText(rules: readonly JsonObject[]): string {
  const hosts: string[] = [];
  for (const { host } of rules) {
    if (hosts.length === SHOWN_HOSTS) return `${hosts.join(',')} + ${rules.length - SHOWN_HOSTS} more...`;
    if (text(host) !== '') hosts.push(text(host));
  }
  return text(hosts.join(','), '*');
}
