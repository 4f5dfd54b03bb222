import { expect, test } from 'vitest';
import { isServiceSlice, toEndpointSlices, toEndpoints } from '../../src/controllers/kubernetes-service.ts';

const SELF = { address: '192.0.2.1', port: 6443 };

test('servers with one port are one subset and one slice, in one order', () => {
  const servers = [
    { address: '192.0.2.2', port: 6443 },
    { address: '192.0.2.1', port: 6443 },
  ];
  expect(toEndpoints(servers).subsets).toEqual([
    {
      addresses: [{ ip: '192.0.2.1' }, { ip: '192.0.2.2' }],
      ports: [{ name: 'https', port: 6443, protocol: 'TCP' }],
    },
  ]);
  expect(toEndpointSlices(servers, SELF)).toMatchObject([
    { metadata: { name: 'kubernetes' }, addressType: 'IPv4', ports: [{ port: 6443 }] },
  ]);
});

test('ports and families that differ are slices of their own', () => {
  const slices = toEndpointSlices(
    [
      { address: '192.0.2.1', port: 6444 },
      { address: '2001:db8::1', port: 6443 },
      { address: '192.0.2.1', port: 6443 },
    ],
    SELF,
  );
  expect(slices.map(({ metadata, addressType }) => [metadata.name, addressType])).toEqual([
    ['kubernetes', 'IPv4'],
    ['kubernetes-ipv6-6443', 'IPv6'],
    ['kubernetes-ipv4-6444', 'IPv4'],
  ]);
  expect(slices.every(isServiceSlice)).toBe(true);
});

test('the slice stays when the last server leaves, as the endpoints do', () => {
  expect(toEndpoints([])).toMatchObject({ metadata: { name: 'kubernetes' }, subsets: [] });
  expect(toEndpointSlices([], SELF)).toMatchObject([
    {
      metadata: { name: 'kubernetes', labels: { 'kubernetes.io/service-name': 'kubernetes' } },
      addressType: 'IPv4',
      endpoints: [],
      ports: [{ name: 'https', port: 6443, protocol: 'TCP' }],
    },
  ]);
  expect(toEndpointSlices([], { address: '2001:db8::1', port: 6443 })).toMatchObject([
    { metadata: { name: 'kubernetes' }, addressType: 'IPv6' },
  ]);
});
