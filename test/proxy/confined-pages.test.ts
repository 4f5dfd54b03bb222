import { expect, test } from 'vitest';
import { confined, confinedHead, refuseWorkers } from '../../src/proxy/confined-pages.ts';
import type { ApiRequest } from '../../src/request/api-request.ts';

const PREFIX = '/api/v1/namespaces/a/pods/b/proxy';
const plain = { prefix: PREFIX, isSandboxed: false };

const OF_THE_ORIGIN = [
  ...['service-worker-allowed', 'clear-site-data', 'strict-transport-security', 'alt-svc', 'nel'],
  ...['report-to', 'reporting-endpoints', 'origin-agent-cluster', 'use-as-dictionary', 'set-login'],
];

test.each(OF_THE_ORIGIN)('%s, which speaks for a whole origin, is no word of a backend', (name) => {
  expect(confined({ [name]: 'x', etag: 'y' }, plain)).toEqual({ etag: 'y' });
  expect(confinedHead([name.toUpperCase(), 'x', 'ETag', 'y'], PREFIX)).toEqual(['ETag', 'y']);
});

test.each([
  ['without a path, below the proxy', 'a=1', `a=1; Path=${PREFIX}/`],
  ['of the host, below the proxy', 'a=1; Path=/; HttpOnly', `a=1; HttpOnly; Path=${PREFIX}/`],
  ['of a path of the backend, below the proxy', 'a=1; path=/app', `a=1; Path=${PREFIX}/app`],
  ['of its own place, where it is', `a=1; Path=${PREFIX}/app`, `a=1; Path=${PREFIX}/app`],
  [
    'of a path that climbs, below the proxy',
    `a=1; Path=${PREFIX}/../../c`,
    `a=1; Path=${PREFIX}/api/v1/namespaces/a/pods/c`,
  ],
  ['of a neighbour, below the proxy', `a=1; Path=${PREFIX}2`, `a=1; Path=${PREFIX}${PREFIX}2`],
  ['of two paths, by the last one', `a=1; Path=/x; Path=/y; Secure`, `a=1; Secure; Path=${PREFIX}/y`],
  [
    'of a domain, of this host alone',
    'a=b=c; Domain=example.com; SameSite=Lax',
    `a=b=c; SameSite=Lax; Path=${PREFIX}/`,
  ],
  ['of a path that is none, below the proxy', 'a=1; Path', `a=1; Path=${PREFIX}/`],
])('a cookie %s', (_, cookie, expected) => {
  expect(confined({ 'set-cookie': cookie }, plain)).toEqual({ 'set-cookie': [expected] });
  expect(confinedHead(['Set-Cookie', cookie], PREFIX)).toEqual(['Set-Cookie', expected]);
});

test('a cookie whose name says that it is of the whole host is left out', () => {
  expect(confined({ 'set-cookie': ['__Host-a=1; Path=/; Secure', 'b=1'] }, plain)).toEqual({
    'set-cookie': [`b=1; Path=${PREFIX}/`],
  });
  expect(confinedHead(['set-cookie', ' __hOST-a=1', 'set-cookie', '=__Host-a=1'], PREFIX)).toEqual([]);
});

test('a page is sandboxed beside what its own policy says, and its type is what the backend says', () => {
  const scope = { prefix: PREFIX, isSandboxed: true };
  const sandbox = 'sandbox allow-downloads allow-forms allow-modals allow-popups allow-scripts';
  expect(confined({ 'content-security-policy': "default-src 'self'" }, scope)).toEqual({
    'content-security-policy': ["default-src 'self'", sandbox],
    'x-content-type-options': 'nosniff',
  });
  expect(confined({ 'x-content-type-options': 'sniff' }, scope)).toEqual({
    'content-security-policy': [sandbox],
    'x-content-type-options': 'nosniff',
  });
});

test.each([
  [{ 'service-worker': 'script' }],
  [{ 'sec-fetch-dest': 'serviceworker' }],
  [{ 'sec-fetch-dest': 'sharedworker' }],
])('a script of a worker that outlives its page is not fetched: %o', (headers) => {
  expect(() => refuseWorkers({ headers } as unknown as ApiRequest)).toThrow(/workers are not fetched/);
  const script = { headers: { 'sec-fetch-dest': 'script' } } as unknown as ApiRequest;
  expect(() => refuseWorkers(script)).not.toThrow();
});
