import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { acceptWebSocket } from '../../src/proxy/translate.ts';
import type { ApiRequest } from '../../src/request/api-request.ts';

const server = createServer();
const received: number[] = [];

beforeAll(async () => {
  server.on('upgrade', async (incoming, socket) => {
    const { method, headers } = incoming;
    const client = await acceptWebSocket({ method, headers } as ApiRequest, socket, 'v5.channel.k8s.io');
    client?.on('message', (message: Buffer) => received.push(message.length));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

test('a message as long as commands send is accepted, and a longer one ends the connection', async () => {
  const { port } = server.address() as AddressInfo;
  const client = new WebSocket(`ws://127.0.0.1:${port}/`, 'v5.channel.k8s.io');
  const closed = new Promise<number>((resolve) => client.once('close', resolve));
  client.on('error', () => {});
  await new Promise((resolve) => client.once('open', resolve));
  client.send(Buffer.alloc(32 * 1024 + 1));
  await expect.poll(() => received).toEqual([32 * 1024 + 1]);
  client.send(Buffer.alloc(2 * 1024 * 1024));
  // 1009: too large; 1006 when the server hangs up before it is read.
  expect([1006, 1009]).toContain(await closed);
  expect(received).toHaveLength(1);
});
