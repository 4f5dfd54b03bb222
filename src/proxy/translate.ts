import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { createWebSocketStream, type WebSocket, WebSocketServer } from 'ws';
import { badRequest } from '../api/status.ts';
import type { ApiRequest } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';
import type { Backend, BackendTransport } from '../request/backend.ts';
import { spdyHeaders } from './headers.ts';
import { SpdySession, type SpdyStream } from './spdy-session.ts';
import { readStart } from './stream-answer.ts';
import { askUpgrade, joinStreams, refusedUpgrade } from './upgrade.ts';

/**
 * Translates websockets for node agents that speak SPDY. Proxies between clients and this server pass websockets but not SPDY;
 * between this server and its agents there are no proxies.
 */

/** Feature gate TranslateStreamCloseWebsocketRequests. */
export const isCommandWebSocket = (request: ApiRequest): boolean =>
  request.raw.upgrade === 'websocket' && offeredProtocols(request).includes(CHANNEL_PROTOCOL);

/** @throws StatusError */
export async function translateCommand(
  transport: BackendTransport,
  backend: Backend,
  request: ApiRequest,
  wanted: CommandStreams,
): Promise<ApiResponse> {
  const headers = spdyHeaders(request, [AGENT_PROTOCOL]);
  const answer = await askUpgrade(transport, backend, request, { method: 'POST', headers });
  if (answer.kind === 'answer') return refusedUpgrade(request, answer);
  return {
    kind: 'tunnel',
    code: 101,
    run: async (connection) => {
      const session = new SpdySession(answer.stream);
      const client = await acceptWebSocket(request, connection, CHANNEL_PROTOCOL);
      if (client === undefined) return session.destroy();
      const leave = (): void => client.terminate();
      request.signal.addEventListener('abort', leave, { once: true });
      await joinCommand(client, session, wanted);
      request.signal.removeEventListener('abort', leave);
    },
  };
}

/** `SPDY/3.1+portforward.k8s.io`: the bytes of SPDY, in messages. */
const TUNNEL = /^SPDY\/3\.1\+(.*\.k8s\.io)$/;

const tunnelled = (request: ApiRequest): string[] =>
  offeredProtocols(request).flatMap((protocol) => TUNNEL.exec(protocol)?.[1] ?? []);

/** Feature gate PortForwardWebsockets. */
export const isTunnelWebSocket = (request: ApiRequest): boolean =>
  request.raw.upgrade === 'websocket' && tunnelled(request).length > 0;

/** @throws StatusError */
export async function tunnelSpdy(
  transport: BackendTransport,
  backend: Backend,
  request: ApiRequest,
): Promise<ApiResponse> {
  const [protocol] = tunnelled(request);
  if (protocol === undefined) throw badRequest('unable to upgrade: no tunneling spdy protocols provided');
  const headers = spdyHeaders(request, [protocol]);
  const answer = await askUpgrade(transport, backend, request, { method: 'POST', headers });
  if (answer.kind === 'answer') return refusedUpgrade(request, answer);
  return {
    kind: 'tunnel',
    code: 101,
    run: async (connection) => {
      const client = await acceptWebSocket(request, connection, `SPDY/3.1+${protocol}`);
      if (client === undefined) answer.stream.destroy();
      else await joinStreams(createWebSocketStream(client), answer.stream, request.signal);
    },
  };
}

/** The protocols that a websocket request offers, in the order of preference. */
const offeredProtocols = ({ headers }: ApiRequest): string[] =>
  String(headers['sec-websocket-protocol'] ?? '')
    .split(',')
    .map((protocol) => protocol.trim())
    .filter((protocol) => protocol !== '');

/**
 * The size limit of a message, which is held in memory until complete. kubectl sends the input of a command in pieces of 32 kB,
 * and port-forward data as it reads it. Kubernetes' limit of 32 MB would let clients fill the memory.
 */
const MAX_MESSAGE_BYTES = 1024 * 1024;

/** Answers the handshake and takes the connection. Undefined for a bad handshake, which has been refused. */
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
    // A handshake needs only the method and the headers.
    const handshake = { method: request.method, headers: request.headers } as IncomingMessage;
    server.handleUpgrade(handshake, connection, Buffer.alloc(0), (client) => {
      client.on('error', () => client.terminate());
      resolve(client);
    });
  });
}

/**
 * The streams of a command between a client that speaks `v5.channel.k8s.io` over a websocket and an agent that speaks
 * `v4.channel.k8s.io` over SPDY. Messages begin with the number of their channel; 255 and a number close a channel, which the
 * older websocket protocols cannot express.
 */
const CHANNEL_PROTOCOL = 'v5.channel.k8s.io';
const AGENT_PROTOCOL = 'v4.channel.k8s.io';

const Channel = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const;

interface CommandStreams {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

interface AgentStreams {
  readonly error: SpdyStream;
  readonly stdin: SpdyStream | undefined;
  readonly stdout: SpdyStream | undefined;
  readonly stderr: SpdyStream | undefined;
  readonly resize: SpdyStream | undefined;
}

/** Runs until the command has ended or a side has disconnected. Never rejects. */
async function joinCommand(client: WebSocket, session: SpdySession, wanted: CommandStreams): Promise<void> {
  client.once('close', () => session.destroy());
  // Messages that arrive before the streams are open must not be lost.
  client.pause();
  const streams = await openStreams(session, wanted);
  await send(client, firstChannel(wanted), Buffer.alloc(0));
  client.on('message', (message: Buffer) => receive(client, message, streams));
  client.resume();
  const [status] = await Promise.all([
    readStart(streams.error, MAX_STATUS_BYTES),
    copy(streams.stdout, client, Channel.stdout),
    copy(streams.stderr, client, Channel.stderr),
  ]);
  await send(client, Channel.error, Buffer.from(status === '' ? BROKEN_OFF : status));
  client.close(1000);
  session.destroy();
}

/** Bound on the Status by which an agent reports the end of a command. */
const MAX_STATUS_BYTES = 1024 * 1024;

/** Sent to the client when the agent disconnected without a status of the command. */
const BROKEN_OFF = JSON.stringify({
  metadata: {},
  status: 'Failure',
  message: 'Internal error occurred: the connection to the node agent was lost',
  reason: 'InternalError',
  code: 500,
});

/** Opens the streams in the order in which agents expect them; a terminal has no separate stderr. */
async function openStreams(session: SpdySession, wanted: CommandStreams): Promise<AgentStreams> {
  const open = (streamtype: string): Promise<SpdyStream> => session.open({ streamtype });
  return {
    error: await open('error'),
    stdin: wanted.stdin ? await open('stdin') : undefined,
    stdout: wanted.stdout ? await open('stdout') : undefined,
    stderr: wanted.stderr && !wanted.tty ? await open('stderr') : undefined,
    resize: wanted.tty ? await open('resize') : undefined,
  };
}

/** The channel of the empty message that tells the client that all streams are connected. */
function firstChannel({ stdout, stderr }: CommandStreams): number {
  if (stdout) return Channel.stdout;
  return stderr ? Channel.stderr : Channel.error;
}

function receive(client: WebSocket, message: Buffer, { stdin, resize }: AgentStreams): void {
  const [channel, ended] = message;
  if (channel === Channel.close) {
    if (ended === Channel.stdin) stdin?.end();
    return;
  }
  const stream = channel === Channel.stdin ? stdin : channel === Channel.resize ? resize : undefined;
  if (stream === undefined || stream.writableEnded) return;
  if (stream.write(message.subarray(1))) return;
  client.pause();
  stream.once('drain', () => client.resume());
}

async function copy(stream: SpdyStream | undefined, client: WebSocket, channel: number): Promise<void> {
  if (stream === undefined) return;
  try {
    for await (const chunk of stream) await send(client, channel, chunk);
  } catch {
    // The error channel reports the end of the command.
  }
}

/** Resolves when the message is sent or the client is gone. */
function send(client: WebSocket, channel: number, data: Buffer): Promise<void> {
  return new Promise((resolve) => {
    if (client.readyState === client.OPEN) {
      client.send(Buffer.concat([Buffer.of(channel), data]), { binary: true }, () => resolve());
    } else resolve();
  });
}
