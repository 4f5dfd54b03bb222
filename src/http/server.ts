import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { StatusError } from '../api/status.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';
import type { ApiResponse } from '../request/api-response.ts';
import { isLongRunning } from '../request/long-running.ts';
import { answerHealth, type HealthCheck, type HealthEndpoint } from './health.ts';
import { IncomingRequest } from './incoming-request.ts';
import { type NodeResponse, send } from './send.ts';
import { acceptUpgrades } from './upgrade.ts';

export interface HttpOptions {
  readonly certificate: string;
  readonly key: string;
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  readonly requestTimeoutMs: number;
  readonly disableHttp2: boolean;
  readonly pipeline: Pipeline;
  readonly health: readonly HealthCheck[];
  readonly metrics: Metrics;
  readonly logger: Logger;
}

export interface HttpServer {
  readonly port: number;
  /** Takes no new requests, lets those under way finish for a while, ends watches, closes. */
  close(): Promise<void>;
}

/** Room for the headers of clients with long tokens, not for floods. */
const MAX_HEADER_BYTES = 64 * 1024;
const HEADERS_TIMEOUT_MS = 10_000;
/** How long requests under way may take when the server ends. */
const DRAIN_MS = 10_000;
/** Bounds what one HTTP/2 connection can hold open; clients open another when they need more. */
const MAX_STREAMS = 1000;

/**
 * The one TLS port, HTTP/2 and HTTP/1.1. Paths below /api go straight to the pipeline: Hono's request and response objects
 * cost as much again as serving a small object (10,600 against 18,800 requests a second on one machine), and custom
 * resources are data, not routes. Everything else is routed by Hono.
 */
export function listen(options: HttpOptions): Promise<HttpServer> {
  const open = new Set<IncomingRequest>();
  const sockets = new Set<Socket>();
  const others = getRequestListener(createRoutes(options).fetch);
  const server = createSecureServer(tlsOptions(options));
  server.on('request', (incoming: Http2ServerRequest, outgoing: Http2ServerResponse) => {
    // The compatibility types are those of HTTP/1 as far as we use them.
    const response = outgoing as unknown as ServerResponse;
    if (isRouted(incoming.url)) void others(incoming as unknown as IncomingMessage, response);
    else void serve(options, open, incoming, response);
  });
  acceptUpgrades(server, {
    open,
    logger: options.logger,
    respond: (request) => answerInTime(options, request),
    isRouted,
    route: (incoming, outgoing) => void others(incoming, outgoing),
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.setNoDelay(true);
  });
  // Broken handshakes and resets are the network's daily business.
  server.on('sessionError', () => {});
  server.on('tlsClientError', () => {});
  server.on('clientError', (_error, socket) => socket.destroy());
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => {
      server.removeListener('error', reject);
      server.on('error', (error) => options.logger.error('the listener failed', error));
      const { port } = server.address() as AddressInfo;
      resolve({ port, close: () => close(server, open, sockets) });
    });
  });
}

function tlsOptions({ certificate, key, disableHttp2 }: HttpOptions) {
  return {
    cert: certificate,
    key,
    allowHTTP1: true,
    ...(disableHttp2 ? { ALPNProtocols: ['http/1.1'] } : {}),
    // Asked for, not insisted on: who sends none may have a token.
    requestCert: true,
    rejectUnauthorized: false,
    minVersion: 'TLSv1.2',
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEADERS_TIMEOUT_MS,
    settings: {
      maxConcurrentStreams: MAX_STREAMS,
      maxHeaderListSize: MAX_HEADER_BYTES,
      initialWindowSize: 1024 * 1024,
    },
  } as const;
}

/** Health and metrics are Hono's; all the rest is the pipeline's. */
const ROUTED = ['/healthz', '/livez', '/readyz', '/metrics'];

function isRouted(url: string): boolean {
  return ROUTED.some((path) => url === path || url.startsWith(`${path}/`) || url.startsWith(`${path}?`));
}

function createRoutes({ health, metrics }: HttpOptions): Hono {
  const app = new Hono();
  const endpoints: readonly HealthEndpoint[] = ['healthz', 'livez', 'readyz'];
  for (const endpoint of endpoints) {
    app.get(`/${endpoint}`, (context) => answerHealth(endpoint, health, context));
    app.get(`/${endpoint}/:check{.+}`, (context) => answerHealth(endpoint, health, context));
  }
  app.get('/metrics', async (context) =>
    context.text(await metrics.registry.metrics(), 200, { 'content-type': metrics.registry.contentType }),
  );
  return app;
}

/** Never rejects. */
async function serve(
  options: HttpOptions,
  open: Set<IncomingRequest>,
  incoming: Http2ServerRequest,
  outgoing: NodeResponse,
): Promise<void> {
  let request: IncomingRequest;
  try {
    request = new IncomingRequest(incoming);
  } catch {
    outgoing.writeHead(400, { 'content-type': 'text/plain' }).end('malformed request path\n');
    return;
  }
  open.add(request);
  // After a complete response nobody listens any more; making an abort for each costs 4% of all there is to do.
  outgoing.once('close', () => {
    if (!outgoing.writableEnded) request.abort();
  });
  try {
    await send(request, await answerInTime(options, request), outgoing);
  } catch (error) {
    options.logger.error(`${request.method} ${request.path}: the response broke off`, error);
    outgoing.destroy();
  } finally {
    open.delete(request);
  }
}

/** --request-timeout: whoever waits longer is told so; what was under way is finished and its answer dropped. */
function answerInTime(
  { pipeline, requestTimeoutMs }: HttpOptions,
  request: IncomingRequest,
): Promise<ApiResponse> {
  if (isLongRunning(request)) return pipeline(request);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(timedOut(requestTimeoutMs)), requestTimeoutMs);
    pipeline(request)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
  });
}

function timedOut(timeoutMs: number): ApiResponse {
  const { status } = new StatusError({
    code: 504,
    reason: 'Timeout',
    message: `Timeout: request did not complete within ${timeoutMs / 1000}s`,
  });
  const chunks = [Buffer.from(JSON.stringify(status))];
  return { kind: 'bytes', code: 504, contentType: 'application/json', chunks, compressible: false };
}

async function close(
  server: Http2SecureServer,
  open: Set<IncomingRequest>,
  sockets: Set<Socket>,
): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  for (const request of open) if (isLongRunning(request)) request.abort();
  const deadline = Date.now() + DRAIN_MS;
  while (open.size > 0 && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 10));
  for (const socket of sockets) socket.destroy();
  await closed;
}
