import { once } from 'node:events';
import { createServer as createHttpServer, get } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer, type Server, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createDial, type Dial } from '../../../src/outbound/egress/dial.ts';
import { createHttpAgent } from '../../../src/outbound/egress/dialled-agents.ts';
import type { EgressConnection } from '../../../src/outbound/egress/egress-config.ts';
import { SocketRelay } from '../../../src/outbound/egress/socket-relay.ts';
import { WebhookClient } from '../../../src/outbound/webhook-client.ts';
import { createEgress } from '../../../src/server/egress.ts';
import {
  type EgressProxy,
  socketFolder,
  startConnectProxy,
  startTunnelProxy,
} from '../../kit/egress-proxies.ts';
import { PATIENCE } from '../../kit/patience.ts';
import { Authority } from '../../kit/pki.ts';

const LARGE = Buffer.alloc(5 * 1024 * 1024, 'x');

interface Way {
  readonly connection: EgressConnection;
  readonly proxy: EgressProxy;
}

const directory = new Map<string, number>();
const ways = new Map<string, Way>();
const cleanups: (() => unknown)[] = [];
let authority: Authority;
let said: string[];

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

async function listen<S extends Server>(server: S, address: string): Promise<S> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  directory.set(address, portOf(server));
  cleanups.push(() => server.close());
  return server;
}

beforeAll(async () => {
  authority = await Authority.create('CN=proxies');
  const serving = await authority.issue({ subject: 'CN=proxy', serves: true });
  const client = await authority.issue({ subject: 'CN=apiserver' });
  const folder = socketFolder();
  cleanups.push(() => folder[Symbol.dispose]());
  // Sends back what it gets.
  await listen(
    createServer({ allowHalfOpen: true }, (socket) => {
      socket.on('error', () => {});
      socket.pipe(socket);
    }),
    'echo.invalid:7',
  );
  const plain = await startConnectProxy(directory);
  const secure = await startConnectProxy(directory, { tls: { ...serving, ca: authority.pem } });
  const local = await startConnectProxy(directory, { path: folder.at('connect') });
  const tunnel = await startTunnelProxy(folder.at('grpc'), directory);
  const tcp = { kind: 'tcp', host: '127.0.0.1' } as const;
  ways.set('http', {
    proxy: plain,
    connection: { protocol: 'HTTPConnect', proxy: { ...tcp, port: plain.port, tls: undefined } },
  });
  ways.set('https', {
    proxy: secure,
    connection: {
      protocol: 'HTTPConnect',
      proxy: { ...tcp, port: secure.port, tls: { ca: authority.pem, ...client, serverName: 'localhost' } },
    },
  });
  ways.set('uds', {
    proxy: local,
    connection: { protocol: 'HTTPConnect', proxy: { kind: 'uds', socketPath: folder.at('connect') } },
  });
  ways.set('grpc', { proxy: tunnel, connection: { protocol: 'GRPC', socketPath: folder.at('grpc') } });
  for (const { proxy } of ways.values()) cleanups.push(() => proxy[Symbol.asyncDispose]());
});

afterAll(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
});

function begin(name: string): Dial & { readonly proxy: EgressProxy } {
  const way = ways.get(name);
  if (way === undefined) throw new Error(`there is no way ${name}`);
  said = [];
  const dial = createDial(way.connection, {
    started: ({ protocol, transport }) => said.push(`started ${protocol} ${transport}`),
    opened: () => said.push('opened'),
    failed: (_, stage) => said.push(`failed ${stage}`),
  });
  if (dial === undefined) throw new Error(`${name} is direct`);
  way.proxy.asked.length = 0;
  return Object.assign(dial, { proxy: way.proxy });
}

const NAMES = ['http', 'https', 'uds', 'grpc'];

test.each(NAMES)(
  'bytes go both ways by %s, however many, and the connection ends at both ends',
  async (name) => {
    const dial = begin(name);
    const stream = await dial('echo.invalid', 7);
    expect(dial.proxy.asked).toEqual([name === 'grpc' ? 'tcp:echo.invalid:7' : 'echo.invalid:7']);
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    const all = new Promise<void>((resolve) =>
      stream.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        sizeBytes += chunk.length;
        if (sizeBytes === LARGE.length) resolve();
      }),
    );
    stream.write(LARGE);
    await all;
    expect(Buffer.concat(chunks).equals(LARGE)).toBe(true);
    expect(said).toEqual([
      `started ${name === 'grpc' ? 'grpc uds' : `http_connect ${name === 'uds' ? 'uds' : 'tcp'}`}`,
      'opened',
    ]);
    expect(dial.proxy.open.size).toBe(1);
    stream.destroy();
    await vi.waitFor(() => expect(dial.proxy.open.size).toBe(0), PATIENCE);
  },
);

test.each(NAMES)('what the proxy cannot reach by %s fails with its reason', async (name) => {
  const dial = begin(name);
  const message =
    name === 'grpc'
      ? 'dial tcp: lookup none.invalid:7: no such host'
      : 'while dialing none.invalid:7, code 502: 502 Bad Gateway';
  await expect(dial('none.invalid', 7)).rejects.toThrow(message);
  expect(said.at(-1)).toBe('failed proxy');
});

test('a proxy that is away fails, and says where it is', async () => {
  const observer = {
    started: () => {},
    opened: () => {},
    failed: (_: unknown, stage: string) => said.push(stage),
  };
  said = [];
  const uds = createDial(
    { protocol: 'HTTPConnect', proxy: { kind: 'uds', socketPath: '/none/proxy' } },
    observer,
  );
  await expect(uds?.('echo.invalid', 7)).rejects.toThrow('/none/proxy');
  const grpc = createDial({ protocol: 'GRPC', socketPath: '/none/grpc' }, observer);
  const failed = grpc?.('echo.invalid', 7);
  await expect(failed).rejects.toThrow('/none/grpc');
  expect(said).toEqual(['connect', 'connect']);
});

test('a proxy whose certificate is not of the authority is not spoken to', async () => {
  const { connection } = ways.get('https') ?? {};
  if (connection?.protocol !== 'HTTPConnect' || connection.proxy.kind !== 'tcp') throw new Error('no TLS');
  const { tls } = connection.proxy;
  const other = (await Authority.create('CN=other')).pem;
  if (tls === undefined) throw new Error('no TLS');
  const dial = createDial(
    { protocol: 'HTTPConnect', proxy: { ...connection.proxy, tls: { ...tls, ca: other } } },
    { started: () => {}, opened: () => {}, failed: () => {} },
  );
  await expect(dial?.('echo.invalid', 7)).rejects.toThrow(/certificate/);
});

test.each(NAMES)('a webhook by %s is verified as the host that it is', async (name) => {
  const serving = await authority.issue({ subject: 'CN=hook', serves: true });
  await listen(
    createTlsServer(serving, (request, response) => {
      request.resume().on('end', () => response.end('{"ok":true}'));
    }),
    'localhost:443',
  );
  const dial = begin(name);
  const client = new WebhookClient(() => ({
    ...{ url: 'https://localhost', ca: authority.pem, serverName: undefined, insecureSkipVerify: false },
    ...{ certificate: undefined, key: undefined, authorization: undefined, dial },
  }));
  const options = { timeoutMs: 10_000, signal: new AbortController().signal, maxAnswerBytes: 1000 };
  for (let time = 0; time < 3; time += 1) {
    const { code, body } = await client.post(Buffer.from('{}'), options);
    expect([code, body.toString()]).toEqual([200, '{"ok":true}']);
  }
  expect(dial.proxy.asked).toHaveLength(1);
  client.close();
});

test('documents of issuers go by the way that is named, which must be configured', async () => {
  const serving = await authority.issue({ subject: 'CN=issuer', serves: true });
  await listen(
    createTlsServer(serving, (_, response) => response.writeHead(200, { connection: 'close' }).end('keys')),
    'localhost:443',
  );
  await using proxy = await startConnectProxy(directory);
  const way = { kind: 'tcp', host: '127.0.0.1', port: proxy.port, tls: undefined } as const;
  const egress = createEgress(new Map([['cluster', { protocol: 'HTTPConnect', proxy: way }]]));
  const get = egress.createGet({ ca: authority.pem, egress: 'cluster' });
  expect(await get('https://localhost/keys')).toBe('keys');
  expect(proxy.asked).toEqual(['localhost:443']);
  expect(() => egress.createGet({ ca: undefined, egress: 'controlplane' })).toThrow(
    'there is no egress selection "controlplane"',
  );
  egress.close();
});

test.each(NAMES)(
  'plain HTTP goes by %s too, and a name that only this server knows is resolved first',
  async (name) => {
    const server = createHttpServer((request, response) => response.end(`hello ${request.headers.host}`));
    await listen(server, '192.0.2.9:80');
    const dial = begin(name);
    const lookup = (
      _: string,
      __: object,
      done: (error: null, address: string, family: number) => void,
    ): void => done(null, '192.0.2.9', 4);
    const agent = createHttpAgent({}, dial);
    const text = await new Promise<string>((resolve, reject) => {
      get('http://web.shop.svc/', { agent, lookup }, async (response) => {
        const chunks: Buffer[] = [];
        for await (const chunk of response) chunks.push(chunk);
        resolve(Buffer.concat(chunks).toString());
      }).on('error', reject);
    });
    expect(text).toBe('hello web.shop.svc');
  },
);

test.each(NAMES)('a socket of the system’s is rerouted by %s', async (name) => {
  const dial = begin(name);
  const relay = new SocketRelay(dial);
  const socket = relay.reroute(new Socket());
  socket.connect(7, 'echo.invalid');
  await once(socket, 'connect');
  socket.write('hello');
  const [answer] = await once(socket, 'data');
  expect(String(answer)).toBe('hello');
  socket.destroy();
  await vi.waitFor(() => expect(dial.proxy.open.size).toBe(0), PATIENCE);
  const failing = relay.reroute(new Socket());
  failing.connect(7, 'none.invalid');
  const [error] = await once(failing, 'error');
  expect(String(error)).toContain('none.invalid');
  relay.close();
});

test('what a proxy server sends after the end of a connection is left, and what no server may send ends it', async () => {
  const way = ways.get('grpc');
  if (way === undefined) throw new Error('there is no such way');
  const dial = createDial(way.connection, { started: () => {}, opened: () => {}, failed: () => {} });
  const late = await dial?.('late.invalid', 7);
  expect(String(late && (await buffer(late)))).toBe('xxxx');
  late?.destroy();
  const huge = await dial?.('huge.invalid', 7);
  await expect(huge && buffer(huge)).rejects.toThrow('larger than max');
});
