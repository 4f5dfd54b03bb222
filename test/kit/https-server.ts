import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Pair } from './pki.ts';

/** A server of the test's own, that others than the one under test would be in production. */
export interface TestServer extends AsyncDisposable {
  readonly url: string;
  /** How many requests came. */
  readonly count: number;
}

export type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

export async function serveHttps(pair: Pair, handler: Handler): Promise<TestServer> {
  const sockets = new Set<Duplex>();
  let count = 0;
  const server = createServer({ cert: pair.cert, key: pair.key }, (request, response) => {
    count += 1;
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => handler(request, response, Buffer.concat(chunks).toString()));
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${port}`,
    get count() {
      return count;
    },
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
