import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectHttp2, constants } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls, createServer, type Server, type TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { passOn } from '../../src/aggregation/pass-on.ts';
import { type HttpServer, listen } from '../../src/http/http-server.ts';
import { ServingTls } from '../../src/http/serving-tls.ts';
import type { Logger } from '../../src/observability/logger.ts';
import { forward } from '../../src/proxy/forward.ts';
import { EitherTransport } from '../../src/proxy/http2-transport.ts';
import { AgentCredentials } from '../../src/proxy/node-transport.ts';
import type { AuthorizedRequest } from '../../src/request/api-request.ts';
import type { Backend } from '../../src/request/backend.ts';
import { Authority } from '../kit/pki.ts';

/** The bytes that reach another server, for requests that real listeners took from raw sockets. */

const INNER = 'POST /inner HTTP/1.1\r\nHost: a\r\nX-Remote-User: root\r\nContent-Length: 0\r\n\r\n';

let folder: string;
let server: HttpServer;
let backend: Server;
let transport: EitherTransport;
/** What each connection to the backend has brought. */
let received: string[];
let sockets: Socket[];
let answer: string;
/** How the request is passed on. */
let way: 'in the name of its caller' | 'plainly';

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'smuggling-'));
  const pair = await (await Authority.create('all')).issue({ subject: 'CN=localhost', serves: true });
  const at = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  backend = createServer(pair, record);
  await once(backend.listen(0, '127.0.0.1'), 'listening');
  const credentials = new AgentCredentials({ caFile: '', certFile: '', keyFile: '' });
  transport = new EitherTransport({ credentials, timeoutMs: 2000, reusesConnections: true });
  const tls = new ServingTls({
    serving: { certFile: at('crt', pair.cert), keyFile: at('key', pair.key) },
    ...{ sni: [], clientCaFiles: [], settings: { minVersion: 'TLSv1.2', ciphers: undefined } },
    ...{ onReload: () => {}, onError: () => {} },
  });
  server = await listen({
    ...{ tls, host: '127.0.0.1', port: 0, sharesPort: false, bytesPerSecond: 0, requestTimeoutMs: 60_000 },
    http2: { disabled: false, maxStreams: 0, goawayChance: 0, closesUnauthenticated: false },
    policy: { strictTransportSecurity: '', allowedOrigins: [] },
    ...{ compresses: false, onHandshakeError: () => {} },
    logger: { error: () => {} } as unknown as Logger,
    pipeline: (request) => {
      const user = { username: 'ann', uid: '', groups: [], extra: {} };
      const { port } = backend.address() as AddressInfo;
      const trust = { ca: undefined, serverName: 'localhost', isVerified: false };
      const there = { scheme: 'https', host: '127.0.0.1', port: String(port) } as const;
      const to: Backend = { ...there, path: '/apis/x', query: '', trust };
      const authorized = Object.assign(request, { user }) as unknown as AuthorizedRequest;
      return way === 'plainly'
        ? forward(transport, to, request, { isSandboxed: true })
        : passOn(transport, { ...there, port, tls: trust }, authorized, {});
    },
  });
});

afterAll(async () => {
  transport.close();
  backend.close();
  for (const socket of sockets) socket.destroy();
  await server.drain({ sendRetryAfter: false, watchGraceMs: 0, requestGraceMs: 0 });
  rmSync(folder, { recursive: true });
});

beforeEach(() => {
  received = [];
  sockets = [];
  answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
  way = 'in the name of its caller';
});

afterEach(() => {
  for (const socket of sockets) socket.destroy();
});

function record(socket: TLSSocket): void {
  const at = received.push('') - 1;
  sockets.push(socket);
  socket.on('error', () => {});
  socket.on('data', (chunk: Buffer) => {
    received[at] += chunk.toString('latin1');
    if (messagesIn(received[at] ?? '').isWhole) socket.write(answer);
  });
}

interface Message {
  readonly line: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** As a strict server reads them: a head without a length or chunks has no body, and what comes next is the next request. */
function messagesIn(bytes: string): { readonly messages: Message[]; readonly isWhole: boolean } {
  const messages: Message[] = [];
  let rest = bytes;
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return { messages, isWhole: false };
    const [line = '', ...lines] = rest.slice(0, end).split('\r\n');
    const entries = lines.map((text) => [
      text.slice(0, text.indexOf(':')).toLowerCase(),
      text.slice(text.indexOf(':') + 1).trim(),
    ]);
    const headers: Record<string, string> = Object.fromEntries(entries);
    rest = rest.slice(end + 4);
    let body = '';
    if (headers['transfer-encoding'] !== undefined) {
      for (;;) {
        const [, size = ''] = /^([0-9a-f]+)\r\n/i.exec(rest) ?? [];
        const start = size.length + 2;
        if (size === '' || rest.length < start + Number.parseInt(size, 16) + 2)
          return { messages, isWhole: false };
        const chunk = rest.slice(start, start + Number.parseInt(size, 16));
        rest = rest.slice(start + chunk.length + 2);
        body += chunk;
        if (chunk === '') break;
      }
    } else {
      const length = Number(headers['content-length'] ?? 0);
      if (rest.length < length) return { messages, isWhole: false };
      body = rest.slice(0, length);
      rest = rest.slice(length);
    }
    messages.push({ line, headers, body });
  }
  return { messages, isWhole: true };
}

const requests = (): Message[] => received.flatMap((bytes) => messagesIn(bytes).messages);

/** Everything that comes back until the connection ends, or a moment after the answer began. */
async function sendRaw(text: string): Promise<string> {
  const socket = connectTls({
    ...{ host: '127.0.0.1', port: server.port, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] },
  });
  socket.on('error', () => {});
  await once(socket, 'secureConnect');
  socket.write(text, 'latin1');
  let heard = '';
  socket.on('data', (chunk) => {
    heard += String(chunk);
  });
  await Promise.race([once(socket, 'data'), once(socket, 'close')]);
  socket.destroy();
  return heard;
}

interface Sent {
  readonly status: number | undefined;
  readonly code: number;
}

async function sendHttp2(headers: Record<string, string | string[]>, body?: string): Promise<Sent> {
  const session = connectHttp2(`https://127.0.0.1:${server.port}`, { rejectUnauthorized: false });
  session.on('error', () => {});
  try {
    const stream = session.request({ ':path': '/x', ...headers }, { endStream: body === undefined });
    stream.on('error', () => {});
    let status: number | undefined;
    stream.once('response', (head) => {
      status = Number(head[':status']);
    });
    stream.resume();
    if (body !== undefined) stream.end(body);
    await once(stream, 'close');
    return { status, code: stream.rstCode ?? 0 };
  } finally {
    session.destroy();
  }
}

const METHODS = ['GET', 'HEAD', 'OPTIONS', 'DELETE', 'TRACE', 'POST', 'PUT', 'PATCH', 'PROPFIND'];
const WAYS = ['in the name of its caller', 'plainly'] as const;

test.each(WAYS)('a body is the body of its request, for every method (passed on %s)', async (chosen) => {
  way = chosen;
  for (const method of METHODS) {
    received = [];
    const length = String(INNER.length);
    const named = [
      'Connection: content-length',
      'Connection: keep-alive, Content-Length, host, content-type',
    ];
    for (const connection of named)
      await sendRaw(
        `${method} /x HTTP/1.1\r\nHost: a\r\n${connection}\r\nContent-Length: ${length}\r\n\r\n${INNER}`,
      );
    const chunks = `${INNER.length.toString(16)}\r\n${INNER}\r\n0\r\n\r\n`;
    await sendRaw(
      `${method} /x HTTP/1.1\r\nHost: a\r\nConnection: transfer-encoding\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`,
    );
    await sendHttp2({ ':method': method }, INNER);
    await sendHttp2({ ':method': method, 'content-length': length }, INNER);
    const seen = requests();
    expect(seen.map(({ line, body }) => [line.split(' ')[0], body])).toEqual(
      Array.from({ length: 5 }, () => [method, INNER]),
    );
    expect(new Set(seen.map(({ headers }) => headers['x-remote-user']))).toEqual(
      new Set([chosen === 'plainly' ? undefined : 'ann']),
    );
  }
});

test('a request without a body says so where its method may have one, and its connection is used again where not', async () => {
  for (const method of METHODS) await sendHttp2({ ':method': method });
  expect(requests().map(({ line, headers }) => [line.split(' ')[0], headers['content-length']])).toEqual(
    METHODS.map((method) => [method, /^(P|POST)/.test(method) ? '0' : undefined]),
  );
  expect(requests().every(({ headers }) => headers['transfer-encoding'] === undefined)).toBe(true);
});

test('a connection that may be used again has answered what changes nothing alone', async () => {
  for (const method of ['DELETE', 'POST', 'GET', 'GET', 'OPTIONS']) await sendHttp2({ ':method': method });
  expect(received.map((bytes) => messagesIn(bytes).messages.length)).toEqual([1, 1, 3]);
});

test('a request to change the protocol has no body, with any length that it announces', async () => {
  answer = 'HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n';
  const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';
  const heard = await sendRaw(
    `POST /x HTTP/1.1\r\nHost: a\r\n${upgrade}Content-Length: ${INNER.length}\r\n\r\n${INNER}`,
  );
  expect(heard).toContain('HTTP/1.1 400');
  expect(requests().map(({ headers, body }) => [headers['content-length'], body])).toEqual([['0', '']]);
});

test('a body that breaks off is no whole body for the backend', async () => {
  const socket = await openRaw();
  socket.write(Buffer.concat([frame('SETTINGS', 0), frame('HEADERS', 1, POST), frame('DATA', 1, 'half')]));
  await expect.poll(() => received.join('')).toContain('half');
  socket.write(frame('RST_STREAM', 1, Buffer.from([0, 0, 0, constants.NGHTTP2_CANCEL])));
  const [there] = sockets;
  if (there?.closed === false) await once(there, 'close');
  expect(messagesIn(received[0] ?? '')).toEqual({ messages: [], isWhole: false });
  socket.destroy();
});

test('a field of HTTP/2 with the end of a line in it, as bytes that no client would send, reaches no backend', async () => {
  const socket = await openRaw();
  const [name, value] = [Buffer.from('x-a'), Buffer.from('b\r\nX-Remote-User: admin')];
  const field = Buffer.concat([Buffer.from([0x10, name.length]), name, Buffer.from([value.length]), value]);
  const head = frame('HEADERS', 1, Buffer.concat([POST, field]));
  socket.write(Buffer.concat([frame('SETTINGS', 0), head, frame('DATA', 1, 'half')]));
  await expect.poll(() => received.join('')).toContain('half');
  expect(received.join('')).not.toMatch(/admin|x-a/i);
  socket.destroy();
});

/** Beyond TLS and the greeting. */
async function openRaw(): Promise<TLSSocket> {
  const socket = connectTls({
    ...{ host: '127.0.0.1', port: server.port, rejectUnauthorized: false, ALPNProtocols: ['h2'] },
  });
  socket.on('error', () => {});
  await once(socket, 'secureConnect');
  socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  return socket;
}

/** `:method: POST`, `:scheme: https`, `:path: /`, `:authority: a` (RFC 7541, appendix A). */
const POST = Buffer.from([0x83, 0x87, 0x84, 0x41, 1, 0x61]);

const FRAMES = { DATA: [0, 0], HEADERS: [1, 4], RST_STREAM: [3, 0], SETTINGS: [4, 0] } as const;

/** RFC 9113, section 4.1. Streams have numbers below 256. */
function frame(name: keyof typeof FRAMES, stream: number, payload: Buffer | string = ''): Buffer {
  const bytes = Buffer.from(payload);
  return Buffer.concat([Buffer.from([0, 0, bytes.length, ...FRAMES[name], 0, 0, 0, stream]), bytes]);
}

const HEAD = 'POST /x HTTP/1.1\r\nHost: a\r\n';
const AMBIGUOUS: readonly (readonly [string, string])[] = [
  ['two lengths', `${HEAD}Content-Length: 4\r\nContent-Length: 0\r\n\r\nabcd`],
  ['a length and chunks', `${HEAD}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['chunks that are not last', `${HEAD}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`],
  ['another coding', `${HEAD}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
  ['a coding below the chunks', `${HEAD}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
  [
    'two lines of codings',
    `${HEAD}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  ],
  ['a name before a space', `${HEAD}Content-Length : 4\r\n\r\nabcd`],
  ['a folded line', `${HEAD}X: a\r\n Content-Length: 4\r\n\r\n`],
  ['a bare line feed', `${HEAD}X: a\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['a signed length', `${HEAD}Content-Length: +4\r\n\r\nabcd`],
  ['an absolute address', 'GET http://inner/x HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a space in the path', 'GET /x HTTP/1.1 /y HTTP/1.1\r\nHost: a\r\n\r\n'],
];

test.each(AMBIGUOUS)(
  'a request of which two readers may think differently is refused: %s',
  async (_, text) => {
    expect(await sendRaw(text)).toMatch(/^HTTP\/1\.1 (400|501) /);
    expect(received).toEqual([]);
  },
);

test('headers of HTTP/2 cannot hold another line, nor those that only a connection has', async () => {
  const bad: Record<string, string | string[]>[] = [
    { te: 'gzip' },
    { 'content-length': '3' },
    { 'content-length': 'x' },
  ];
  for (const headers of bad) await sendHttp2({ ':method': 'POST', ...headers }, 'abcd').catch(() => {});
  expect(requests()).toEqual([]);
  await sendHttp2({ ':method': 'GET', expect: '100-continue', trailer: 'x-remote-user', te: 'trailers' });
  expect(Object.keys(requests()[0]?.headers ?? {})).toEqual(
    expect.not.arrayContaining(['expect', 'trailer', 'te']),
  );
});
