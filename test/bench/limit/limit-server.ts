import { createSecureServer } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import type { Protocol } from '../load/jobs.ts';
import { answerCalls } from '../process/calls.ts';

/** A process that only sends bytes: what any server written for Node.js could do at best. */

export interface ServedBytes {
  readonly protocol: Protocol;
  readonly cert: string;
  readonly key: string;
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

export interface LimitCalls {
  /** Answers every request with the same reply. Answers its port. */
  readonly serveBytes: { argument: ServedBytes; result: number };
  /** Takes any number of connections that wait for frames. Answers its port. */
  readonly serveFrames: { argument: { cert: string; key: string }; result: number };
  /** Writes the frame to each connection so many times. Resolves when everything has been handed to the system. */
  readonly sendFrames: { argument: { frame: Buffer; times: number }; result: undefined };
  readonly stop: { argument: undefined; result: undefined };
}

/** What may wait in a connection before the others wait for it. */
const MAX_WAITING_BYTES = 1024 * 1024;

let server: Server | undefined;
const sockets = new Set<TLSSocket>();

answerCalls<LimitCalls>({
  serveBytes: (bytes) => listen(bytes.protocol === 'h2' ? http2Server(bytes) : http1Server(bytes)),
  serveFrames: (pair) => listen(frameServer(pair)),
  sendFrames: async ({ frame, times }) => {
    for (let turn = 0; turn < times; turn += 1) {
      for (const socket of sockets) {
        socket.write(frame);
        if (socket.writableLength > MAX_WAITING_BYTES) {
          await new Promise((resolve) => socket.once('drain', resolve));
        }
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    return undefined;
  },
  stop: async () => {
    server?.close();
    for (const socket of sockets) socket.destroy();
    sockets.clear();
    return undefined;
  },
});

function http2Server({ cert, key, body, headers }: ServedBytes): Server {
  const http2 = createSecureServer({ cert, key });
  const reply = { ':status': 200, 'content-length': body.length, ...headers };
  http2.on('stream', (stream) => {
    stream.on('error', () => {});
    stream.respond(reply);
    stream.end(body);
  });
  http2.on('sessionError', () => {});
  return http2;
}

function http1Server({ cert, key, body, headers }: ServedBytes): Server {
  const reply = { 'content-length': body.length, ...headers };
  return createHttpsServer({ cert, key }, (request, response) => {
    request.resume();
    response.writeHead(200, reply).end(body);
  });
}

function frameServer(pair: { cert: string; key: string }): Server {
  return createTlsServer(pair, (socket) => {
    socket.on('error', () => {});
    socket.setNoDelay(true);
    socket.once('data', () => {
      socket.resume();
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n');
      sockets.add(socket);
    });
    socket.once('close', () => sockets.delete(socket));
  });
}

function listen(made: Server): Promise<number> {
  server = made;
  return new Promise((resolve, reject) => {
    made.once('error', reject);
    made.listen(0, '127.0.0.1', () => resolve((made.address() as AddressInfo).port));
  });
}
