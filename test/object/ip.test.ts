import { expect, test } from 'vitest';
import { contains, isIpv6, parseCidr, parseIp, readStrictCidr, readStrictIp } from '../../src/object/ip.ts';
import { checkCidr, checkIp } from '../../src/object/text-formats.ts';

test('addresses are read as Kubernetes reads them', () => {
  const good = ['10.9.8.7', '010.009.8.7', '::', '::1', '2001:db8::ffff', 'fe80::1:2', '1:2:3:4:5:6:7:8'];
  const mapped = ['::ffff:10.0.0.1', '1:2:3:4:5:6:1.2.3.4', '64:ff9b::1.2.3.4'];
  for (const text of [...good, ...mapped]) expect(checkIp(text), text).toEqual([]);
  const bad = [
    '',
    'a',
    '1.2.3',
    '1.2.3.4.5',
    '1.2.3.256',
    '1.2.3.4 ',
    'fe80::1%eth0',
    '1::2::3',
    ':::',
    ':1',
  ];
  const short = ['1:2:3:4:5:6:7', '1:2:3:4:5:6:7:8:9', '1:2:3:4:5:6:7::8', '12345::', '1.2.3.4::', 'g::'];
  for (const text of [...bad, ...short]) expect(checkIp(text), text).toHaveLength(1);
});

test('an IPv4 address in IPv6 notation is an IPv4 address', () => {
  expect(parseIp('::ffff:10.0.0.1')).toEqual({ family: 4, bytes: [10, 0, 0, 1] });
  expect(isIpv6('::ffff:10.0.0.1')).toBe(false);
  expect(isIpv6('::1')).toBe(true);
});

test('ranges need an address and a prefix that fits it', () => {
  for (const text of ['10.0.0.0/8', '10.1.2.3/32', '0.0.0.0/0', '2001:db8::/64', '::/128'])
    expect(checkCidr(text), text).toEqual([]);
  for (const text of [
    '',
    '10.0.0.0',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/',
    '::/129',
    '/8',
    '1.2.3.4/8/9',
  ])
    expect(checkCidr(text), text).toHaveLength(1);
});

test('a range contains the ranges inside it, of its own family', () => {
  const within = (outer: string, inner: string): boolean => {
    const [a, b] = [parseCidr(outer), parseCidr(inner)];
    return a !== undefined && b !== undefined && contains(a, b);
  };
  expect(within('10.0.0.0/8', '10.200.0.0/16')).toBe(true);
  expect(within('10.0.0.0/9', '10.200.0.0/16')).toBe(false);
  expect(within('0.0.0.0/0', '192.168.0.0/24')).toBe(true);
  expect(within('2001:db8::/33', '2001:db8:7fff::/48')).toBe(true);
  expect(within('2001:db8::/33', '2001:db8:8000::/48')).toBe(false);
  expect(within('0.0.0.0/0', '::/0')).toBe(false);
});

test('the canonical form of an address is that of RFC 5952', () => {
  const forms = {
    '10.0.0.1': '10.0.0.1',
    '2001:DB8::1': '2001:db8::1',
    '2001:db8:0:0:0:0:2:1': '2001:db8::2:1',
    '2001:db8:0:1:1:1:1:1': '2001:db8:0:1:1:1:1:1',
    '2001:0:0:1:0:0:0:1': '2001:0:0:1::1',
    '2001:db8:0:0:1:0:0:1': '2001:db8::1:0:0:1',
    '0:0:0:0:0:0:0:0': '::',
    '::ffff:1.2.3.4': '::ffff:1.2.3.4',
    'fe80::1%eth0': 'fe80::1%eth0',
  };
  for (const [text, canonical] of Object.entries(forms)) {
    expect(readStrictIp(text), text).toMatchObject({ kind: 'good', canonical });
  }
  expect(readStrictCidr('2001:DB8::/32')).toMatchObject({ canonical: '2001:db8::/32', masked: true });
  expect(readStrictCidr('10.0.0.1/24')).toMatchObject({ canonical: '10.0.0.1/24', masked: false });
});

test('a strict reading says why it fails in the words of Go', () => {
  const ip = {
    foo: 'ParseAddr("foo"): unable to parse IP',
    '%eth0': 'ParseAddr("%eth0"): missing IPv6 address',
    '::1%': 'ParseAddr("::1%"): zone must be a non-empty string',
    '010.0.0.1': 'ParseAddr("010.0.0.1"): IPv4 field has octet with leading zero',
    '1.2.3.256': 'ParseAddr("1.2.3.256"): IPv4 field has value >255',
    '1.2.3': 'ParseAddr("1.2.3"): IPv4 address too short',
    '1.2.3.4.5': 'ParseAddr("1.2.3.4.5"): IPv4 address too long',
    '1.2.x.4': 'ParseAddr("1.2.x.4"): unexpected character (at "x.4")',
    '1..2.3': 'ParseAddr("1..2.3"): IPv4 field must have at least one digit (at ".2.3")',
    '1.2.3.': 'ParseAddr("1.2.3."): IPv4 field must have at least one digit (at ".")',
    '1::2::3': 'ParseAddr("1::2::3"): unable to parse IP',
    '::ffff:010.0.0.1': 'ParseAddr("::ffff:010.0.0.1"): unable to parse IP',
  };
  for (const [text, why] of Object.entries(ip)) expect(readStrictIp(text)).toEqual({ kind: 'bad', why });
  const cidr = {
    '10.0.0.0': 'netip.ParsePrefix("10.0.0.0"): no \'/\'',
    'a/8': 'netip.ParsePrefix("a/8"): ParseAddr("a"): unable to parse IP',
    '10.0.0.0/08': 'netip.ParsePrefix("10.0.0.0/08"): bad bits after slash: "08"',
    '10.0.0.0/33': 'netip.ParsePrefix("10.0.0.0/33"): prefix length out of range',
    'fe80::1%a/64': 'netip.ParsePrefix("fe80::1%a/64"): IPv6 zones cannot be present in a prefix',
  };
  for (const [text, why] of Object.entries(cidr)) expect(readStrictCidr(text)).toEqual({ kind: 'bad', why });
});
