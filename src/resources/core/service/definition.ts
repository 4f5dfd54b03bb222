import type { Service, ServicePort, ServiceSpec, ServiceStatus } from '../../../api/types/core/v1.ts';
import { age, labelsText, NONE } from '../../cells.ts';
import { serviceProxy } from '../../connect/proxies.ts';
import { column, define, nameColumn, type Table } from '../../define.ts';
import {
  ingressPointTexts,
  keepStatus,
  loadBalancerStatusView,
  resetLoadBalancerStatus,
} from '../../load-balancer-status.ts';
import { checked, checkedUpdate } from '../../rules/checked.ts';
import { AMBIGUOUS } from '../../rules/ip-rules.ts';
import { endpoints } from '../endpoints.ts';
import { serviceValues } from './assignment.ts';
import { isExternallyAccessible, isExternalName, isLoadBalancer } from './kind.ts';
import { dropUnusedByType } from './preparation.ts';
import { serviceWarnings } from './service-warnings.ts';
import { validate, validateStatus } from './validate.ts';
import { validateUpdate } from './validate-update.ts';

const table: Table<Service> = {
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

export const services = define<Service>({
  group: '',
  resource: 'services',
  kind: 'Service',
  namespaced: true,
  shortNames: ['svc'],
  categories: ['all'],
  versions: [{ version: 'v1', type: 'core/v1.Service' }],
  subresources: [
    serviceProxy,
    loadBalancerStatusView<Service>({
      served: { group: '', version: 'v1', kind: 'Service' },
      type: 'core/v1.Service',
      defaults: defaultIpModes,
      validate: checkedUpdate(validateStatus),
    }),
  ],
  table,
  fields: {
    paths: {
      'spec.clusterIP': ['spec.clusterIP'],
      'spec.type': ['spec.type'],
    },
  },
  // Or a later service of the same name would begin with the addresses of this one.
  removedAlong: [endpoints],
  ratchets: [AMBIGUOUS],
  strategy: {
    nameRule: 'dns-1035-label',
    relaxedNames: { gate: 'RelaxedServiceNameValidation', rule: 'dns-label' },
    allowCreateOnUpdate: true,
    returnsDeletedObject: true,
    defaults: setDefaults,
    assigned: serviceValues,
    prepareForCreate: resetLoadBalancerStatus,
    prepareForUpdate: (service, old) => {
      keepStatus(service, old);
      dropUnusedByType(service, old);
    },
    validate: checked(validate),
    validateUpdate: checkedUpdate(validateUpdate),
    warnings: serviceWarnings,
  },
});

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

/** Three hours. */
const AFFINITY_TIMEOUT_SECONDS = 10_800;

/** Defaults of a service that depend on its other fields. */
function setDefaults({ spec = {} }: Service): void {
  for (const port of spec.ports ?? []) port.targetPort ||= port.port ?? 0;
  defaultAffinity(spec);
  if (isExternallyAccessible(spec)) spec.externalTrafficPolicy ??= 'Cluster';
  if (isLoadBalancer(spec)) spec.allocateLoadBalancerNodePorts ??= true;
  if (isExternalName(spec)) delete spec.internalTrafficPolicy;
  else spec.internalTrafficPolicy ??= 'Cluster';
}

function defaultAffinity(spec: ServiceSpec): void {
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig;
  if (spec.sessionAffinity !== 'ClientIP') return;
  if (spec.sessionAffinityConfig?.clientIP?.timeoutSeconds !== undefined) return;
  spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: AFFINITY_TIMEOUT_SECONDS } };
}

/** A load balancer's address mode is VIP by default. */
function defaultIpModes({ spec = {}, status = {} }: Service): void {
  if (!isLoadBalancer(spec)) return;
  for (const point of status.loadBalancer?.ingress ?? [])
    if (point.ip !== undefined && point.ip !== '') point.ipMode ??= 'VIP';
}
