import { expect, test } from 'vitest';
import { type IpRange, parseCidr } from '../../src/object/ip.ts';
import { createAddressPool, createPortPool, joinPools } from '../../src/registry/value-pool.ts';

const range = (text: string): IpRange => {
  const cidr = parseCidr(text);
  if (cidr === undefined) throw new Error(text);
  return cidr;
};

test('the network and the broadcast address of a range are not given out', () => {
  const pool = createAddressPool(range('10.0.0.5/24'), { reserved: 1, isWhole: false });
  expect(pool).toMatchObject({ name: 'IPv4', range: '10.0.0.0/24', size: 254, reserved: 1, dynamicFrom: 16 });
  expect([0, 253].map((index) => pool.valueAt(index))).toEqual(['10.0.0.1', '10.0.0.254']);
  expect(['10.0.0.1', '10.0.0.254'].map((ip) => pool.indexOf(ip))).toEqual([0, 253]);
  expect(['10.0.0.0', '10.0.0.255', '10.0.1.0', 'fd00::1', 'x'].map((ip) => pool.indexOf(ip))).toEqual([
    ...new Array(5).fill(undefined),
  ]);
});

test('an IPv6 range that cannot grow gives its first 65,535 addresses', () => {
  const pool = createAddressPool(range('fd00:1::/64'), { reserved: 0, isWhole: false });
  expect(pool).toMatchObject({ name: 'IPv6', range: 'fd00:1::/64', size: 65_535, dynamicFrom: 256 });
  expect(pool.valueAt(65_534)).toBe('fd00:1::ffff');
  expect(pool.indexOf('fd00:1::1:0')).toBeUndefined();
  expect(pool.indexOf('fd00:0001::0010')).toBe(15);
});

test.each([
  ['fd00:1::/64', 'fd00:1::7fff:ffff:fffe', 'fd00:1::ffff:ffff:ffff:ffff', 'fd00:1:0:1::'],
  ['10.0.0.0/8', '10.255.255.253', '10.255.255.254', '10.255.255.255'],
])('any address of %s may be asked for', (text, chosen, last, outside) => {
  const pool = createAddressPool(range(text), { reserved: 0, isWhole: true });
  const joined = joinPools(pool, [createAddressPool(range('fd01::/124'), { reserved: 0, isWhole: true })]);
  expect(pool.indexOf(chosen)).toBeLessThan(pool.size);
  expect(pool.indexOf(last)).toBe(pool.valueAt(pool.size - 1) === last ? pool.size - 1 : pool.size);
  expect(joined.indexOf('fd01::2')).toBe(pool.size + 1);
  expect([pool.indexOf(outside), joined.indexOf(outside)]).toEqual([undefined, undefined]);
  expect(joined.indexOf(last)).toBe(pool.indexOf(last) === pool.size ? joined.size : pool.indexOf(last));
});

test('the band that is chosen from last grows with the range, within bounds', () => {
  const bandOf = (text: string): number =>
    createAddressPool(range(text), { reserved: 0, isWhole: false }).dynamicFrom;
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
