import type { FieldError } from '../../api/status.ts';
import type { TypedLocalObjectReference } from '../../api/types/core/v1.ts';
import type {
  HTTPIngressPath,
  Ingress,
  IngressBackend,
  IngressRule,
  IngressTLS,
  ServiceBackendPort,
} from '../../api/types/networking/v1.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { goList } from '../../object/go-value.ts';
import { parseIp } from '../../object/ip.ts';
import { checkName, checkPort, checkPortName, checkWildcardSubdomain } from '../../object/text-formats.ts';
import { age, NONE } from '../cells.ts';
import { column, define, nameColumn, type Table } from '../define.ts';
import {
  ingressPointTexts,
  keepStatus,
  knownAddresses,
  loadBalancerStatusView,
  resetLoadBalancerStatus,
  validateIngressPoint,
} from '../load-balancer-status.ts';
import { checked, checkedUpdate, type Ratchet, ratchetOf } from '../rules/checked.ts';
import { mustBeName, mustBeNamed } from '../rules/name-rules.ts';
import { validateObjectReference } from './ingress-class.ts';

const table: Table<Ingress> = {
  columns: [
    nameColumn(),
    column('Class'),
    column('Hosts'),
    column('Address'),
    column('Ports'),
    column('Age'),
  ],
  cells: (ingress, now) => {
    const { metadata, spec = {}, status = {} } = ingress;
    return [
      metadata.name ?? '',
      spec.ingressClassName || NONE,
      hostsText(spec.rules ?? []),
      ingressPointTexts(status.loadBalancer?.ingress ?? []).join(','),
      (spec.tls ?? []).length > 0 ? '80, 443' : '80',
      age(ingress, now),
    ];
  },
};

const MAX_HOSTS_IN_TABLE = 3;

/** Rules without a host are for every host; they count among those not shown. */
function hostsText(rules: readonly IngressRule[]): string {
  const hosts: string[] = [];
  for (const { host = '' } of rules) {
    if (hosts.length === MAX_HOSTS_IN_TABLE)
      return `${hosts.join(',')} + ${rules.length - MAX_HOSTS_IN_TABLE} more...`;
    if (host !== '') hosts.push(host);
  }
  return hosts.join(',') || '*';
}

/** The annotation that named the class before spec.ingressClassName did. */
const CLASS_ANNOTATION = 'kubernetes.io/ingress.class';

/** Rules that came later: names of secrets, and the parts of a host below a wildcard. */
const RATCHETS: readonly Ratchet<Ingress>[] = [
  ratchetOf(/^spec\.tls\[\d+\]\.secretName$/),
  ratchetOf(/(backend|Backend)\.service\.name$/),
  { covers: isBelowWildcard },
];

function isBelowWildcard({ field }: FieldError, { spec }: Ingress): boolean {
  const [, at] = /^spec\.rules\[(\d+)\]\.http/.exec(field) ?? [];
  return at !== undefined && spec?.rules?.[Number(at)]?.host?.includes('*') === true;
}

export const ingresses = define<Ingress>({
  group: 'networking.k8s.io',
  resource: 'ingresses',
  kind: 'Ingress',
  namespaced: true,
  shortNames: ['ing'],
  versions: [{ version: 'v1', type: 'networking/v1.Ingress' }],
  subresources: [
    loadBalancerStatusView({
      served: { group: 'networking.k8s.io', version: 'v1', kind: 'Ingress' },
      type: 'networking/v1.Ingress',
      validate: checkedUpdate(validateStatus),
    }),
  ],
  table,
  ratchets: RATCHETS,
  strategy: {
    tracksGeneration: true,
    prepareForCreate: resetLoadBalancerStatus,
    prepareForUpdate: keepStatus,
    validate: checked(validate),
    validateCreate: checked(validateCreate),
    warnings: ({ metadata: { annotations }, spec }, old) =>
      old === undefined &&
      annotations?.[CLASS_ANNOTATION] !== undefined &&
      spec?.ingressClassName === undefined
        ? [`annotation "${CLASS_ANNOTATION}" is deprecated, please use 'spec.ingressClassName' instead`]
        : [],
  },
});

function validate(root: FieldPath, { spec = {} }: Ingress): void {
  const at = root.field('spec');
  const { rules = [], defaultBackend, ingressClassName } = spec;
  if (rules.length === 0 && defaultBackend === undefined)
    at.invalid(
      goList('networking.IngressRule', undefined),
      'either `defaultBackend` or `rules` must be specified',
    );
  if (defaultBackend !== undefined) validateBackend(at.field('defaultBackend'), defaultBackend);
  for (const [path, rule] of at.field('rules').each(rules)) validateRule(path, rule);
  for (const [path, tls] of at.field('tls').each(spec.tls)) validateTls(path, tls);
  if (ingressClassName !== undefined)
    mustBeName(at.field('ingressClassName'), ingressClassName, 'dns-subdomain');
}

/** Both names of the class must agree on a new ingress. On old ones either may have been changed since. */
function validateCreate(at: FieldPath, { metadata, spec }: Ingress): void {
  const annotation = metadata.annotations?.[CLASS_ANNOTATION];
  const name = spec?.ingressClassName;
  if (annotation === undefined || name === undefined || annotation === name) return;
  const path = at.field('annotations').field(CLASS_ANNOTATION);
  path.invalid(annotation, 'must match `ingressClassName` when both are specified');
}

function validateStatus(at: FieldPath, { status }: Ingress, { status: old }: Ingress): void {
  const path = at.field('status').field('loadBalancer').field('ingress');
  const known = knownAddresses(path, old?.loadBalancer?.ingress);
  for (const [item, point] of path.each(status?.loadBalancer?.ingress))
    validateIngressPoint(item, point, known);
}

/** A name, or `*.` and a name. */
const checkHost = (host: string): readonly string[] =>
  host.includes('*') ? checkWildcardSubdomain(host) : checkName(host, 'dns-subdomain');

function validateTls(at: FieldPath, { hosts, secretName = '' }: IngressTLS): void {
  for (const [path, host] of at.field('hosts').each(hosts)) path.invalidFor(host, checkHost(host));
  if (secretName !== '') mustBeName(at.field('secretName'), secretName, 'dns-subdomain');
}

function validateRule(at: FieldPath, { host = '', http }: IngressRule): void {
  if (host !== '') {
    if (parseIp(host) !== undefined) at.field('host').invalid(host, 'must be a DNS name, not an IP address');
    at.field('host').invalidFor(host, checkHost(host));
  }
  if (http === undefined) return;
  const paths = at.field('http').field('paths');
  if ((http.paths ?? []).length === 0) paths.required();
  for (const [path, rule] of paths.each(http.paths)) validatePath(path, rule);
}

function validatePath(at: FieldPath, { pathType = '', path = '', backend = {} }: HTTPIngressPath): void {
  if (pathType === '') {
    at.field('pathType').required('pathType must be specified');
    return;
  }
  at.field('path').invalidFor(path, checkPath(path, pathType));
  validateBackend(at.field('backend'), backend);
}

const WRONG_SEQUENCES = ['//', '/./', '/../', '%2f', '%2F'];
const WRONG_ENDS = ['/..', '/.'];

function checkPath(path: string, type: string): string[] {
  const relative = path.startsWith('/') ? [] : ['must be an absolute path'];
  if (type === 'ImplementationSpecific') return path === '' ? [] : relative;
  if (type !== 'Exact' && type !== 'Prefix') return [];
  return [
    ...relative,
    ...WRONG_SEQUENCES.filter((wrong) => path.includes(wrong)).map((wrong) => `must not contain '${wrong}'`),
    ...WRONG_ENDS.filter((end) => path.endsWith(end)).map((end) => `cannot end with '${end}'`),
  ];
}

/** A resource of the core group names none, which is stored as an empty one. */
function validateResource(at: FieldPath, resource: TypedLocalObjectReference): void {
  const { apiGroup = '', ...rest } = resource;
  validateObjectReference(at, apiGroup === '' ? rest : resource);
}

/** The target of a path: a port of a service, or another object that the controller supports. */
function validateBackend(at: FieldPath, { resource, service }: IngressBackend): void {
  if (resource !== undefined && service !== undefined)
    at.invalid('', 'cannot set both resource and service backends');
  else if (resource !== undefined) validateResource(at.field('resource'), resource);
  else if (service !== undefined) {
    const rule = at.isOn('RelaxedServiceNameValidation') ? 'dns-label' : 'dns-1035-label';
    mustBeNamed(at.field('service').field('name'), service.name ?? '', rule);
    validatePort(at, service.port ?? {});
  } else at.invalid('', 'resource or service backend is required');
}

/** `at` is the backend, which some messages name instead of the port. */
function validatePort(at: FieldPath, { name = '', number = 0 }: ServiceBackendPort): void {
  const path = at.field('service').field('port');
  if (name !== '' && number !== 0) at.invalid('', 'cannot set both port name & port number');
  else if (name !== '') path.field('name').invalidFor(name, checkPortName(name));
  else if (number !== 0) path.field('number').invalidFor(number, checkPort(number));
  else at.required('port name or number is required');
}
