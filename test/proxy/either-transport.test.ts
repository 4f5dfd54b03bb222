import { once } from 'node:events';
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { EitherTransport } from '../../src/proxy/http2-transport.ts';
import { AgentCredentials } from '../../src/proxy/node-transport.ts';
import { type Backend, BackendError, type BackendMessage } from '../../src/request/backend.ts';
import { Authority } from '../kit/pki.ts';

/** Servers of either protocol, and of both. */

const SERVERS = ['HTTP/1.1', 'HTTP/2', 'both'] as const;
type Kind = (typeof SERVERS)[number];

let ca: string;
let pair: { cert: string; key: string };

beforeAll(async () => {
  const authority = await Authority.create('extension');
  ca = authority.pem;
  pair = await authority.issue({ subject: 'CN=api', serves: true });
});

const undo: (() => void)[] = [];
afterEach(() => {
  for (const one of undo.splice(0)) one();
});

type Answer = (request: Http2ServerRequest, response: Http2ServerResponse) => void;

async function serve(kind: Kind, answer: Answer) {
  const listener = answer as Parameters<typeof createSecureServer>[1];
  const server =
    kind === 'HTTP/1.1'
      ? createServer(pair, listener as Parameters<typeof createServer>[1])
      : createSecureServer({ ...pair, allowHTTP1: kind === 'both' }, listener);
  let connections = 0;
  server.on('secureConnection', (socket) => {
    connections += 1;
    undo.push(() => socket.destroy());
  });
  server.on('upgrade', (_, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
    socket.pipe(socket);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  undo.push(() => server.close());
  const credentials = new AgentCredentials({ caFile: '', certFile: '', keyFile: '' });
  const transport = new EitherTransport({ credentials, timeoutMs: 5000, reusesConnections: true });
  undo.push(() => transport.close());
  const backend: Backend = {
    ...{ scheme: 'https', host: '127.0.0.1', port: String((server.address() as AddressInfo).port) },
    ...{ path: '/apis/a b', query: 'watch=1' },
    trust: { ca, serverName: 'localhost', isVerified: true },
  };
  return { transport, backend, connections: () => connections };
}

function message(changes: Partial<BackendMessage> = {}): BackendMessage {
  const signal = new AbortController().signal;
  return { method: 'GET', headers: ['Host', 'api.far.svc'], signal, hurried: false, ...changes };
}

test.each(SERVERS)(
  'a server of %s gets requests with bodies and lists of headers, and answers bit by bit',
  async (kind) => {
    const held = Promise.withResolvers<Http2ServerResponse>();
    const { transport, backend } = await serve(kind, (request, response) => {
      if (request.method === 'PUT') {
        held.resolve(response);
        response.writeHead(200, { 'content-type': 'text/plain' });
        response.write('first');
        return;
      }
      const { url, method, headers } = request;
      void text(request).then((body) => {
        response.writeHead(201, { 'set-cookie': ['a=1', 'b=2'] });
        response.end(
          JSON.stringify([
            method,
            url,
            headers['x-remote-group'],
            headers.host ?? headers[':authority'],
            body,
          ]),
        );
      });
    });
    expect((await transport.send(backend, message())).code).toBe(201);
    const headers = [
      'Host',
      'api.far.svc',
      'X-Remote-Group',
      'a',
      'X-Remote-Group',
      'b',
      'Transfer-Encoding',
      'chunked',
    ];
    const posted = await transport.send(
      backend,
      message({ method: 'POST', headers, body: Readable.from(['the ', 'body']) }),
    );
    expect(posted.code).toBe(201);
    expect(posted.rawHeaders.filter((_, at) => /set-cookie/i.test(posted.rawHeaders[at - 1] ?? ''))).toEqual([
      'a=1',
      'b=2',
    ]);
    expect(JSON.parse(await text(posted.body))).toEqual([
      'POST',
      '/apis/a%20b?watch=1',
      'a, b',
      'api.far.svc',
      'the body',
    ]);
    const watch = await transport.send(backend, message({ method: 'PUT' }));
    const chunks = watch.body[Symbol.asyncIterator]();
    expect(String((await chunks.next()).value)).toBe('first');
    (await held.promise).end('second');
    expect(String((await chunks.next()).value)).toBe('second');
    expect((await chunks.next()).done).toBe(true);
  },
);

test.each(['HTTP/1.1', 'both'] as const)('a server of %s changes its protocol', async (kind) => {
  const { transport, backend } = await serve(kind, () => {});
  const headers = ['Host', 'api.far.svc', 'Connection', 'Upgrade', 'Upgrade', 'echo'];
  const answer = await transport.upgrade(backend, message({ headers }));
  if (answer.kind !== 'connection') throw new Error('it did not');
  answer.stream.write('hello');
  expect(String(await once(answer.stream, 'data'))).toBe('hello');
  answer.stream.destroy();
});

test('all requests to a server of HTTP/2 alone share a connection; one that is given up ends there', async () => {
  const ended = Promise.withResolvers<void>();
  const { transport, backend, connections } = await serve('HTTP/2', (request, response) => {
    if (request.method === 'GET') return void response.end('well');
    response.writeHead(200);
    response.write('begun');
    request.once('close', ended.resolve);
  });
  await transport.send(backend, message());
  const before = connections();
  const leaving = new AbortController();
  const watch = await transport.send(backend, message({ method: 'PUT', signal: leaving.signal }));
  const all = await Promise.all(Array.from({ length: 20 }, () => transport.send(backend, message())));
  expect(await Promise.all(all.map(({ body }) => text(body)))).toEqual(all.map(() => 'well'));
  expect(connections()).toBe(before);
  leaving.abort();
  await ended.promise;
  await expect(text(watch.body)).rejects.toThrow();
});

test('a server of HTTP/2 alone is verified like any other, and what is wrong is said as for any other', async () => {
  const { transport, backend } = await serve('HTTP/2', (_, response) => void response.end());
  await transport.send(backend, message());
  const trust = { ca, serverName: 'other.far.svc', isVerified: true };
  await expect(transport.send({ ...backend, trust }, message())).rejects.toThrow(BackendError);
  const upgrade = transport.upgrade(
    backend,
    message({ headers: ['Connection', 'Upgrade', 'Upgrade', 'echo'] }),
  );
  await expect(upgrade).rejects.toThrow(BackendError);
});
