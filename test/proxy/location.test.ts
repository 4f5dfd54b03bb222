import { expect, test } from 'vitest';
import { forward } from '../../src/proxy/forward.ts';
import { joinPath, outerPrefix, rewriteLocation } from '../../src/proxy/url-paths.ts';
import type { ApiRequest } from '../../src/request/api-request.ts';

const PREFIX = '/api/v1/namespaces/a/services/b/proxy';
const context = {
  prefix: PREFIX,
  path: `${PREFIX}/app/page`,
  backendHost: '10.0.0.1:80',
  requestHost: 'localhost:8001',
};

test.each([
  ['an absolute path gets the prefix', '/login', `${PREFIX}/login`],
  ['query and fragment stay', '/login?a=b#c', `${PREFIX}/login?a=b#c`],
  ['a slash at the end stays', '/login/', `${PREFIX}/login/`],
  ["the backend's own host is dropped", 'http://10.0.0.1:80/x', `${PREFIX}/x`],
  ["the client's own host is kept", 'http://localhost:8001/x', `http://localhost:8001${PREFIX}/x`],
  ['what is below the prefix stays', `${PREFIX}/x`, `${PREFIX}/x`],
  ['another host is left alone', 'https://example.com/x', 'https://example.com/x'],
  ['a relative path is left alone', '../x', '../x'],
  ['a relative path that leads out gets the prefix', '../../x', `${PREFIX}/x`],
  ['one of escapes does not lead out either', '%2e%2e/..%5c../x', `${PREFIX}/..%5C../x`],
  ['an absolute path does not climb', '/../../x', `${PREFIX}/x`],
  ['nor one that begins with the prefix', `${PREFIX}/../../x`, `${PREFIX}/api/v1/namespaces/a/services/x`],
  ['nor one beside the prefix', `${PREFIX}x/y`, `${PREFIX}${PREFIX}x/y`],
  ['escapes stay escapes', '/a%20b', `${PREFIX}/a%20b`],
  ['a path that is none gets the prefix', '/%zz', `${PREFIX}/%25zz`],
  ['two slashes are not made of escapes', '/%2F%2Fevil.example/x', `${PREFIX}/evil.example/x`],
])('%s', (_, location, expected) => {
  expect(rewriteLocation(location, context)).toBe(expected);
});

test.each([
  ['/%2Fevil.example/x', '/evil.example/x'],
  ['/%5Cevil.example/x', '/%5Cevil.example/x'],
])('without a prefix, %s names no host after it is rewritten', (location, expected) => {
  expect(rewriteLocation(location, { ...context, prefix: '' })).toBe(expected);
});

test.each([
  ['//api/v1/namespaces/a/services/b/proxy?x=//y', '/api/v1/namespaces/a/services/b/proxy/?x=//y'],
  ['///api/v1/proxy', '/api/v1/proxy/'],
  ['/\\\\api/v1/proxy', '/api/v1/proxy/'],
])('the folder of %s is on this host', async (url, location) => {
  const request = {
    method: 'GET',
    path: url,
    headers: {},
    raw: { url, headers: [], upgrade: '' },
  } as unknown as ApiRequest;
  const nothing = { send: () => Promise.reject(), upgrade: () => Promise.reject() };
  const backend = { scheme: 'http', host: 'a', port: '', path: '', query: '', trust: 'none' } as const;
  expect(await forward(nothing, backend, request, { isSandboxed: true })).toMatchObject({
    headers: { location },
  });
});

test('the prefix of a proxy is what stands before the path of the backend', () => {
  expect(outerPrefix('/p/proxy/a/b', '/a/b')).toBe('/p/proxy');
  expect(outerPrefix('/p/proxy/', '/')).toBe('/p/proxy');
  expect(outerPrefix('/p/proxy/a/', '/a')).toBe('/p/proxy');
  expect(outerPrefix('/p/proxy', '')).toBe('/p/proxy');
});

test('a joined path never leaves upwards', () => {
  expect(joinPath('/p', '/a/../../../b')).toBe('/p/b');
  expect(joinPath('/p', '..')).toBe('/p/');
  expect(joinPath('', '/../b/')).toBe('/b/');
  expect(joinPath('/p', '')).toBe('/p');
});
