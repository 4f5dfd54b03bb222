import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Logger } from '../observability/logger.ts';
import type { ApiResponse, ResponseSink, StreamResponse, TunnelResponse } from '../request/api-response.ts';
import type { OpenRequests } from './connections.ts';
import { Http1Incoming } from './http1-incoming.ts';
import { IncomingRequest } from './incoming-request.ts';
import { type SendOptions, send } from './send.ts';

/** HTTP/1.1 connections that change to another protocol. Errors before the change are answered in HTTP. */

interface UpgradeOptions {
  /** Requests under way. */
  readonly open: OpenRequests;
  readonly logger: Logger;
  readonly sending: SendOptions;
  respond(request: IncomingRequest): Promise<ApiResponse>;
}

/** The protocols that clients of Kubernetes change to. Other offers, such as h2c, are ignored, as HTTP allows. */
const PROTOCOLS = /^(websocket|spdy\/3\.1)$/i;

export function acceptUpgrades(server: Server, options: UpgradeOptions): void {
  // Node calls this before it takes a connection out of HTTP. Without it, every request with an Upgrade header would lose its body.
  Object.assign(server, {
    shouldUpgradeCallback: ({ headers }: IncomingMessage) => PROTOCOLS.test(headers.upgrade ?? ''),
  });
  server.on('upgrade', (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => {});
    void serveUpgrade(options, incoming, socket, head);
  });
}

/** Never rejects. */
async function serveUpgrade(
  options: UpgradeOptions,
  incoming: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): Promise<void> {
  let request: IncomingRequest;
  try {
    request = new IncomingRequest(
      new Http1Incoming(incoming),
      (incoming.headers.upgrade ?? '').toLowerCase(),
    );
  } catch {
    answerOn(incoming, socket)
      .writeHead(400, { 'content-type': 'text/plain' })
      .end('malformed request path\n');
    return;
  }
  options.open.begin(request);
  socket.once('close', () => request.abort());
  try {
    const response = await options.respond(request);
    await begin(options.sending, request, response, { incoming, socket, head });
  } catch (error) {
    options.logger.error(`${request.method} ${request.path}: the connection broke off`, error);
    socket.destroy();
  } finally {
    options.open.end(request);
  }
}

function begin(
  sending: SendOptions,
  request: IncomingRequest,
  response: ApiResponse,
  connection: UpgradedConnection,
): Promise<void> {
  const { incoming, socket, head } = connection;
  if (response.kind === 'tunnel') {
    if (head.length > 0) socket.unshift(head);
    if (response.head !== undefined) socket.write(toText(response.head), 'latin1');
    return response.run(socket);
  }
  const websocket = request.raw.upgrade === 'websocket';
  if (websocket && response.kind === 'stream' && isEventStream(request))
    return sendOverWebSocket(request, response, connection);
  return send(sending, request, response, answerOn(incoming, socket));
}

/** Streams that this server makes itself can go over a websocket; a proxied answer stays HTTP. */
const isEventStream = ({ verb, target }: IncomingRequest): boolean =>
  verb === 'watch' || target?.subresource === 'log';

function toText({ message, rawHeaders }: NonNullable<TunnelResponse['head']>): string {
  const lines = [`HTTP/1.1 101 ${message}`];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** An HTTP answer on a connection that Node has taken out of HTTP. It is the last one on the connection. */
function answerOn(incoming: IncomingMessage, socket: Duplex): ServerResponse {
  const outgoing = new ServerResponse(incoming);
  outgoing.shouldKeepAlive = false;
  outgoing.assignSocket(socket as Socket);
  socket.on('drain', () => outgoing.emit('drain'));
  socket.resume();
  outgoing.once('finish', () => (socket as Socket).destroySoon());
  return outgoing;
}

/** Watches and logs over websockets. */

/** Browsers cannot set headers on a websocket, so they send a token in place of a protocol. */
const BEARER_PROTOCOL = 'base64url.bearer.authorization.';
/** Clients send nothing here. */
const MAX_RECEIVED_BYTES = 4096;

const server = new WebSocketServer({
  noServer: true,
  perMessageDeflate: false,
  maxPayload: MAX_RECEIVED_BYTES,
  // A browser that offers protocols breaks off unless one of them is taken.
  handleProtocols: (offered) => [...offered].find((one) => !one.startsWith(BEARER_PROTOCOL)) ?? false,
});

interface UpgradedConnection {
  readonly incoming: IncomingMessage;
  readonly socket: Duplex;
  /** Bytes that the client sent behind its request. */
  readonly head: Buffer;
}

/** Ends with the stream, or when the client closes. */
function sendOverWebSocket(
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
    // Messages leave in order, so the last one leaves after all others.
    drained: () => Promise.race([last, gone]),
  };
}

/** The mark at which an HTTP response makes its writer wait. */
const MAX_BUFFERED_BYTES = 64 * 1024;

type Framing = (frame: Buffer) => Iterable<string | Buffer>;

/** Websocket messages take the place of the newlines and lengths that delimit events in a stream of bytes. */
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
