import type { Gates } from '../../api/feature-gates.ts';
import type { EndpointAddress, EndpointPort, EndpointSubset, Endpoints } from '../../api/types/core/v1.ts';
import { equal } from '../../object/equality.ts';
import { FieldPath } from '../../object/field-path.ts';
import { checkPort, checkQualifiedName } from '../../object/text-formats.ts';
import { age, NONE } from '../cells.ts';
import { column, define, nameColumn, type Table } from '../define.ts';
import { checked } from '../rules/checked.ts';
import { mustBeIp, mustNotBeSpecialIp } from '../rules/ip-rules.ts';
import { ipWarningsSince33, warningsOfEach } from '../rules/ip-warnings.ts';
import { mustBeName } from '../rules/name-rules.ts';

const MAX_IN_TABLE = 3;

const table: Table<Endpoints> = {
  columns: [nameColumn(), column('Endpoints'), column('Age')],
  cells: (endpoints, now) => {
    const first: string[] = [];
    let count = 0;
    for (const subset of endpoints.subsets ?? []) {
      count += (subset.addresses?.length ?? 0) * Math.max(1, subset.ports?.length ?? 0);
      if (first.length < MAX_IN_TABLE) first.push(...firstTexts(subset, MAX_IN_TABLE - first.length));
    }
    const more = count > MAX_IN_TABLE ? ` + ${count - MAX_IN_TABLE} more...` : '';
    return [endpoints.metadata.name ?? '', first.join(',') + more || NONE, age(endpoints, now)];
  },
};

/** Each address with each port, up to a limit: a subset of 20,000 addresses and 20,000 ports has 400 million of them. */
function firstTexts({ addresses, ports }: EndpointSubset, limit: number): string[] {
  const ips = (addresses ?? []).slice(0, limit).map(({ ip = '' }) => ip);
  if ((ports ?? []).length === 0) return ips;
  const texts = (ports ?? [])
    .slice(0, limit)
    .flatMap(({ port }) => ips.map((ip) => toHostPort(ip, port ?? '')));
  return texts.slice(0, limit);
}

const toHostPort = (ip: string, port: number | string): string =>
  ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`;

export const endpoints = define<Endpoints>({
  group: '',
  resource: 'endpoints',
  kind: 'Endpoints',
  namespaced: true,
  shortNames: ['ep'],
  versions: [{ version: 'v1', type: 'core/v1.Endpoints' }],
  table,
  strategy: {
    allowCreateOnUpdate: true,
    validate: checked(validate),
    warnings,
  },
});

/** The controller writes good addresses alone, so its objects are not examined. */
function warnings({ metadata, subsets }: Endpoints, _: Endpoints | undefined, isOn?: Gates): string[] {
  if (metadata.labels?.[MANAGED_BY] === 'endpoint-controller') return [];
  return warningsOfEach(addressesOf(FieldPath.root([], isOn), subsets), (item, { ip = '' }) =>
    ipWarningsSince33(item.field('ip'), ip),
  );
}

function* addressesOf(
  at: FieldPath,
  subsets: readonly EndpointSubset[] | undefined,
): Generator<[FieldPath, EndpointAddress]> {
  for (const [path, subset] of at.field('subsets').each(subsets))
    for (const list of ['addresses', 'notReadyAddresses'] as const)
      for (const [item, address] of path.field(list).each(subset[list])) yield [item, address];
}

const MANAGED_BY = 'endpoints.kubernetes.io/managed-by';

/** Since 1.33, subsets that are as before are not judged again. */
function validate(at: FieldPath, { subsets }: Endpoints, old?: Endpoints): void {
  if (at.minor >= 33 && old !== undefined && equal(subsets, old.subsets)) return;
  for (const [path, subset] of at.field('subsets').each(subsets)) validateSubset(path, subset);
}

/** A headless service's endpoints need no ports, but addresses are required. */
function validateSubset(at: FieldPath, subset: EndpointSubset): void {
  const { addresses = [], notReadyAddresses = [], ports = [] } = subset;
  if (addresses.length === 0 && notReadyAddresses.length === 0)
    at.required('must specify `addresses` or `notReadyAddresses`');
  for (const [path, address] of at.field('addresses').each(addresses)) validateAddress(path, address);
  for (const [path, address] of at.field('notReadyAddresses').each(notReadyAddresses))
    validateAddress(path, address);
  for (const [path, port] of at.field('ports').each(ports)) validatePort(path, port, ports.length > 1);
}

function validateAddress(at: FieldPath, { ip = '', hostname = '', nodeName }: EndpointAddress): void {
  mustBeIp(at.field('ip'), ip);
  if (hostname !== '') mustBeName(at.field('hostname'), hostname, 'dns-label');
  if (nodeName !== undefined) mustBeName(at.field('nodeName'), nodeName, 'dns-subdomain');
  mustNotBeSpecialIp(at.field('ip'), ip);
}

function validatePort(
  at: FieldPath,
  { name = '', port = 0, appProtocol }: EndpointPort,
  isOneOfMany: boolean,
): void {
  if (name !== '') mustBeName(at.field('name'), name, 'dns-label');
  else if (isOneOfMany) at.field('name').required();
  at.field('port').invalidFor(port, checkPort(port));
  if (appProtocol !== undefined)
    at.field('appProtocol').invalidFor(appProtocol, checkQualifiedName(appProtocol));
}
