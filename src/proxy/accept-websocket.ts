import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { ApiRequest } from '../request/api-request.ts';

/** Protocols that a websocket is asked to speak, most wanted first. */
export const offeredProtocols = ({ headers }: ApiRequest): string[] =>
  String(headers['sec-websocket-protocol'] ?? '')
    .split(',')
    .map((protocol) => protocol.trim())
    .filter((protocol) => protocol !== '');

/**
 * A message is held until it is complete. kubectl sends a command's input 32 kB at a time, and a forwarded port's in what one
 * read gives it; Go's own websockets, which Kubernetes serves, take 32 MB, which a client could have held for nothing.
 */
const MAX_MESSAGE_BYTES = 1024 * 1024;

/** Answers the handshake and takes the connection. Undefined: the handshake was no good, and has been answered so. */
export function acceptWebSocket(
  request: ApiRequest,
  connection: Duplex,
  protocol: string,
): Promise<WebSocket | undefined> {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
    handleProtocols: () => protocol,
  });
  return new Promise((resolve) => {
    connection.once('close', () => resolve(undefined));
    // A handshake is about the method and the headers alone.
    const handshake = { method: request.method, headers: request.headers } as IncomingMessage;
    server.handleUpgrade(handshake, connection, Buffer.alloc(0), (client) => {
      client.on('error', () => client.terminate());
      resolve(client);
    });
  });
}
