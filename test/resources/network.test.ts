import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { endpoints } from '../../src/resources/core/endpoints.ts';
import { endpointslices } from '../../src/resources/discovery/endpoint-slice.ts';
import { ipaddresses } from '../../src/resources/networking/ip-address.ts';
import { networkpolicies } from '../../src/resources/networking/network-policy.ts';
import { servicecidrs } from '../../src/resources/networking/service-cidr.ts';
import { created, problemsOnCreate, problemsOnUpdate, updated } from '../kit/manifests.ts';

const IP = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
const CIDR = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';
const LABEL =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an " +
  "alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an " +
  "alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const QUALIFIED =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character " +
  "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

describe('endpoints', () => {
  const problems = (...subsets: JsonObject[]): string[] => problemsOnCreate(endpoints, { subsets });
  const addresses = [{ ip: '10.0.0.1', hostname: 'a', nodeName: 'node-1' }];

  test('are addresses with or without ports, ready or not', () => {
    expect(problems()).toEqual([]);
    expect(problems({ addresses }, { notReadyAddresses: addresses, ports: [{ port: 80 }] })).toEqual([]);
    expect(
      problems({
        addresses,
        ports: [
          { name: 'a', port: 1 },
          { name: 'b', port: 2, appProtocol: 'x/y' },
        ],
      }),
    ).toEqual([]);
  });

  test('need an address, and names of ports beside others', () => {
    expect(problems({ ports: [{ port: 1 }, { port: 0, name: 'A', appProtocol: '/' }] })).toEqual([
      'subsets[0].ports[0].name: Required value',
      'subsets[0].ports[1].appProtocol: Invalid value: "/": name part must be non-empty',
      `subsets[0].ports[1].appProtocol: Invalid value: "/": ${QUALIFIED}`,
      'subsets[0].ports[1].appProtocol: Invalid value: "/": prefix part must be non-empty',
      `subsets[0].ports[1].name: Invalid value: "A": ${LABEL}`,
      'subsets[0].ports[1].port: Invalid value: 0: must be between 1 and 65535, inclusive',
      'subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`',
    ]);
  });

  test('have no special addresses, and good names of hosts and nodes', () => {
    expect(
      problems({
        addresses: [{ ip: '127.0.0.1', hostname: 'a.b', nodeName: '' }],
        notReadyAddresses: [{ ip: 'x' }],
      }),
    ).toEqual([
      `subsets[0].addresses[0].hostname: Invalid value: "a.b": must not contain dots`,
      'subsets[0].addresses[0].ip: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
      `subsets[0].addresses[0].nodeName: Invalid value: "": ${SUBDOMAIN}`,
      'subsets[0].notReadyAddresses[0].ip: Invalid value: "x": must be a valid IP address',
      `subsets[0].notReadyAddresses[0].ip: Invalid value: "x": ${IP}`,
    ]);
  });

  test('are shown three at most', () => {
    const row = (...subsets: JsonObject[]): unknown => endpoints.cells(created(endpoints, { subsets }), 0)[1];
    expect(row()).toBe('<none>');
    expect(row({ addresses: [{ ip: '::1' }], ports: [{ port: 80 }] }, { addresses })).toBe(
      '[::1]:80,10.0.0.1',
    );
    const four = ['1', '2', '3', '4'].map((last) => ({ ip: `10.0.0.${last}` }));
    expect(row({ addresses: four })).toBe('10.0.0.1,10.0.0.2,10.0.0.3 + 1 more...');
  });
});

describe('endpoint slices', () => {
  const SLICE = {
    addressType: 'IPv4',
    endpoints: [
      { addresses: ['10.0.0.1'], nodeName: 'node-1', hostname: 'a', hints: { forZones: [{ name: 'z1' }] } },
    ],
    ports: [{ name: 'http', port: 80, appProtocol: 'kubernetes.io/ws' }, { name: '' }],
  };
  const problems = (changes: JsonObject): string[] =>
    problemsOnCreate(endpointslices, { ...SLICE, ...changes });
  const addressed = (addressType: string, ...addresses: string[]): string[] =>
    problems({ addressType, endpoints: [{ addresses }] });

  test('are endpoints of one type, with ports', () => {
    expect(problems({})).toEqual([]);
    expect(addressed('IPv6', '2001:db8::1')).toEqual([]);
    expect(addressed('FQDN', 'db.example.com.')).toEqual([]);
    expect(created(endpointslices, SLICE).ports).toMatchObject([
      { protocol: 'TCP' },
      { name: '', protocol: 'TCP' },
    ]);
  });

  test('have addresses of their type', () => {
    expect(addressed('IPv4', '2001:db8::1', '127.0.0.1')).toEqual([
      'endpoints[0].addresses[0]: Invalid value: "2001:db8::1": must be a valid IPv4 address',
      'endpoints[0].addresses[1]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
    ]);
    expect(addressed('IPv6', '::ffff:10.0.0.1', 'x')).toEqual([
      'endpoints[0].addresses[0]: Invalid value: "::ffff:10.0.0.1": must be a valid IPv6 address',
      'endpoints[0].addresses[1]: Invalid value: "x": must be a valid IP address',
      'endpoints[0].addresses[1]: Invalid value: "x": must be a valid IPv6 address',
    ]);
    expect(addressed('FQDN', '', 'A', 'a', `${'x'.repeat(64)}.a`)).toEqual([
      'endpoints[0].addresses[0]: Required value',
      `endpoints[0].addresses[1]: Invalid value: "A": ${SUBDOMAIN}`,
      'endpoints[0].addresses[2]: Invalid value: "a": should be a domain with at least two segments separated by dots',
      `endpoints[0].addresses[3]: Invalid value: "${'x'.repeat(64)}": must be no more than 63 characters`,
    ]);
    expect(addressed('IPv5', 'x')).toEqual([
      'addressType: Unsupported value: "IPv5": supported values: "FQDN", "IPv4", "IPv6"',
    ]);
    expect(problems({ addressType: undefined })).toEqual(['addressType: Required value']);
  });

  test('have bounds', () => {
    const address = '10.0.0.1';
    expect(addressed('IPv4')).toEqual([
      'endpoints[0].addresses: Required value: must contain at least 1 address',
    ]);
    expect(addressed('IPv4', ...new Array<string>(101).fill(address))).toEqual([
      'endpoints[0].addresses: Too many: 101: must have at most 100 items',
    ]);
    expect(problems({ endpoints: new Array<JsonObject>(1001).fill({ addresses: [address] }) })).toEqual([
      'endpoints: Too many: 1001: must have at most 1000 items',
    ]);
    const forZones = new Array<JsonObject>(9).fill({ name: 'z' });
    expect(problems({ endpoints: [{ addresses: [address], hints: { forZones } }] })).toEqual([
      'endpoints[0].hints.forZones: Too many: 9: must have at most 8 items',
    ]);
  });

  test('name their ports, hosts, nodes and zones well', () => {
    const forZones = [{ name: 'z' }, { name: 'z' }];
    const ports = [
      { name: 'A' },
      {},
      { name: '', protocol: 'ICMP' },
      { name: 'b', protocol: '', appProtocol: '' },
    ];
    const bad = [{ addresses: ['10.0.0.1'], nodeName: '', hostname: 'B', hints: { forZones } }];
    expect(problems({ endpoints: bad, ports })).toEqual([
      'endpoints[0].hints.forZones[1].name: Duplicate value: "z"',
      `endpoints[0].hostname: Invalid value: "B": ${LABEL}`,
      `endpoints[0].nodeName: Invalid value: "": ${SUBDOMAIN}`,
      `ports[0].name: Invalid value: "A": ${LABEL}`,
      'ports[2].name: Duplicate value: ""',
      'ports[2].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"',
      'ports[3].appProtocol: Invalid value: "": name part must be non-empty',
      `ports[3].appProtocol: Invalid value: "": ${QUALIFIED}`,
      'ports[3].protocol: Unsupported value: "": supported values: "SCTP", "TCP", "UDP"',
    ]);
  });

  test('never change their type, and count a change of labels as a change', () => {
    const six = { ...SLICE, addressType: 'IPv6', endpoints: [] };
    expect(problemsOnUpdate(endpointslices, SLICE, six)).toEqual([
      'addressType: Invalid value: "IPv6": field is immutable',
    ]);
    const labelled = { ...SLICE, metadata: { labels: { a: 'b' } } };
    expect(updated(endpointslices, SLICE, labelled).metadata.generation).toBe(1);
    expect(updated(endpointslices, labelled, labelled).metadata.generation).toBeUndefined();
  });

  test('drop the topology of v1beta1, and warn of names as addresses', () => {
    const old = { ...SLICE, endpoints: [{ addresses: ['10.0.0.1'], deprecatedTopology: { zone: 'z' } }] };
    expect(created(endpointslices, old).endpoints).toEqual([{ addresses: ['10.0.0.1'], conditions: {} }]);
    const named = created(endpointslices, { addressType: 'FQDN', endpoints: [] });
    expect(endpointslices.strategy.warnings?.(named, undefined)).toEqual([
      'spec.addressType: FQDN endpoints are deprecated',
    ]);
    expect(endpointslices.strategy.warnings?.(named, named)).toEqual([]);
  });

  test('are shown as kubectl does', () => {
    const row = (changes: JsonObject): unknown =>
      endpointslices.cells(created(endpointslices, { ...SLICE, ...changes }), 0).slice(1, 4);
    const addresses = ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.5'];
    expect(row({ endpoints: [{ addresses }], ports: [{ port: 1 }, { name: 'b' }] })).toEqual([
      'IPv4',
      '1,b',
      '10.0.0.1,10.0.0.2,10.0.0.3 + 2 more...',
    ]);
    expect(row({ endpoints: [], ports: null })).toEqual(['IPv4', '<unset>', '<unset>']);
  });
});

describe('network policies', () => {
  const problems = (spec: JsonObject): string[] => problemsOnCreate(networkpolicies, { spec });
  const from = (...peers: JsonObject[]): string[] => problems({ ingress: [{ from: peers }] });
  const ports = (...given: JsonObject[]): string[] => problems({ egress: [{ ports: given }] });

  test('are rules for the pods they select', () => {
    const ipBlock = { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] };
    const podSelector = { matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] };
    expect(problems({})).toEqual([]);
    expect(from({ podSelector }, { namespaceSelector: {}, podSelector }, { ipBlock })).toEqual([]);
    expect(ports({}, { port: 'http' }, { port: 80, endPort: 90, protocol: 'UDP' })).toEqual([]);
  });

  test('are about what comes in, and about what goes out when they say anything of it', () => {
    const types = (spec: JsonObject): unknown => created(networkpolicies, { spec }).spec;
    expect(types({})).toEqual({ podSelector: {}, policyTypes: ['Ingress'] });
    expect(types({ egress: [{}] })).toMatchObject({ policyTypes: ['Ingress', 'Egress'] });
    expect(types({ egress: [{}], policyTypes: ['Egress'] })).toMatchObject({ policyTypes: ['Egress'] });
  });

  test('know two types', () => {
    expect(problems({ policyTypes: ['Egress', 'Both'] })).toEqual([
      'spec.policyTypes[1]: Unsupported value: "Both": supported values: "Ingress", "Egress"',
    ]);
    expect(problems({ policyTypes: ['Egress', 'Ingress', 'Egress'] })).toEqual([
      'spec.policyTypes: Invalid value: []networking.PolicyType{"Egress", "Ingress", "Egress"}: may not specify more than two policyTypes',
    ]);
  });

  test('have ports that exist', () => {
    expect(
      ports(
        { port: 0 },
        { port: 'no_name' },
        { endPort: 5 },
        { port: 'a', endPort: 5 },
        { port: 9, endPort: 8, protocol: 'X' },
      ),
    ).toEqual([
      'spec.egress[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive',
      'spec.egress[0].ports[1].port: Invalid value: "no_name": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
      'spec.egress[0].ports[2].endPort: Invalid value: 5: may not be specified when `port` is not specified',
      'spec.egress[0].ports[3].endPort: Invalid value: 5: may not be specified when `port` is non-numeric',
      'spec.egress[0].ports[4].endPort: Invalid value: 9: must be greater than or equal to `port`',
      'spec.egress[0].ports[4].protocol: Unsupported value: "X": supported values: "TCP", "UDP", "SCTP"',
    ]);
  });

  test('have peers of one sort, and parts of ranges as exceptions', () => {
    const path = 'spec.ingress[0].from';
    const except = ['10.0.0.0/8', '11.0.0.0/16', 'y', '10.255.0.0/16'];
    expect(
      from({}, { ipBlock: { cidr: 'x' }, podSelector: {} }, { ipBlock: { cidr: '10.0.0.0/8', except } }),
    ).toEqual([
      `${path}[0]: Required value: must specify a peer`,
      `${path}[1].ipBlock.cidr: Invalid value: "x": ${CIDR}`,
      `${path}[1]: Forbidden: may not specify both ipBlock and another peer`,
      `${path}[2].ipBlock.except[0]: Invalid value: "10.0.0.0/8": must be a strict subset of \`cidr\``,
      `${path}[2].ipBlock.except[1]: Invalid value: "11.0.0.0/16": must be a strict subset of \`cidr\``,
      `${path}[2].ipBlock.except[2]: Invalid value: "y": ${CIDR}`,
    ]);
  });

  test('select by good labels', () => {
    const matchExpressions = [
      { key: 'a', operator: 'In' },
      { key: 'a', operator: 'Exists', values: ['b'] },
      { key: 'a', operator: 'Is' },
    ];
    expect(problems({ podSelector: { matchExpressions } })).toEqual([
      "spec.podSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
      "spec.podSelector.matchExpressions[1].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
      'spec.podSelector.matchExpressions[2].operator: Invalid value: "Is": not a valid selector operator',
    ]);
  });

  test('are shown with what they select', () => {
    const podSelector = { matchLabels: { app: 'web' } };
    expect(networkpolicies.cells(created(networkpolicies, { spec: { podSelector } }), 0)).toEqual([
      'it',
      'app=web',
      '<unknown>',
    ]);
    expect(networkpolicies.cells(created(networkpolicies, {}), 0)[1]).toBe('<none>');
  });
});

describe('IP addresses', () => {
  const parentRef = { group: '', resource: 'services', namespace: 'default', name: 'web' };
  const named = (name: string, spec: JsonObject = { parentRef }): JsonObject => ({
    metadata: { name },
    spec,
  });
  const problems = (name: string, spec?: JsonObject): string[] =>
    problemsOnCreate(ipaddresses, named(name, spec));

  test('are called what they are, in one way', () => {
    expect(problems('10.0.0.1')).toEqual([]);
    expect(problems('2001:db8::1')).toEqual([]);
    expect(problems('2001:DB8::1')).toEqual([
      'metadata.name: Invalid value: "2001:DB8::1": must be a canonical format IP address',
    ]);
    expect(problems('web')).toEqual([
      'metadata.name: Invalid value: "web": ParseAddr("web"): unable to parse IP',
    ]);
  });

  test('belong to something, always the same', () => {
    expect(problems('10.0.0.1', {})).toEqual(['spec.parentRef: Required value']);
    expect(problems('10.0.0.1', { parentRef: { group: 'A', resource: 'a/b' } })).toEqual([
      `spec.parentRef.group: Invalid value: "A": ${SUBDOMAIN}`,
      'spec.parentRef.name: Required value',
      `spec.parentRef.resource: Invalid value: "a/b": may not contain '/'`,
    ]);
    const other = named('10.0.0.1', { parentRef: { ...parentRef, name: 'other' } });
    expect(problemsOnUpdate(ipaddresses, named('10.0.0.1'), other)).toEqual([
      'spec.parentRef: Invalid value: networking.ParentReference{Group:"", Resource:"services", Namespace:"default", Name:"other"}: field is immutable',
    ]);
  });

  test('are shown with what they belong to', () => {
    const row = (spec: JsonObject): unknown =>
      ipaddresses.cells(created(ipaddresses, named('10.0.0.1', spec)), 0);
    expect(row({ parentRef })).toEqual(['10.0.0.1', 'services/default/web']);
    expect(row({ parentRef: { group: 'a.example.com', resource: 'Gates', name: 'x' } })).toEqual([
      '10.0.0.1',
      'gates.a.example.com/x',
    ]);
  });
});

describe('ranges of service addresses', () => {
  const problems = (...cidrs: string[]): string[] => problemsOnCreate(servicecidrs, { spec: { cidrs } });

  test('are one, or one of each family', () => {
    expect(problems('10.0.0.0/24')).toEqual([]);
    expect(problems('2001:db8::/112', '10.0.0.0/24')).toEqual([]);
    expect(problems()).toEqual(['spec.cidrs: Required value: at least one CIDR required']);
    const why = 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64';
    expect(problems('10.0.0.0/24', '10.1.0.0/24')).toEqual([
      `spec.cidrs: Invalid value: networking.ServiceCIDRSpec{CIDRs:[]string{"10.0.0.0/24", "10.1.0.0/24"}}: ${why}`,
    ]);
    expect(problems('a', 'b', 'c')).toEqual([
      'spec.cidrs: Invalid value: networking.ServiceCIDRSpec{CIDRs:[]string{"a", "b", "c"}}: may only hold up to 2 values',
    ]);
  });

  test('are written in one way', () => {
    expect(problems('10.0.0.1/24')).toEqual([
      `spec.cidrs[0]: Invalid value: "10.0.0.1/24": wrong CIDR format, IP doesn't match network IP address`,
    ]);
    expect(problems('2001:DB8::/64')).toEqual([
      'spec.cidrs[0]: Invalid value: "2001:DB8::/64": CIDR not in RFC 5952 canonical format',
    ]);
    expect(problems('10.0.0.0')).toEqual([
      `spec.cidrs[0]: Invalid value: "10.0.0.0": netip.ParsePrefix("10.0.0.0"): no '/'`,
    ]);
  });

  test('stay what they are', () => {
    const before = { spec: { cidrs: ['10.0.0.0/24'] } };
    expect(problemsOnUpdate(servicecidrs, before, { spec: { cidrs: ['10.1.0.0/24'] } })).toEqual([
      'spec.cidrs: Invalid value: []string{"10.1.0.0/24"}: field is immutable',
    ]);
    expect(servicecidrs.cells(created(servicecidrs, before), 0)).toEqual(['it', '10.0.0.0/24', '<unknown>']);
  });
});
