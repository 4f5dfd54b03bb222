import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type ClientHttp2Session,
  connect,
  constants,
  createSecureServer,
  type Http2SecureServer,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { type Server as HttpsServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Answer, Incoming } from '../../src/http/exchange.ts';
import { Http1Incoming } from '../../src/http/http1-incoming.ts';
import { acceptStreams, Uploads, WINDOW_BYTES } from '../../src/http/http2-exchange.ts';
import { Authority } from '../kit/pki.ts';

type Serve = (incoming: Incoming, answer: Answer) => void;

interface Side {
  readonly server: Http2SecureServer;
  readonly session: ClientHttp2Session;
}

let serve: Serve = () => {};
/** Node's own layer, by which requests of HTTP/2 look like those of HTTP/1.1. */
let plain: Side;
let streams: Side;

const acceptPlainly = (server: Http2SecureServer): void => {
  (server as unknown as HttpsServer).on('request', (message: IncomingMessage, response: ServerResponse) =>
    serve(new Http1Incoming(message, response), response),
  );
};

beforeAll(async () => {
  const pair = await (await Authority.create('test')).issue({ subject: 'CN=localhost', serves: true });
  const open = async (accept: (server: Http2SecureServer) => void): Promise<Side> => {
    const server = createSecureServer({ ...pair, allowHTTP1: true });
    acceptPlainly(server);
    accept(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
    session.on('error', () => {});
    return { server, session };
  };
  plain = await open(() => {});
  streams = await open((server) => acceptStreams(server, (exchange) => serve(exchange, exchange)));
});

afterAll(() => {
  for (const { session, server } of [plain, streams]) {
    session.destroy();
    server.close();
  }
});

interface Seen {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly continued: boolean;
}

async function ask({ session }: Side, headers: OutgoingHttpHeaders, body?: string): Promise<Seen> {
  const stream = session.request({ ':path': '/a?b=%20c', ...headers }, { endStream: body === undefined });
  let continued = false;
  stream.once('continue', () => {
    continued = true;
  });
  const response = once(stream, 'response');
  if (body !== undefined) stream.end(body);
  const [received] = (await response) as [IncomingHttpHeaders & { ':status': number }];
  const { date: _, ...others } = received;
  return { status: received[':status'], headers: others, body: await text(stream), continued };
}

/** What came in, and a body of `pieces` times `sizeBytes`, in as many writes. */
const answering =
  (code: number, pieces: number, sizeBytes: number): Serve =>
  (incoming, answer) => {
    const chunks: Buffer[] = [];
    const finish = (): void => {
      const sent = Buffer.concat(chunks);
      answer.writeHead(code, {
        'x-saw': `${incoming.method} ${incoming.url} ${sent.length} ${incoming.headers['x-a']}`,
        'x-raw': incoming.rawHeaders.filter((name) => name === 'x-a').length.toString(),
        warning: ['299 - "a"', '299 - "b"'],
      });
      for (let at = 1; at < pieces; at += 1) answer.write(Buffer.alloc(sizeBytes, 97 + at));
      answer.end(incoming.method === 'HEAD' || pieces === 0 ? undefined : Buffer.alloc(sizeBytes, 97));
    };
    incoming.receive({ data: (chunk) => chunks.push(chunk), end: finish, broken: () => {} });
  };

test.each([
  { method: 'GET', code: 200, pieces: 1, sizeBytes: 2000 },
  { method: 'GET', code: 404, pieces: 3, sizeBytes: 70_000 },
  { method: 'GET', code: 200, pieces: 1, sizeBytes: 0 },
  { method: 'GET', code: 301, pieces: 0, sizeBytes: 0 },
  { method: 'HEAD', code: 200, pieces: 0, sizeBytes: 0 },
  { method: 'OPTIONS', code: 204, pieces: 1, sizeBytes: 0 },
  { method: 'DELETE', code: 200, pieces: 1, sizeBytes: 10 },
  { method: 'POST', code: 201, pieces: 1, sizeBytes: 500, body: 'x'.repeat(1000) },
  { method: 'PUT', code: 200, pieces: 2, sizeBytes: 500, body: 'y'.repeat(300_000) },
  { method: 'PATCH', code: 200, pieces: 1, sizeBytes: 500, body: '' },
  { method: 'POST', code: 200, pieces: 1, sizeBytes: 5, body: 'z', expect: '100-continue' },
  { method: 'POST', code: 200, pieces: 1, sizeBytes: 5, body: 'z', expect: 'a miracle' },
])('$method answered with $code is what Node’s own layer would make of it', async (one) => {
  serve = answering(one.code, one.pieces, one.sizeBytes);
  const headers = { ':method': one.method, 'x-a': 'b', ...(one.expect && { expect: one.expect }) };
  const wanted = await ask(plain, headers, one.body);
  expect(await ask(streams, headers, one.body)).toEqual(wanted);
  if (one.expect === undefined) expect(wanted.status).toBe(one.code);
});

test('CONNECT is refused', async () => {
  const headers = { ':method': 'CONNECT', ':authority': 'example.com:80', ':path': undefined };
  expect((await ask(streams, headers)).status).toBe(405);
});

test.each(['plain', 'streams'])('a client that breaks off is noticed, by %s', async (name) => {
  const { session } = name === 'plain' ? plain : streams;
  const noticed = new Promise((resolve) => {
    serve = (incoming, answer) => {
      let broken = false;
      incoming.receive({
        data: () => stream.close(),
        end: () => {},
        broken: () => {
          broken = true;
        },
      });
      answer.once('close', () => resolve({ broken, ended: answer.writableEnded }));
    };
  });
  const stream = session.request({ ':path': '/', ':method': 'POST' });
  stream.write('the beginning');
  expect(await noticed).toEqual({ broken: true, ended: false });
});

test('a body requested after the client broke off is broken, not awaited', async () => {
  const received = new Promise((resolve) => {
    serve = (incoming, answer) => {
      answer.once('close', () =>
        incoming.receive({ data: () => {}, end: () => resolve('end'), broken: () => resolve('broken') }),
      );
      stream.close();
    };
  });
  const stream = streams.session.request({ ':path': '/', ':method': 'POST' });
  expect(await received).toBe('broken');
});

test('an answer survives an error of the backend that gets the body', async () => {
  serve = ({ body }, answer) => {
    body?.once('close', () => {
      answer.writeHead(503, {});
      answer.end(Buffer.from('unreachable'));
    });
    body?.destroy(new Error('the client is gone'));
    body?.on('error', () => {});
  };
  const seen = await ask(streams, { ':method': 'POST' }, 'x'.repeat(100_000));
  expect([seen.status, seen.body]).toEqual([503, 'unreachable']);
});

test('a request of HTTP/1.1 is served once, on the same port', async () => {
  let served = 0;
  serve = (incoming, answer) => {
    served += 1;
    answer.writeHead(200, { 'content-type': 'text/plain' });
    answer.end(Buffer.from(String(incoming.session)));
  };
  const { port } = streams.server.address() as AddressInfo;
  const asking = request({ host: '127.0.0.1', port, rejectUnauthorized: false, agent: false }).end();
  const [response] = (await once(asking, 'response')) as [IncomingMessage];
  expect(await text(response)).toBe('undefined');
  expect(served).toBe(1);
});

test('a client that is sent elsewhere loses none of the requests that are on their way', async () => {
  const { port } = streams.server.address() as AddressInfo;
  const session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
  const side = { ...streams, session };
  let served = 0;
  serve = (incoming, answer) => {
    served += 1;
    if (served === 1) incoming.sendElsewhere();
    answer.writeHead(200, {});
    answer.end();
  };
  const away = once(session, 'goaway');
  const closed = once(session, 'close');
  const seen = await Promise.all(Array.from({ length: 20 }, () => ask(side, {})));
  expect(seen.map(({ status }) => status)).toEqual(Array(20).fill(200));
  await away;
  await closed;
});

test('requests are refused while too many unread bodies wait, and accepted again when these are read', async () => {
  const waiting: Incoming[] = [];
  serve = (incoming) => void waiting.push(incoming);
  const begin = () =>
    streams.session.request({ ':method': 'POST', ':path': '/upload' }, { endStream: false });
  const sent = Array.from({ length: 99 }, begin);
  const second = connect(`https://127.0.0.1:${(streams.server.address() as AddressInfo).port}`, {
    rejectUnauthorized: false,
  });
  // The bound is a connection's own.
  const ended: number[] = [];
  const more = Array.from({ length: 60 }, begin);
  for (const stream of [...sent, ...more]) {
    stream.on('error', () => {});
    stream.once('close', () => ended.push(stream.rstCode));
  }
  await expect.poll(() => waiting.length + ended.length).toBe(159);
  expect(waiting).toHaveLength(128);
  expect(new Set(ended)).toEqual(new Set([constants.NGHTTP2_REFUSED_STREAM]));
  const other = second.request({ ':method': 'POST', ':path': '/upload' }, { endStream: false });
  other.on('error', () => {});
  await expect.poll(() => waiting.length).toBe(129);
  waiting[0]?.receive({ data: () => {}, end: () => {}, broken: () => {} });
  const next = begin();
  next.on('error', () => {});
  await expect.poll(() => waiting.length).toBe(130);
  for (const stream of [...sent, ...more, next]) stream.close();
  second.destroy();
});

const MANY = 10_000;

function admitted(uploads: Uploads, connection: object, announced?: string): number {
  for (let count = 0; count < MANY; count += 1)
    if (uploads.begin(connection, announced) === undefined) return count;
  return MANY;
}

test('the bytes that wait on one connection are bounded, with or without announced lengths', () => {
  expect(admitted(new Uploads(), {}) * WINDOW_BYTES).toBe(32 * 1024 * 1024);
  expect(admitted(new Uploads(), {}, '3000000') * WINDOW_BYTES).toBe(32 * 1024 * 1024);
  expect(admitted(new Uploads(), {}, '1024') * 1024).toBe(10_000 * 1024);
  expect(admitted(new Uploads(), {}, 'lots') * WINDOW_BYTES).toBe(32 * 1024 * 1024);
  expect(admitted(new Uploads(), {}, '0')).toBe(MANY);
});

test('an upload that is read makes room, once', () => {
  const uploads = new Uploads();
  const connection = {};
  const first = uploads.begin(connection, undefined);
  admitted(uploads, connection);
  expect(uploads.begin(connection, undefined)).toBeUndefined();
  first?.end();
  first?.end();
  expect(uploads.begin(connection, undefined)).toBeDefined();
  expect(uploads.begin(connection, undefined)).toBeUndefined();
});

test('connections have a bound together', () => {
  const uploads = new Uploads();
  const all = Array.from({ length: 20 }, () => admitted(uploads, {}));
  expect(all.reduce((sum, count) => sum + count, 0) * WINDOW_BYTES).toBe(256 * 1024 * 1024);
});
