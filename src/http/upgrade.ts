import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Logger } from '../observability/logger.ts';
import type { ApiResponse, TunnelResponse } from '../request/api-response.ts';
import type { OpenRequests } from './drain.ts';
import { Http1Incoming } from './http1-incoming.ts';
import { IncomingRequest } from './incoming-request.ts';
import { type SendOptions, send } from './send.ts';
import { sendOverWebSocket, type UpgradedConnection } from './websocket.ts';

/** HTTP/1.1 connections that change to another protocol. Whatever goes wrong before the change is answered in HTTP. */

export interface UpgradeOptions {
  /** Requests under way. */
  readonly open: OpenRequests;
  readonly logger: Logger;
  readonly sending: SendOptions;
  respond(request: IncomingRequest): Promise<ApiResponse>;
}

/** What clients of Kubernetes change to. An offer of anything else, as of h2c, is one that nobody has to take. */
const PROTOCOLS = /^(websocket|spdy\/3\.1)$/i;

export function acceptUpgrades(server: Server, options: UpgradeOptions): void {
  // Node asks this before it takes a connection out of HTTP; without it, every request with an Upgrade header would lose its body.
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

/** Of streams, those that this server makes itself; a proxy's answer is HTTP's. */
const isEventStream = ({ verb, target }: IncomingRequest): boolean =>
  verb === 'watch' || target?.subresource === 'log';

function toText({ message, rawHeaders }: NonNullable<TunnelResponse['head']>): string {
  const lines = [`HTTP/1.1 101 ${message}`];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** An HTTP answer on a connection that HTTP has let go of; the last one there. */
function answerOn(incoming: IncomingMessage, socket: Duplex): ServerResponse {
  const outgoing = new ServerResponse(incoming);
  outgoing.shouldKeepAlive = false;
  outgoing.assignSocket(socket as Socket);
  socket.on('drain', () => outgoing.emit('drain'));
  socket.resume();
  outgoing.once('finish', () => (socket as Socket).destroySoon());
  return outgoing;
}
