import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { type IncomingHttpHeaders, request } from 'node:http';
import { dirname } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Kubectl } from '../../src/kubectl-history/kubectl.ts';
import { startPrivateProxy } from '../../src/kubectl-history/private-proxy.ts';

type PrivateProxy = Awaited<ReturnType<typeof startPrivateProxy>>;

/** In place of kubectl: answers on the socket what it was asked. */
const ECHO = `
  require('node:http').createServer(async (asked, answer) => {
    let body = '';
    for await (const chunk of asked) body += chunk;
    const { method, url, headers } = asked;
    if (url === '/moved') answer.writeHead(301, { location: '/console/' });
    answer.end(JSON.stringify({ method, url, host: headers.host, body }));
  }).listen(process.argv[1], () => console.log('Starting to serve on ' + process.argv[1]));
`;

let proxy: PrivateProxy;
let socketPath: string;

beforeAll(async () => {
  const kubectl: Pick<Kubectl, 'start'> = {
    start: ([, socket = '']) => {
      socketPath = socket.slice('--unix-socket='.length);
      return spawn(process.execPath, ['-e', ECHO, socketPath], { stdio: 'pipe' });
    },
  };
  proxy = await startPrivateProxy(kubectl as Kubectl, 0);
});

afterAll(() => proxy[Symbol.asyncDispose]());

async function ask(
  url: string,
  {
    method = 'GET',
    headers = {},
    body = '',
  }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<{ code: number | undefined; text: string; headers: IncomingHttpHeaders }> {
  const asked = request(url, { method, headers }).end(body);
  const [answer] = await once(asked, 'response');
  return { code: answer.statusCode, text: await text(answer), headers: answer.headers };
}

test('what asks below the secret reaches the server, in the name of this machine, and is led no further', async () => {
  const answer = await ask(`${proxy.address}api/v1/pods?limit=5`, { method: 'POST', body: '{}' });
  expect(JSON.parse(answer.text)).toEqual({
    ...{ method: 'POST', url: '/api/v1/pods?limit=5', host: 'localhost', body: '{}' },
  });
  expect(answer.headers['referrer-policy']).toBe('no-referrer');
  const { pathname } = new URL(proxy.address);
  expect((await ask(`${proxy.address}moved`)).headers.location).toBe(`${pathname}console/`);
});

test('a request without the secret gets no answer of the server', async () => {
  const { origin, pathname } = new URL(proxy.address);
  const almost = `${origin}${pathname.slice(0, -3)}x/`;
  for (const url of [
    `${origin}/`,
    `${origin}/api/v1/pods`,
    almost,
    `${almost}api`,
    proxy.address.slice(0, -1),
  ])
    expect([url, (await ask(url)).code]).toEqual([url, 404]);
});

test.each([
  ['of another website', { origin: 'https://evil.example' }],
  ['of another port of this machine', { origin: 'http://127.0.0.1:1' }],
  ['in a sandbox', { origin: 'null' }],
  ['that says nothing of its origin', { 'sec-fetch-site': 'cross-site' }],
  ['under a name that leads here', { host: 'evil.example:80' }],
])('a page %s is refused, also with the secret', async (_, headers) => {
  expect((await ask(`${proxy.address}api/v1/pods`, { headers })).code).toBe(403);
});

test('its own page is answered', async () => {
  const { origin } = new URL(proxy.address);
  const headers = { origin, 'sec-fetch-site': 'same-origin' };
  expect((await ask(`${proxy.address}api`, { method: 'POST', headers })).code).toBe(200);
});

test('no other user of the machine can enter where kubectl listens', () => {
  expect(statSync(dirname(socketPath)).mode & 0o077).toBe(0);
});
