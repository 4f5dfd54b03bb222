import { expect, test } from 'vitest';
import { checkOfFormat } from '../../src/structural/schema-formats.ts';
import { cpuMsOf } from '../kit/cpu-time.ts';

/** Texts that Kubernetes takes and refuses (kube-openapi, validation/strfmt; govalidator; net/url; net/mail). */
test.each<[string, string[], string[]]>([
  ['bsonobjectid', ['507f1f77bcf86cd799439011'], ['507f1f77bcf86cd79943901', 'g07f1f77bcf86cd799439011', '']],
  [
    'uri',
    [
      'http://a.b/c?d#e',
      '/a/b c',
      '*',
      'mailto:a@b',
      'a:b',
      'http://[::1]:80/',
      'http://u:p@h',
      'http://h:',
      'http://a%20b'.replace('%20', '%C3%A9'),
      'foo://',
    ],
    [
      '',
      'a/b',
      '?a',
      'http://a b',
      'http://h:x',
      'http://[::1',
      '/a%zz',
      'http://a%20b',
      ':a',
      'a\tb:c',
      'http://a#b',
    ],
  ],
  [
    'email',
    ['a@b', 'a.b+c@d-e.f', 'A B <a@b>', '"a b"@c', 'a@[1.2.3.4]', '<a@b>', 'ä@b', ' a@b '],
    ['', 'a', '@b', 'a@', 'a b@c', 'a..b@c', 'a@b@c', 'a@b>', 'A <a@b', 'a@[x]'],
  ],
  [
    'hostname',
    [
      'a',
      'somewhere.com',
      'a1.example',
      '1a',
      'a-',
      'www.thelongtoplevel.example',
      'a-b.com',
      `${'a'.repeat(63)}.com`,
      '✪.com',
    ],
    ['', 'a.', '.a', 'a..b', 'a_b', '-a', 'a.b.1', `${'a'.repeat(64)}.com`, 'a'.repeat(256), 'a b', 'x.y'],
  ],
  ['ipv4', ['1.2.3.4', '01.02.03.04', '::ffff:1.2.3.4'], ['1.2.3', '256.1.1.1', '::1', '1.2.3.4.5', '']],
  [
    'ipv6',
    ['::', '2001:db8::0123', '::ffff:1.2.3.4'],
    ['1.2.3.4', '::ffff:01.2.3.4', ':::', 'fe80::1%eth0', ''],
  ],
  ['cidr', ['10.0.0.0/8', '::/0', '010.0.0.1/8'], ['10.0.0.0', '10.0.0.0/33', '10.0.0.0/', '']],
  [
    'mac',
    [
      '01:23:45:67:89:ab',
      '01-23-45-67-89-AB',
      '0123.4567.89ab',
      '01:23:45:67:89:ab:cd:ef',
      '0123.4567.89ab.cdef',
    ],
    ['01:23:45:67:89', '01:23-45:67:89:ab', '0123456789ab', '01:23:45:67:89:ab:cd', ''],
  ],
  ['uuid', ['00000000-0000-0000-0000-000000000000', 'ABCDEF0123456789abcdef0123456789'], ['0000', '']],
  ['uuid3', ['6ba7b810-9dad-31d1-00b4-00c04fd430c8'], ['6ba7b810-9dad-41d1-80b4-00c04fd430c8']],
  ['uuid4', ['6ba7b810-9dad-41d1-80b4-00c04fd430c8'], ['6ba7b810-9dad-41d1-00b4-00c04fd430c8']],
  ['uuid5', ['6ba7b810-9dad-51d1-B0b4-00c04fd430c8'], ['6ba7b810-9dad-41d1-80b4-00c04fd430c8']],
  ['isbn', ['0321751043', '978-0321751041', '3 401 01319 X'], ['0321751044', '']],
  ['isbn10', ['0-321-75104-3', '3-401-01319-X'], ['978-0321751041', '3401013190']],
  ['isbn13', ['9780321751041', '978 3 8362 2119 1'], ['0321751043', '9780321751042']],
  [
    'creditcard',
    ['4111-1111-1111-1111', '4012888888881881', '378282246310005'],
    ['4111-1111-1111-1112', '1', ''],
  ],
  ['ssn', ['111-11-1111', '999 99 9999'], ['1111111111', '111111111', '00-90-8787']],
  ['hexcolor', ['#fff', 'FFFFFF'], ['#ff', '#ggg', 'ffff']],
  ['rgbcolor', ['rgb(0,31,255)', 'rgb( 0 , 0 , 0 )'], ['rgb(1,349,275)', 'rgb(01,31,255)', 'rgba(0,31,255)']],
  ['byte', ['TG9yZW0=', 'AA==', 'AAAA'], ['', 'AAA', 'A===', 'AA-_', 'AA\n=']],
  ['password', ['', 'anything'], []],
  [
    'date',
    ['2024-02-29', '0000-01-01'],
    ['2023-02-29', '2024-13-01', '2024-1-1', '24-01-01', '2024-01-00', ''],
  ],
  [
    'date-time',
    [
      '2014-12-15T19:30:20Z',
      '2011-08-18t19:03:37.000000000+01:00',
      '2024-01-01T00:00:00.5z',
      '2024-01-01T00:00:00x5Z',
    ],
    [
      '2014-12-15T08:00:00',
      '1972-12-31T24:40:00.000Z',
      '1972-12-31T23:63:00.000Z',
      '1972-12-31T23:59:60Z',
      '1972-12-31',
      '2024-02-30T00:00:00Z',
      '2024-01-01 00:00:00Z',
      '',
    ],
  ],
  [
    'duration',
    [
      '1h30m',
      '-1.5h',
      '.5s',
      '0',
      '1  weeks',
      '2 hours',
      '5 Minutes',
      '1µs',
      '3d',
      '1 nanos and more',
      'in 3 weeks',
      '99999999999h',
    ],
    ['', 'yada', '12 parsecs', '45 weeekks', '1', '9999999999999999999999999999999 weeks', 'three week'],
  ],
  ['k8s-short-name', ['a', '1', 'a-b', 'x'.repeat(63)], ['', 'A', 'a-', 'a.b', 'x'.repeat(64)]],
  ['k8s-long-name', ['a', 'a.b', 'x'.repeat(253)], ['', 'A', 'a.-', 'a..b', 'x'.repeat(254)]],
])('%s accepts %j and refuses %j', (format, good, bad) => {
  const isValid = checkOfFormat(format);
  expect(good.filter((text) => isValid?.(text) !== true)).toEqual([]);
  expect(bad.filter((text) => isValid?.(text) !== false)).toEqual([]);
});

test('a format may be written with or without dashes, and an unknown one is not checked', () => {
  expect(checkOfFormat('datetime')).toBe(checkOfFormat('date-time'));
  for (const format of ['int32', 'int64', 'double', 'constructor', '__proto__', 'Date', ''])
    expect(checkOfFormat(format)).toBeUndefined();
});

test('a text of megabytes is checked in little time', () => {
  const formats = [
    'bsonobjectid',
    'uri',
    'email',
    'hostname',
    'ipv4',
    'ipv6',
    'cidr',
    'mac',
    'uuid',
    'isbn',
    'creditcard',
    'ssn',
  ];
  formats.push('hexcolor', 'rgbcolor', 'byte', 'date', 'date-time', 'duration');
  const texts = ['1', 'a', ':', '1 ', ' ', '=', 'a@', '::', '"', 'http://a%', 't', '<'].map((part) =>
    part.repeat(1_000_000),
  );
  const cpuMs = cpuMsOf(() => {
    for (const format of formats) for (const text of texts) checkOfFormat(format)?.(text);
  });
  expect(cpuMs / (formats.length * texts.length)).toBeLessThan(20);
});
