import type { Service, ServicePort, ServiceSpec, ServiceStatus } from '../../../api/types/core/v1.ts';
import { age, labelsText, NONE } from '../../cells.ts';
import { column, nameColumn, type Table } from '../../define.ts';
import { ingressPointTexts } from '../../load-balancer-status.ts';

export const table: Table<Service> = {
  columns: [
    nameColumn(),
    column('Type'),
    column('Cluster-IP'),
    column('External-IP'),
    column('Port(s)'),
    column('Age'),
    column('Selector', 1),
  ],
  cells: (service, now) => {
    const { metadata, spec = {}, status = {} } = service;
    return [
      metadata.name ?? '',
      spec.type ?? '',
      spec.clusterIPs?.[0] ?? NONE,
      externalIpText(spec, status),
      (spec.ports ?? []).map(portText).join(',') || NONE,
      age(service, now),
      labelsText(spec.selector ?? {}),
    ];
  },
};

function portText({ port, nodePort = 0, protocol }: ServicePort): string {
  return nodePort > 0 ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`;
}

function externalIpText(spec: ServiceSpec, { loadBalancer }: ServiceStatus): string {
  const { type, externalName = '', externalIPs = [] } = spec;
  if (type === 'ExternalName') return externalName;
  if (type !== 'LoadBalancer') return externalIPs.join(',') || NONE;
  const assigned = ingressPointTexts(loadBalancer?.ingress ?? []);
  return [...assigned, ...externalIPs].join(',') || '<pending>';
}
