import { afterAll, beforeAll, expect, test } from 'vitest';
import { fetchRemote } from '../../src/aggregation/remote-fetch.ts';
import { AgentCredentials, NodeTransport } from '../../src/proxy/node-transport.ts';
import { type ExtensionServer, startExtension } from '../kit/extension-server.ts';

/** Documents of another server, over connections as they are. */

let extension: ExtensionServer;
let transport: NodeTransport;

beforeAll(async () => {
  extension = await startExtension({ names: ['api.far.svc'], host: '127.0.0.1', versions: {} });
  const credentials = new AgentCredentials({ caFile: '', certFile: '', keyFile: '' });
  transport = new NodeTransport({ credentials, timeoutMs: 1000, reusesConnections: true });
});

afterAll(async () => {
  transport.close();
  await extension[Symbol.asyncDispose]();
});

function ask(limits: { bytes: number; ms: number }): ReturnType<typeof fetchRemote> {
  const service = { namespace: 'far', name: 'api', port: extension.port };
  const tls = { ca: extension.ca, serverName: 'api.far.svc', isVerified: true };
  const resolver = { resolve: async () => ({ host: '127.0.0.1', port: extension.port }) };
  const wanted = { path: '/apis', accept: 'application/json', etag: '"a"', limits };
  return fetchRemote(
    { resolver, transport },
    { service, tls },
    { ...wanted, signal: new AbortController().signal },
  );
}

test('a server that drips is left when its time is up', async () => {
  const dripped = Promise.withResolvers<void>();
  extension.answer = (_, response) => {
    const drip = setInterval(() => response.write(' '), 5);
    response.once('close', () => {
      clearInterval(drip);
      dripped.resolve();
    });
  };
  await expect(ask({ bytes: 1000, ms: 100 })).rejects.toThrow('/apis did not come within 0.1s');
  await dripped.promise;
});

test('a server that never ends is left when it has sent too much', async () => {
  const ended = Promise.withResolvers<void>();
  extension.answer = (_, response) => {
    response.once('close', ended.resolve);
    const pour = (): void => void response.write(Buffer.alloc(10_000, ' '), (error) => error ?? pour());
    pour();
  };
  await expect(ask({ bytes: 100_000, ms: 10_000 })).rejects.toThrow('/apis has more than 100000 bytes');
  await ended.promise;
});

test('a connection that the server has closed meanwhile is replaced', async () => {
  const seen: string[] = [];
  extension.answer = ({ headers }, response) => {
    seen.push(String(headers['if-none-match']));
    response.writeHead(200, { etag: '"b"' }).end('{}');
  };
  const limits = { bytes: 1000, ms: 5000 };
  expect(await ask(limits)).toMatchObject({ code: 200, etag: '"b"', text: '{}' });
  await extension.stop();
  await extension.start();
  expect((await ask(limits)).code).toBe(200);
  expect(seen).toEqual(['"a"', '"a"']);
});
