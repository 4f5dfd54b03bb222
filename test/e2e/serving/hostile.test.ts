// @module-tag long
import { readFileSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../../kit/cluster.ts';
import { askHttp2, exchange, later, openHttp2, openTls } from '../../kit/connections.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';

let database: TestDatabase;
let cluster: Cluster;

beforeAll(async () => {
  database = await createTestDatabase();
  cluster = await startCluster(database.url, ['--request-timeout=3s', '--authorization-mode=RBAC']);
  await cluster.request('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name: 'there' } });
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await database.drop();
});

const alive = async (): Promise<void> => {
  expect((await cluster.request('GET', '/readyz')).code).toBe(200);
};

async function memoryBytes(): Promise<number> {
  const { text } = await cluster.request('GET', '/metrics');
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1]);
}

async function listsAnswered(): Promise<number> {
  const { text } = await cluster.request('GET', '/metrics');
  const lines = text.split('\n').filter((line) => line.startsWith('apiserver_request_total{'));
  const own = lines.filter((line) => line.includes('resource="configmaps"') && line.includes('verb="LIST"'));
  return own.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

/** Whether the server's end of a connection is open (state 01 of /proc/net/tcp), also when the client has heard otherwise. */
function isHeld(clientPort: number | undefined): boolean {
  const hex = (port = 0): string => port.toString(16).toUpperCase().padStart(4, '0');
  const open = new RegExp(`^ *\\d+: \\w+:${hex(cluster.port)} \\w+:${hex(clientPort)} 01 `, 'm');
  return open.test(readFileSync('/proc/net/tcp', 'utf8'));
}

const HEAD = 'Host: localhost\r\n';
const codes = (text: string): string[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, code = '']) => code);

test.each(['constructor', '__proto__', 'toString', 'valueOf', 'hasOwnProperty', 'CONSTRUCTOR'])(
  'a method called %s is one that is not allowed, and a media type called so is not supported',
  async (word) => {
    const session = await openHttp2(cluster);
    const maps = '/api/v1/namespaces/default/configmaps';
    for (const path of [maps, `${maps}/there`, '/version']) {
      const { code } = await askHttp2(session, path, word);
      expect([path, code]).toEqual([path, 405]);
    }
    session.destroy();
    const patched = await cluster.request('PATCH', `${maps}/there`, '{}', { 'content-type': word });
    expect(patched.code).toBe(415);
    const read = await cluster.request('GET', `${maps}/there`, undefined, { accept: word });
    expect(read.code).toBe(406);
  },
);

test('an internal error names the id of the request alone, and the log has it in full', async () => {
  await database.query('ALTER TABLE objects RENAME TO elsewhere');
  try {
    const path = '/api/v1/namespaces/default/configmaps';
    const { code, json, headers } = await cluster.request('POST', path, { metadata: { name: 'never' } });
    const id = String(headers['audit-id']);
    expect(code).toBe(500);
    const message = `request ${id} failed, and the server's log says why`;
    expect(json).toMatchObject({
      reason: 'InternalError',
      message: `Internal error occurred: ${message}`,
      details: { causes: [{ message }] },
    });
    expect(JSON.stringify(json)).not.toMatch(/relation|\.ts|\.js|127\.0\.0\.1|ECONN/);
    const line = (): string | undefined =>
      cluster.output.stderr.split('\n').find((text) => text.includes(id));
    await expect.poll(line).toMatch(/relation .*objects.* does not exist/);
  } finally {
    await database.query('ALTER TABLE elsewhere RENAME TO objects');
  }
  await alive();
});

test.each([
  ['two lengths', `POST /api HTTP/1.1\r\n${HEAD}Content-Length: 4\r\nContent-Length: 40\r\n\r\nbody`],
  [
    'a length and chunks',
    `POST /api HTTP/1.1\r\n${HEAD}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  ],
  [
    'chunks twice encoded',
    `POST /api HTTP/1.1\r\n${HEAD}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
  ],
  ['a folded header', `GET /api HTTP/1.1\r\n${HEAD}X-A: b\r\n Content-Length: 5\r\n\r\n`],
  ['a space before the colon', `POST /api HTTP/1.1\r\n${HEAD}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n`],
  ['a bare line feed', `GET /api HTTP/1.1\r\nHost: localhost\nX: y\r\n\r\n`],
  ['a length that is no number', `POST /api HTTP/1.1\r\n${HEAD}Content-Length: +4\r\n\r\nbody`],
  [
    'a chunk size with rubbish',
    `POST /api HTTP/1.1\r\n${HEAD}Transfer-Encoding: chunked\r\n\r\n4x\r\nbody\r\n0\r\n\r\n`,
  ],
])('%s: refused, and nothing behind it is taken for a request', async (_what, text) => {
  const smuggled = `GET /api/v1/namespaces/default/configmaps/there HTTP/1.1\r\n${HEAD}\r\n`;
  const answer = await exchange(cluster, text + smuggled);
  expect(answer.closed).toBe(true);
  expect(codes(answer.text).filter((code) => code === '200')).toEqual([]);
  expect(answer.text).not.toContain('"name":"there"');
});

test('headers beyond their bounds are 431, by one and by many', async () => {
  const long = await exchange(cluster, `GET /api HTTP/1.1\r\n${HEAD}X: ${'x'.repeat(200_000)}\r\n\r\n`);
  expect(codes(long.text)).toEqual(['431']);
  expect(long.closed).toBe(true);
  const session = await openHttp2(cluster);
  const stream = session.request({ ':path': '/version', 'x-long': 'x'.repeat(200_000) });
  const code = await new Promise((resolve) => {
    stream.once('response', (headers) => resolve(headers[':status']));
    stream.once('error', () => resolve('refused'));
    stream.once('close', () => resolve('refused'));
  });
  expect([431, 'refused']).toContain(code);
  session.destroy();
  await alive();
});

test('who never finishes its headers, its handshake or its body is hung up on', async () => {
  const slow = openTls(cluster).then(
    (socket) =>
      new Promise<string>((resolve) => {
        let text = '';
        socket.on('data', (chunk: Buffer) => {
          text += chunk.toString();
        });
        socket.write(`GET /api HTTP/1.1\r\n${HEAD}`);
        const drip = setInterval(() => socket.write('X: y\r\n'), 500);
        socket.on('error', () => {});
        socket.once('close', () => {
          clearInterval(drip);
          resolve(text);
        });
      }),
  );
  const silent = new Promise<void>((resolve) => {
    const socket = connectTcp(cluster.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.once('close', () => resolve());
  });
  const post = `POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\n${HEAD}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`;
  const body = await exchange(cluster, post);
  expect(codes(body.text)).toEqual(['504']);
  expect(body.text).toMatch(/connection: close/i);
  expect(body.closed).toBe(true);
  expect(codes(await slow)).toEqual(['408']);
  await silent;
});

test('a body that drips over HTTP/2 is answered, and its stream ends', async () => {
  const session = await openHttp2(cluster);
  const stream = session.request(
    {
      ':path': '/api/v1/namespaces/default/configmaps',
      ':method': 'POST',
      'content-type': 'application/json',
    },
    { endStream: false },
  );
  const code = new Promise((resolve) => stream.once('response', (headers) => resolve(headers[':status'])));
  const closed = new Promise<void>((resolve) => stream.once('close', () => resolve()));
  stream.on('error', () => {});
  stream.resume();
  stream.write('{');
  expect(await code).toBe(504);
  await closed;
  session.destroy();
  await alive();
});

test.each([
  '/api/v1/namespaces/default/../../../metrics',
  '/healthz/../metrics',
  '/healthz/..%2fmetrics',
  '/%2e%2e/metrics',
  '//metrics',
  '/version/../api/v1/namespaces/default/configmaps',
  '/api/v1/namespaces/default%2fconfigmaps%2fthere',
  '/api//v1//namespaces//default//configmaps//there',
  '/api/v1/namespaces/default/configmaps/there%00',
  '/api/v1/namespaces/default/configmaps/there%0d%0aX: y',
  '/version%00/../../api',
  '/healthz;/../../metrics',
  '/%',
  '/%c0%ae%c0%ae/metrics',
  'metrics',
  'https://other.example.com/metrics',
])('a path written as %s gives no more rights', async (path) => {
  const socket = await openTls(cluster, { cert: '', key: '' });
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  socket.on('error', () => {});
  socket.write(`GET ${path} HTTP/1.1\r\n${HEAD}Connection: close\r\n\r\n`);
  await new Promise<void>((resolve) => socket.once('close', () => resolve()));
  expect(['400', '401', '403', '404']).toContain(codes(text)[0]);
  expect(codes(text)).toHaveLength(1);
  expect(text).not.toMatch(/# HELP|"kind":"ConfigMap/);
});

/** A stream that begins and is given up, as bytes: HEADERS of a GET of /, then RST_STREAM (RFC 9113, sections 6.2 and 6.4). */
function abandonedStream(id: number): Buffer {
  const fields = Buffer.concat([Buffer.from([0x82, 0x84, 0x87, 0x41, 9]), Buffer.from('localhost')]);
  return Buffer.concat([frame(1, 5, id, fields), frame(3, 0, id, Buffer.from([0, 0, 0, 8]))]);
}

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A field of HPACK that is not to be indexed, both texts as they are (RFC 7541, section 6.2.2); texts of less than 127 bytes. */
const field = (name: string, value: string): Buffer =>
  Buffer.concat([
    Buffer.from([0x10, name.length]),
    Buffer.from(name),
    Buffer.from([value.length]),
    Buffer.from(value),
  ]);

const GET_ROOT = Buffer.concat([Buffer.from([0x82, 0x84, 0x87, 0x41, 9]), Buffer.from('localhost')]);
const MANY_FIELDS = Buffer.concat(Array.from({ length: 100 }, (_, at) => field(`x-${at}`, 'y'.repeat(100))));
const hundred = (frames: (at: number) => Buffer): Buffer =>
  Buffer.concat(Array.from({ length: 100 }, (_, at) => frames(at)));

test.each<[string, (n: number) => Buffer]>([
  ['streams reset', (n) => hundred((at) => abandonedStream(2 * (n + at) + 1))],
  [
    'fields of one request that never end',
    (n) =>
      Buffer.concat([
        ...(n === 0 ? [frame(1, 1, 1, GET_ROOT)] : []),
        hundred(() => frame(9, 0, 1, MANY_FIELDS)),
      ]),
  ],
  [
    'empty continuations of one request',
    (n) =>
      Buffer.concat([
        ...(n === 0 ? [frame(1, 1, 1, GET_ROOT)] : []),
        hundred(() => frame(9, 0, 1, Buffer.alloc(0))),
      ]),
  ],
  ['settings', () => hundred(() => frame(4, 0, 0, Buffer.from([0, 4, 0, 0, 255, 255])))],
  ['pings', () => hundred(() => frame(6, 0, 0, Buffer.alloc(8)))],
])(
  '%s in floods end their connection, or cost little, and other clients are served',
  async (_what, flood) => {
    const before = await memoryBytes();
    for (let round = 0; round < 3; round += 1) {
      const socket = await openRawHttp2();
      const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()));
      for (let n = 0; n < 20_000 && !socket.destroyed; n += 100) {
        socket.write(flood(n));
        await later(1);
      }
      await alive();
      socket.destroy();
      await ended;
    }
    expect((await memoryBytes()) - before).toBeLessThan(150 * 1024 * 1024);
  },
);

/** Beyond TLS and the greeting; what the server sends is not read. */
async function openRawHttp2(): Promise<TLSSocket> {
  const ALPNProtocols = ['h2'];
  const socket = connect({ host: '127.0.0.1', port: cluster.port, ALPNProtocols, rejectUnauthorized: false });
  socket.on('error', () => {});
  await new Promise((resolve) => socket.once('secureConnect', resolve));
  socket.write(
    Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(4, 0, 0, Buffer.alloc(0))]),
  );
  return socket;
}

test('who asks for much and reads none of it is let go, and costs little', async () => {
  const data = { text: 'x'.repeat(500_000) };
  for (let n = 0; n < 20; n += 1)
    await cluster.request('POST', '/api/v1/namespaces/default/configmaps', {
      metadata: { name: `large-${n}` },
      data,
    });
  const before = await memoryBytes();
  const answered = await listsAnswered();
  const sockets = await Promise.all(Array.from({ length: 20 }, () => openTls(cluster)));
  const ended = sockets.map(
    (socket) =>
      new Promise<void>((resolve) => {
        socket.on('error', () => {});
        socket.once('close', () => resolve());
      }),
  );
  for (const socket of sockets) {
    socket.pause();
    socket.write(`GET /api/v1/namespaces/default/configmaps HTTP/1.1\r\n${HEAD}\r\n`);
  }
  await expect.poll(listsAnswered).toBe(answered + sockets.length);
  await alive();
  expect((await memoryBytes()) - before).toBeLessThan(200 * 1024 * 1024);
  const held = (): number => sockets.filter(({ localPort }) => isHeld(localPort)).length;
  await expect.poll(held).toBe(0);
  // A paused reader hears of the end when it reads on.
  for (const socket of sockets) socket.resume();
  await Promise.all(ended);
});

test('hundreds of connections that say nothing keep no client out', async () => {
  const sockets = await Promise.all(
    Array.from({ length: 300 }, () => openTls(cluster).catch(() => undefined)),
  );
  await alive();
  for (const socket of sockets) socket?.destroy();
  const session = await openHttp2(cluster);
  expect((await askHttp2(session, '/version')).code).toBe(200);
  session.destroy();
});
