import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Dial } from '../../src/outbound/egress/dial.ts';
import { AgentCredentials, NodeTransport } from '../../src/proxy/node-transport.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-credentials-'));
  vi.useFakeTimers({ toFake: ['Date'] });
});

afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true });
});

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

test('renewed files count without a restart, and files that are gone do not count', () => {
  const certFile = write('cert', 'first');
  const keyFile = write('key', 'key');
  const credentials = new AgentCredentials({ caFile: '', certFile, keyFile });
  expect(credentials.verifies).toBe(false);
  write('cert', 'the second');
  vi.advanceTimersByTime(1500);
  expect(String(credentials.current().cert)).toBe('the second');
  rmSync(keyFile);
  vi.advanceTimersByTime(1500);
  expect(String(credentials.current().key)).toBe('key');
});

test('a file that cannot be read is found at the start', () => {
  expect(() => new AgentCredentials({ caFile: join(folder, 'none'), certFile: '', keyFile: '' })).toThrow(
    'ENOENT',
  );
});

test('of a host whose addresses were checked, these alone are dialled, by every way', async () => {
  const server = createServer((_, response) => void response.end('here'));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const credentials = new AgentCredentials({ caFile: '', certFile: '', keyFile: '' });
  const dialled: string[] = [];
  const dial = async (host: string) => {
    dialled.push(host);
    return connect({ host, port });
  };
  const send = async (
    addresses: readonly string[],
    options: { readonly dial?: Dial } = {},
  ): Promise<string> => {
    const transport = new NodeTransport({ credentials, timeoutMs: 1000, ...options });
    const backend = {
      scheme: 'http',
      host: 'node.invalid',
      port: String(port),
      path: '/',
      query: '',
    } as const;
    const { signal } = new AbortController();
    const message = { method: 'GET', headers: ['Host', 'a'], signal, hurried: true };
    return text((await transport.send({ ...backend, addresses, trust: 'none' }, message)).body);
  };
  expect(await send(['127.0.0.1'])).toBe('here');
  expect(await send(['127.0.0.1'], { dial })).toBe('here');
  expect(dialled).toEqual(['127.0.0.1']);
  await expect(send([])).rejects.toThrow('dial tcp: lookup node.invalid: no such host');
  server.close();
});
