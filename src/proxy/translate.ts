import { createWebSocketStream } from 'ws';
import { badRequest } from '../api/status.ts';
import type { ApiRequest } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';
import type { Backend, BackendTransport } from '../request/backend.ts';
import { acceptWebSocket, offeredProtocols } from './accept-websocket.ts';
import { spdyHeaders } from './headers.ts';
import { SpdySession } from './spdy-session.ts';
import { joinStreams } from './tunnel.ts';
import { askUpgrade, refusedUpgrade } from './upgrade.ts';
import { AGENT_PROTOCOL, CHANNEL_PROTOCOL, type CommandStreams, joinCommand } from './websocket-streams.ts';

/**
 * Websockets for node agents that speak SPDY. Proxies between clients and this server let websockets pass and SPDY not;
 * between this server and its agents are no proxies.
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
