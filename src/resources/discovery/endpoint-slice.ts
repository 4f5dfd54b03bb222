import type { Gates } from '../../api/feature-gates.ts';
import type {
  Endpoint,
  EndpointPort,
  EndpointSlice,
  ForNode,
  ForZone,
} from '../../api/types/discovery/v1.ts';
import { equal } from '../../object/equality.ts';
import { FieldPath } from '../../object/field-path.ts';
import { parseIp } from '../../object/ip.ts';
import { nextGeneration } from '../../object/metadata.ts';
import { checkLabelValue, checkName, checkQualifiedName } from '../../object/text-formats.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn, type Table } from '../define.ts';
import { checked } from '../rules/checked.ts';
import { mustBeCanonicalIp, mustBeIp, mustNotBeSpecialIp } from '../rules/ip-rules.ts';
import { ipWarningsSince33, warningsOfEach } from '../rules/ip-warnings.ts';
import { mustBeName, mustBeNamed } from '../rules/name-rules.ts';

const table: Table<EndpointSlice> = {
  columns: [nameColumn(), column('AddressType'), column('Ports'), column('Endpoints'), column('Age')],
  cells: (slice, now) => {
    const { metadata, addressType = '', endpoints } = slice;
    // A slice without a port is for every port.
    const ports = (slice.ports ?? []).map(({ name, port }) => String(port ?? name ?? '*'));
    const addresses = (endpoints ?? []).flatMap((endpoint) => endpoint.addresses ?? []);
    return [metadata.name ?? '', addressType, firstOf(ports), firstOf(addresses), age(slice, now)];
  },
};

const MAX_IN_TABLE = 3;

function firstOf(all: readonly string[]): string {
  const first = all.slice(0, MAX_IN_TABLE).join(',');
  return all.length > MAX_IN_TABLE ? `${first} + ${all.length - MAX_IN_TABLE} more...` : first || '<unset>';
}

export const endpointslices = define<EndpointSlice>({
  group: 'discovery.k8s.io',
  resource: 'endpointslices',
  kind: 'EndpointSlice',
  namespaced: true,
  versions: [{ version: 'v1', type: 'discovery/v1.EndpointSlice' }],
  table,
  strategy: {
    tracksGeneration: true,
    prepareForCreate: dropTopology,
    prepareForUpdate: (slice, old) => {
      // Labels bind a slice to its service, so that a change of labels changes the slice.
      if (!equal(slice.metadata.labels ?? {}, old.metadata.labels ?? {}))
        slice.metadata.generation = nextGeneration(old.metadata);
      dropTopology(slice);
    },
    validate: checked(validate),
    warnings,
  },
});

function warnings(slice: EndpointSlice, old: EndpointSlice | undefined, isOn?: Gates): string[] {
  const isDeprecated = old === undefined && slice.addressType === 'FQDN';
  const found = isDeprecated ? ['spec.addressType: FQDN endpoints are deprecated'] : [];
  // Controllers write good addresses alone, so their objects are not examined.
  if (CONTROLLERS.has(slice.metadata.labels?.[MANAGED_BY] ?? '')) return found;
  const addresses = addressesOf(FieldPath.root([], isOn), slice);
  return [...found, ...warningsOfEach(addresses, ipWarningsSince33)];
}

function* addressesOf(at: FieldPath, { endpoints }: EndpointSlice): Generator<[FieldPath, string]> {
  for (const [path, { addresses }] of at.field('endpoints').each(endpoints))
    for (const [item, address] of path.field('addresses').each(addresses)) yield [item, address];
}

const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by';
const CONTROLLERS: ReadonlySet<string> = new Set([
  'endpointslice-controller.k8s.io',
  'endpointslicemirroring-controller.k8s.io',
]);

/** A field of v1beta1, which v1 only shows: nodeName and zone took its place. */
function dropTopology({ endpoints }: EndpointSlice): void {
  for (const endpoint of endpoints ?? []) delete endpoint.deprecatedTopology;
}

const MAX_ENDPOINTS = 1000;
const MAX_ADDRESSES = 100;
const MAX_PORTS = 20_000;
const MAX_ZONES = 8;

/** Since 1.33, endpoints that are as before are not judged again. */
function validate(at: FieldPath, slice: EndpointSlice, old?: EndpointSlice): void {
  const endpoints = slice.endpoints ?? [];
  const ports = slice.ports ?? [];
  const isKnown = at.minor >= 33 && old !== undefined && equal(slice.endpoints, old.endpoints);
  if (endpoints.length > MAX_ENDPOINTS && !isKnown)
    at.field('endpoints').tooMany(endpoints.length, MAX_ENDPOINTS);
  else if (!isKnown)
    for (const [path, endpoint] of at.field('endpoints').each(endpoints))
      validateEndpoint(path, endpoint, slice.addressType ?? '');
  if (ports.length > MAX_PORTS) at.field('ports').tooMany(ports.length, MAX_PORTS);
  else validatePorts(at.field('ports'), ports);
}

function validateEndpoint(at: FieldPath, endpoint: Endpoint, type: string): void {
  const { nodeName, hostname, hints } = endpoint;
  const addresses = endpoint.addresses ?? [];
  const path = at.field('addresses');
  if (addresses.length === 0) path.required('must contain at least 1 address');
  else if (addresses.length > MAX_ADDRESSES) path.tooMany(addresses.length, MAX_ADDRESSES);
  for (const [item, address] of path.each(addresses))
    if (type !== 'FQDN' && at.minor >= 33) validateIp({ list: path, item }, address, type);
    else validateAddress(item, address, type);
  if (nodeName !== undefined) mustBeName(at.field('nodeName'), nodeName, 'dns-subdomain');
  if (hostname !== undefined) mustBeName(at.field('hostname'), hostname, 'dns-label');
  validateHints(at.field('hints').field('forZones'), hints?.forZones ?? []);
  validateNodes(at.field('hints').field('forNodes'), hints?.forNodes ?? []);
}

function validateAddress(at: FieldPath, address: string, type: string): void {
  if (type === 'FQDN') {
    mustBeDomainName(at, address);
    return;
  }
  if (type !== 'IPv4' && type !== 'IPv6') return;
  const family = type === 'IPv4' ? 4 : 6;
  if (parseIp(address)?.family !== family) at.invalid(address, `must be a valid ${type} address`);
  mustNotBeSpecialIp(at, address);
}

/** Since 1.33: IPv6 in canonical form alone. An address of the other family is a mistake of the list. */
function validateIp(
  at: { readonly list: FieldPath; readonly item: FieldPath },
  address: string,
  type: string,
): void {
  if (type !== 'IPv4' && type !== 'IPv6') return;
  const found = at.item.found;
  if (type === 'IPv6') mustBeCanonicalIp(at.item, address);
  else mustBeIp(at.item, address);
  if (at.item.found > found) return;
  if (parseIp(address)?.family !== (type === 'IPv4' ? 4 : 6))
    at.list.invalid(address, `must be an ${type} address`);
  mustNotBeSpecialIp(at.item, address);
}

/** At least two labels; a trailing dot is allowed. Reports one mistake. */
function mustBeDomainName(at: FieldPath, address: string): void {
  if (address === '') {
    at.required();
    return;
  }
  const name = address.replace(/\.$/, '');
  const problems = checkName(name, 'dns-subdomain');
  const labels = name.split('.');
  const wrong = labels.find((label) => checkName(label, 'dns-label').length > 0);
  if (problems.length > 0) at.invalid(name, problems.join(','));
  else if (labels.length < 2)
    at.invalid(name, 'should be a domain with at least two segments separated by dots');
  else if (wrong !== undefined) at.invalid(wrong, checkName(wrong, 'dns-label').join(','));
}

const MAX_NODES = 8;

function validateNodes(at: FieldPath, nodes: readonly ForNode[]): void {
  if (nodes.length > MAX_NODES) {
    at.tooMany(nodes.length, MAX_NODES);
    return;
  }
  const seen = new Set<string>();
  for (const [path, { name = '' }] of at.each(nodes)) {
    if (seen.has(name)) path.field('name').duplicate(name);
    seen.add(name);
    mustBeNamed(path.field('name'), name, 'dns-subdomain');
  }
}

function validateHints(at: FieldPath, zones: readonly ForZone[]): void {
  if (zones.length > MAX_ZONES) {
    at.tooMany(zones.length, MAX_ZONES);
    return;
  }
  const seen = new Set<string>();
  for (const [item, { name = '' }] of at.each(zones)) {
    const path = item.field('name');
    if (seen.has(name)) path.duplicate(name);
    seen.add(name);
    path.invalidFor(name, checkLabelValue(name));
  }
}

function validatePorts(at: FieldPath, ports: readonly EndpointPort[]): void {
  const taken = new Set<string>();
  for (const [path, { name = '', protocol, appProtocol }] of at.each(ports)) {
    if (name !== '') mustBeName(path.field('name'), name, 'dns-label');
    if (taken.has(name)) path.field('name').duplicate(name);
    taken.add(name);
    if (protocol === '') path.field('protocol').notSupported('', ['SCTP', 'TCP', 'UDP']);
    if (appProtocol !== undefined)
      path.field('appProtocol').invalidFor(appProtocol, checkQualifiedName(appProtocol));
  }
}
