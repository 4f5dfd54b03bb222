import { expect, test } from 'vitest';
import { type IpRange, parseCidr } from '../../src/object/ip.ts';
import { createAddressPool, createPortPool } from '../../src/registry/value-pool.ts';

const range = (text: string): IpRange => {
  const cidr = parseCidr(text);
  if (cidr === undefined) throw new Error(text);
  return cidr;
};

test('the network and the broadcast address of a range are not given out', () => {
  const pool = createAddressPool(range('10.0.0.5/24'), 1);
  expect(pool).toMatchObject({ name: 'IPv4', range: '10.0.0.0/24', size: 254, reserved: 1, dynamicFrom: 16 });
  expect([0, 253].map((index) => pool.valueAt(index))).toEqual(['10.0.0.1', '10.0.0.254']);
  expect(['10.0.0.1', '10.0.0.254'].map((ip) => pool.indexOf(ip))).toEqual([0, 253]);
  expect(['10.0.0.0', '10.0.0.255', '10.0.1.0', 'fd00::1', 'x'].map((ip) => pool.indexOf(ip))).toEqual([
    ...new Array(5).fill(undefined),
  ]);
});

test('an IPv6 range gives its first 65,535 addresses', () => {
  const pool = createAddressPool(range('fd00:1::/64'), 0);
  expect(pool).toMatchObject({ name: 'IPv6', range: 'fd00:1::/64', size: 65_535, dynamicFrom: 256 });
  expect(pool.valueAt(65_534)).toBe('fd00:1::ffff');
  expect(pool.indexOf('fd00:1::1:0')).toBeUndefined();
  expect(pool.indexOf('fd00:0001::0010')).toBe(15);
});

test('the band that is chosen from last grows with the range, within bounds', () => {
  const bandOf = (text: string): number => createAddressPool(range(text), 0).dynamicFrom;
  expect(['10.0.0.0/28', '10.0.0.0/27', '10.0.0.0/23', '10.0.0.0/20', '10.0.0.0/16'].map(bandOf)).toEqual([
    0, 16, 32, 256, 256,
  ]);
  expect(createPortPool({ first: 30_000, last: 32_767 })).toMatchObject({
    range: '30000-32767',
    size: 2768,
    dynamicFrom: 86,
  });
  expect(createPortPool({ first: 30_000, last: 30_015 }).dynamicFrom).toBe(0);
});
