import { expect, test } from 'vitest';
import type { PodLogOptions } from '../../src/api/types/core/v1.ts';
import { problemsOf } from '../../src/object/field-path.ts';
import { validateLogOptions } from '../../src/resources/connect/pod-streams.ts';
import { isGlobalUnicast, parseTargetName } from '../../src/resources/connect/proxies.ts';

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

const logProblems = (options: PodLogOptions): string[] =>
  problemsOf((at) => validateLogOptions(at, options)).map(({ field, message }) => `${field}: ${message}`);

test('options of a log that are in range have no errors', () => {
  expect(logProblems({ tailLines: 0, limitBytes: 1, sinceSeconds: 1, follow: true })).toEqual([]);
});

test('options of a log that are out of range are refused, however large they are', () => {
  expect(logProblems({ tailLines: -1, limitBytes: 0, sinceSeconds: 0 })).toEqual([
    'tailLines: Invalid value: -1: must be greater than or equal to 0',
    'limitBytes: Invalid value: 0: must be greater than 0',
    'sinceSeconds: Invalid value: 0: must be greater than 0',
  ]);
  expect(logProblems({ tailLines: -(2n ** 62n) })).toEqual([
    'tailLines: Invalid value: -4611686018427387904: must be greater than or equal to 0',
  ]);
  expect(logProblems({ sinceSeconds: 1, sinceTime: '2024-01-01T00:00:00Z' })).toEqual([
    ': Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified',
  ]);
});
