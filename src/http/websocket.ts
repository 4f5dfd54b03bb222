import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { ResponseSink, StreamResponse } from '../request/api-response.ts';
import type { IncomingRequest } from './incoming-request.ts';

/** Watches and logs for browsers, which have no other way to read a response as it comes. */

/** A token that came in the place of a protocol, as browsers can set no headers. */
const BEARER_PROTOCOL = 'base64url.bearer.authorization.';
/** Clients have nothing to say here. */
const MAX_RECEIVED_BYTES = 4096;

const server = new WebSocketServer({
  noServer: true,
  perMessageDeflate: false,
  maxPayload: MAX_RECEIVED_BYTES,
  // A browser that offers protocols breaks off unless one of them is taken.
  handleProtocols: (offered) => [...offered].find((one) => !one.startsWith(BEARER_PROTOCOL)) ?? false,
});

export interface UpgradedConnection {
  readonly incoming: IncomingMessage;
  readonly socket: Duplex;
  /** What the client sent behind its request. */
  readonly head: Buffer;
}

/** Ends with the stream, or when the client closes. */
export function sendOverWebSocket(
  request: IncomingRequest,
  response: StreamResponse,
  { incoming, socket, head }: UpgradedConnection,
): Promise<void> {
  return new Promise((resolve, reject) => {
    // A handshake that fails is answered and ended by ws itself.
    socket.once('close', () => resolve());
    server.handleUpgrade(incoming, socket, head, (client) => {
      client.on('error', () => client.terminate());
      client.once('close', () => request.abort());
      response
        .run(toSink(response, client))
        .then(() => client.close(1000))
        .then(resolve, (error: unknown) => {
          client.close(1011);
          reject(error);
        });
    });
  });
}

function toSink(response: StreamResponse, client: WebSocket): ResponseSink {
  const toMessages = framing(response.contentType, client.protocol);
  const gone = new Promise<void>((resolve) => client.once('close', () => resolve()));
  let last: Promise<void> = Promise.resolve();
  return {
    open: () => {},
    write: (frame) => {
      if (client.readyState !== client.OPEN) return true;
      for (const message of toMessages(frame)) {
        last = new Promise((sent) => client.send(message, () => sent()));
      }
      return client.bufferedAmount < MAX_BUFFERED_BYTES;
    },
    // The last message is out when all are.
    drained: () => Promise.race([last, gone]),
  };
}

/** As much as a response of HTTP holds back before its writer waits. */
const MAX_BUFFERED_BYTES = 64 * 1024;

type Framing = (frame: Buffer) => Iterable<string | Buffer>;

/** A message of the websocket delimits what newlines and lengths delimit in a stream of bytes. */
function framing(contentType: string, protocol: string): Framing {
  if (contentType.startsWith('text/plain')) {
    return protocol === 'base64.binary.k8s.io' ? (bytes) => [bytes.toString('base64')] : (bytes) => [bytes];
  }
  if (contentType.includes('protobuf')) return withoutLengths;
  if (contentType.startsWith('application/json')) return lines;
  return (frame) => [frame.toString()];
}

function* lines(frame: Buffer): Generator<string> {
  for (const line of frame.toString().split('\n')) if (line !== '') yield line;
}

function* withoutLengths(frame: Buffer): Generator<Buffer> {
  for (let at = 0; at + 4 <= frame.length; ) {
    const end = at + 4 + frame.readUInt32BE(at);
    yield frame.subarray(at + 4, end);
    at = end;
  }
}
