import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { fetchRemote } from '../../src/aggregation/remote-fetch.ts';
import { AgentCredentials, NodeTransport } from '../../src/proxy/node-transport.ts';
import { type ExtensionServer, startExtension } from '../kit/extension-server.ts';
import { Authority } from '../kit/pki.ts';

/** Documents of another server, over connections as they are. */

let extension: ExtensionServer;
let transport: NodeTransport;

let authority: Authority;

beforeAll(async () => {
  authority = await Authority.create('proxies');
  extension = await startExtension({
    names: ['api.far.svc'],
    host: '127.0.0.1',
    clientCa: authority.pem,
    versions: {},
  });
  const credentials = new AgentCredentials({ caFile: '', certFile: '', keyFile: '' });
  transport = new NodeTransport({ credentials, timeoutMs: 1000, reusesConnections: true });
});

afterAll(async () => {
  transport.close();
  await extension[Symbol.asyncDispose]();
});

const LIMITS = { bytes: 1000, ms: 5000 };

function ask(limits: { bytes: number; ms: number }, by = transport): ReturnType<typeof fetchRemote> {
  const service = { namespace: 'far', name: 'api', port: extension.port };
  const tls = { ca: extension.ca, serverName: 'api.far.svc', isVerified: true };
  const resolver = { resolve: async () => ({ host: '127.0.0.1', port: extension.port }) };
  const wanted = { path: '/apis', accept: 'application/json', etag: '"a"', limits };
  return fetchRemote(
    { resolver, transport: by },
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
  expect(await ask(LIMITS)).toMatchObject({ code: 200, etag: '"b"', text: '{}' });
  await extension.stop();
  await extension.start();
  expect((await ask(LIMITS)).code).toBe(200);
  expect(seen).toEqual(['"a"', '"a"']);
});

test('a new certificate is presented as soon as its files have changed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'proxy-client-'));
  const [certFile, keyFile] = [join(folder, 'client.crt'), join(folder, 'client.key')];
  const write = async (name: string): Promise<void> => {
    const { cert, key } = await authority.issue({ subject: `CN=${name}` });
    writeFileSync(certFile, cert);
    writeFileSync(keyFile, key);
  };
  await write('first');
  const credentials = new AgentCredentials({ caFile: '', certFile, keyFile });
  const own = new NodeTransport({ credentials, timeoutMs: 1000, reusesConnections: true });
  const callers: string[] = [];
  extension.answer = ({ caller }, response) => {
    callers.push(caller);
    response.end('{}');
  };
  await ask(LIMITS, own);
  await write('second');
  // The files are looked at every second. The look is noticed by the request after the one that begins it.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2000 });
  credentials.current();
  await ask(LIMITS, own);
  vi.useRealTimers();
  expect(callers).toEqual(['first', 'second']);
  own.close();
  rmSync(folder, { recursive: true });
});
