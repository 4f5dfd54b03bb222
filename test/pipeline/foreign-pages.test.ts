import { expect, test } from 'vitest';
import { type OriginOptions, refuseForeignPages } from '../../src/pipeline/foreign-pages.ts';
import type { ApiRequest } from '../../src/request/api-request.ts';

const OPTIONS: OriginOptions = {
  allowsOrigin: (origin) => origin === 'https://dashboard.example',
  externalHostname: 'kube.example',
};

/** 'passes', or the message of the refusal. */
const judge = (headers: Record<string, string>, method = 'POST', upgrade = ''): Promise<string> =>
  refuseForeignPages(
    OPTIONS,
    {
      method,
      headers: { host: 'api.example:6443', 'content-type': 'application/json', ...headers },
      raw: { upgrade },
    } as unknown as ApiRequest,
    () => Promise.resolve({} as never),
  ).then(
    () => 'passes',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );

test.each([
  ['a client that is no browser', {}],
  ['a page of this host', { origin: 'https://api.example:6443', 'sec-fetch-site': 'same-origin' }],
  ['a page of this host, by a browser that says no more', { origin: 'https://API.example:6443' }],
  ['a page of the name that the server has outside', { origin: 'https://kube.example' }],
  ['a page that kubectl proxy brought', { origin: 'http://127.0.0.1:8001', 'sec-fetch-site': 'same-origin' }],
  ['a page on localhost', { origin: 'http://localhost:8001' }],
  ['a page on loopback of IPv6', { origin: 'http://[::1]:8001' }],
  [
    'a page that the operator allows',
    { origin: 'https://dashboard.example', 'sec-fetch-site': 'cross-site' },
  ],
  ['what the user typed', { 'sec-fetch-site': 'none' }],
])('%s may write', async (_, headers) => {
  expect(await judge(headers)).toBe('passes');
  expect(await judge(headers, 'GET', 'websocket')).toBe('passes');
});

test.each([
  ['another website', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
  ['another website, by a browser that says no more', { origin: 'https://evil.example' }],
  ['a page without an origin of its own', { origin: 'null' }],
  ['a page of another port', { origin: 'https://api.example', 'sec-fetch-site': 'same-site' }],
  ['a sibling in the same domain', { 'sec-fetch-site': 'same-site' }],
  ['a name that was led here', { origin: 'http://evil.example:8001', host: 'evil.example:8001' }],
  ['a name that begins like loopback', { origin: 'http://127.0.0.1.evil.example' }],
  ['a name that ends like loopback', { origin: 'http://evil-localhost' }],
  [
    'a website on another port of loopback',
    { origin: 'http://localhost:3000', 'sec-fetch-site': 'cross-site' },
  ],
  ['what is no origin', { origin: 'evil' }],
])('%s may neither write nor open a websocket, but read', async (_, headers) => {
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
    expect(await judge(headers, method)).toMatch(/^a page of .* --cors-allowed-origins/);
  expect(await judge(headers, 'GET', 'websocket')).toMatch(/^a page of /);
  expect(await judge(headers, 'GET')).toBe('passes');
  expect(await judge(headers, 'OPTIONS')).toBe('passes');
});

test('a page says what the body of a POST is', async () => {
  const page = { origin: 'http://127.0.0.1:8001', 'content-type': undefined as unknown as string };
  expect(await judge({ ...page, 'content-length': '2' })).toMatch(/Content-Type is missing/);
  expect(await judge({ ...page, 'transfer-encoding': 'chunked' })).toMatch(/Content-Type is missing/);
  expect(await judge({ ...page, 'content-length': '0' })).toBe('passes');
  expect(await judge({ ...page, 'content-length': '2' }, 'DELETE')).toBe('passes');
});
