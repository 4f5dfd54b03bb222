import { expect, test } from 'vitest';
import { parseOptions } from '../../src/options/options.ts';
import {
  findAdvertisedAddress,
  findEndpointAddress,
  firstServiceAddress,
} from '../../src/server/advertised-address.ts';

test('a server is reached at the advertised address, where it listens, or at the host’s own address', () => {
  expect(findAdvertisedAddress('192.0.2.1', '127.0.0.1')).toBe('192.0.2.1');
  expect(findAdvertisedAddress('', '192.0.2.2')).toBe('192.0.2.2');
  expect(findAdvertisedAddress('', '127.0.0.1')).toBeUndefined();
  expect(findAdvertisedAddress('', '::1')).toBeUndefined();
  expect(findAdvertisedAddress('', '0.0.0.0')).not.toBe('127.0.0.1');
});

test('endpoints point to the host of a server that listens to the loopback, as kube-apiserver’s do', () => {
  expect(findEndpointAddress('192.0.2.1', '127.0.0.1')).toBe('192.0.2.1');
  expect(findEndpointAddress('', '192.0.2.2')).toBe('192.0.2.2');
  const ofHost = findAdvertisedAddress('', '0.0.0.0');
  for (const bound of ['127.0.0.1', '::1']) expect(findEndpointAddress('', bound)).toBe(ofHost);
});

test.each([
  ['', '10.0.0.1'],
  ['10.96.0.0/12', '10.96.0.1'],
  ['10.96.5.7/24,fd00::/108', '10.96.5.1'],
  ['fd00:1::/108', 'fd00:1::1'],
])('the first address of %j is %s', (ranges, first) => {
  const { services } = parseOptions([`--service-cluster-ip-range=${ranges}`]);
  expect(firstServiceAddress(services.clusterIpRanges)).toBe(first);
});
