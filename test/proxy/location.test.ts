import { expect, test } from 'vitest';
import { joinPath, outerPrefix, rewriteLocation } from '../../src/proxy/forward.ts';

const PREFIX = '/api/v1/namespaces/a/services/b/proxy';
const context = { prefix: PREFIX, backendHost: '10.0.0.1:80', requestHost: 'localhost:8001' };

test.each([
  ['an absolute path gets the prefix', '/login', `${PREFIX}/login`],
  ['query and fragment stay', '/login?a=b#c', `${PREFIX}/login?a=b#c`],
  ['a slash at the end stays', '/login/', `${PREFIX}/login/`],
  ["the backend's own host is dropped", 'http://10.0.0.1:80/x', `${PREFIX}/x`],
  ["the client's own host is kept", 'http://localhost:8001/x', `http://localhost:8001${PREFIX}/x`],
  ['what is below the prefix stays', `${PREFIX}/x`, `${PREFIX}/x`],
  ['another host is left alone', 'https://example.com/x', 'https://example.com/x'],
  ['a relative path is left alone', '../x', '../x'],
  ['escapes stay escapes', '/a%20b', `${PREFIX}/a%20b`],
  ['a path that is no path is left alone', '/%zz', '/%zz'],
])('%s', (_, location, expected) => {
  expect(rewriteLocation(location, context)).toBe(expected);
});

test('the prefix of a proxy is what stands before the path of the backend', () => {
  expect(outerPrefix('/p/proxy/a/b', '/a/b')).toBe('/p/proxy');
  expect(outerPrefix('/p/proxy/', '/')).toBe('/p/proxy');
  expect(outerPrefix('/p/proxy/a/', '/a')).toBe('/p/proxy');
  expect(outerPrefix('/p/proxy', '')).toBe('/p/proxy');
});

test('a joined path never leaves upwards', () => {
  expect(joinPath('/p', '/a/../../../b')).toBe('/b');
  expect(joinPath('', '/../b/')).toBe('/b/');
  expect(joinPath('/p', '')).toBe('/p');
});
