import { expect, test } from 'vitest';
import { isGlobalUnicast } from '../../src/resources/connect/global-address.ts';
import { validateLogOptions } from '../../src/resources/connect/pod-log.ts';
import { parseTargetName } from '../../src/resources/connect/target-name.ts';

test.each([
  ['a', { scheme: 'http', name: 'a', port: '' }],
  ['a:80', { scheme: 'http', name: 'a', port: '80' }],
  ['https:a:', { scheme: 'https', name: 'a', port: '' }],
  ['https:a:web', { scheme: 'https', name: 'a', port: 'web' }],
])('%s names a target', (text, expected) => {
  expect(parseTargetName(text, 'service')).toEqual(expected);
});

test.each(['', ':80', 'ftp:a:80', 'https:a:80:b', 'http::80'])('%j names none', (text) => {
  expect(() => parseTargetName(text, 'service')).toThrow(`invalid service request ${JSON.stringify(text)}`);
});

test.each([
  ['10.0.0.1', true],
  ['fd00::1', true],
  ['127.0.0.1', false],
  ['::1', false],
  ['::ffff:127.0.0.1', false],
  ['169.254.169.254', false],
  ['fe80::1', false],
  ['0.0.0.0', false],
  ['224.0.0.1', false],
  ['name', false],
  ['', false],
])('%s may be reached through a proxy: %s', (address, expected) => {
  expect(isGlobalUnicast(address)).toBe(expected);
});

test('options of a log that are in range have no errors', () => {
  expect(validateLogOptions({ tailLines: 0, limitBytes: 1, sinceSeconds: 1, follow: true })).toEqual([]);
});
