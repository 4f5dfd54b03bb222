import type { IncomingMessage, ServerResponse } from 'node:http';
import { createSecureServer, type Http2SecureServer } from 'node:http2';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import { type AddressInfo, Server as NetServer } from 'node:net';
import type { TlsOptions } from 'node:tls';
import type { Logger } from '../observability/logger.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';
import type { ApiResponse } from '../request/api-response.ts';
import { acceptUpgrades } from './accept-upgrades.ts';
import type { ConnectionShares } from './connection-shares.ts';
import { Connections, type DrainPlan, IDLE_MS, OpenRequests, refuseBrokenInput } from './connections.ts';
import type { Answer, Incoming } from './exchange.ts';
import { Http1Incoming } from './http1-incoming.ts';
import { acceptStreams, WINDOW_BYTES } from './http2-exchange.ts';
import { IncomingRequest } from './incoming-request.ts';
import { createHeaderChooser, type HeaderChooser, type ResponsePolicy } from './response-headers.ts';
import { type SendOptions, send } from './send.ts';
import { type ServingTls, toContextOptions } from './serving-tls.ts';
import { Throttle } from './stream-body.ts';

interface HttpOptions {
  readonly tls: ServingTls;
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** --permit-port-sharing */
  readonly sharesPort: boolean;
  /** Undefined: no other thread shares the port. */
  readonly shares?: ConnectionShares | undefined;
  readonly http2: Http2Options;
  readonly policy: ResponsePolicy;
  /** --max-connection-bytes-per-sec; 0: no limit. */
  readonly bytesPerSecond: number;
  readonly requestTimeoutMs: number;
  /** Feature gate APIResponseCompression. */
  readonly compresses: boolean;
  readonly pipeline: Pipeline;
  readonly onHandshakeError: () => void;
  readonly logger: Logger;
}

export interface Http2Options {
  /** --disable-http2-serving */
  readonly disabled: boolean;
  /** --http2-max-streams-per-connection; 0: our own bound. */
  readonly maxStreams: number;
  /** --goaway-chance */
  readonly goawayChance: number;
  /** Feature gate UnauthenticatedHTTP2DOSMitigation: connections of unknown callers end with their request. */
  readonly closesUnauthenticated: boolean;
}

export interface HttpServer {
  readonly port: number;
  /** Asks HTTP/2 clients to open other connections, and resolves when no new ones are accepted. Those that stay are served. */
  leave(): Promise<void>;
  /** Takes no new requests, lets those under way finish, ends watches, closes. */
  drain(plan: DrainPlan): Promise<void>;
}

/** Room for the headers of clients with long tokens, not for floods. */
const MAX_HEADER_BYTES = 64 * 1024;
const HEADERS_TIMEOUT_MS = 10_000;
const HANDSHAKE_TIMEOUT_MS = 10_000;
/** Bound on the streams of one HTTP/2 connection; a client that needs more opens another connection. */
const MAX_STREAMS = 1000;
/** How long connections stay open for one more request with --shutdown-send-retry-after (Kubernetes: the same). */
const LINGER_MS = 2000;
/** Time for written bytes to be sent. */
const FLUSH_MS = 20;

/** The one TLS port, HTTP/2 and HTTP/1.1. Node's request and response go straight to the pipeline and back. */
export async function listen(options: HttpOptions): Promise<HttpServer> {
  const front: FrontState = {
    options,
    open: new OpenRequests(),
    headers: createHeaderChooser(options.policy),
    sending: {
      compresses: options.compresses,
      throttle: new Throttle(options.bytesPerSecond),
      patienceMs: options.requestTimeoutMs,
    },
  };
  const connections = new Connections();
  const server = createServer(options);
  acceptRequests(server, front);
  acceptUpgrades(server, {
    open: front.open,
    logger: options.logger,
    sending: front.sending,
    respond: (request) => answerUpgrade(front, request),
  });
  server.on('connection', (socket) => connections.addSocket(socket));
  server.on('session', (session) => connections.addSession(session));
  // Broken handshakes and resets are normal on a network.
  server.on('sessionError', () => {});
  server.on('tlsClientError', () => options.onHandshakeError());
  server.on('clientError', refuseBrokenInput);
  const { port } = await listening(server, options);
  server.on('error', (error) => options.logger.error('the listener failed', error));
  options.shares?.begin();
  const closed = Promise.withResolvers<void>();
  let left: Promise<void> | undefined;
  const leave = (): Promise<void> => {
    left ??= stopListening(server, connections, closed.resolve);
    return left;
  };
  return {
    port,
    leave,
    drain: async (plan) => {
      await drain(leave, front.open, connections, plan);
      await closed.promise;
    },
  };
}

/** Resolves when the port is open. @throws Error of the system, such as EADDRINUSE */
function listening(
  server: Listener,
  { host, port, sharesPort }: Pick<HttpOptions, 'host' | 'port' | 'sharesPort'>,
): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, reusePort: sharesPort }, () => {
      server.removeListener('error', reject);
      resolve(server.address() as AddressInfo);
    });
  });
}

/** A port that listeners share would hide that another server has it. 0: any free one. @throws Error EADDRINUSE */
export async function assertFree(host: string, port: number): Promise<void> {
  if (port === 0) return;
  const probe = new NetServer();
  await new Promise<void>((resolve, reject) => {
    probe.once('error', reject);
    probe.listen({ host, port }, resolve);
  });
  await new Promise((resolve) => probe.close(resolve));
}

type Listener = Http2SecureServer | HttpsServer;

function acceptRequests(server: Listener, front: FrontState): void {
  // Both servers emit 'request' for HTTP/1.1 only.
  server.on('request', (message: IncomingMessage, response: ServerResponse) => {
    if (isCoded(message)) refuseCoding(response);
    else void serve(front, new Http1Incoming(message, response), response);
  });
  if ('updateSettings' in server) acceptStreams(server, (exchange) => void serve(front, exchange, exchange));
}

/** Node takes the chunks off a body that was coded before, and a backend could not know the rest (RFC 9112, section 6.1). */
const isCoded = ({ headers: { 'transfer-encoding': coding = 'chunked' } }: IncomingMessage): boolean =>
  coding.toLowerCase() !== 'chunked';

const refuseCoding = (response: ServerResponse): void =>
  void response
    .writeHead(501, { 'content-type': 'text/plain', connection: 'close' })
    .end('unsupported transfer encoding: only chunked is supported\n');

function createServer({ tls, http2, requestTimeoutMs }: HttpOptions): Listener {
  const common = toContextOptions(tls.settings);
  const options: TlsOptions = {
    ...common,
    ...tls.serving,
    // A client certificate is optional, because a client without one may have a token.
    requestCert: true,
    rejectUnauthorized: false,
    SNICallback: (servername, done) => done(null, tls.contextFor(servername)),
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
  };
  const http1 = http1Options(requestTimeoutMs);
  // The secure server of http2 offers h2 also when its ALPNProtocols omit it.
  const server = http2.disabled
    ? createHttpsServer({ ...options, ...http1 })
    : createHttp2Server(options, http1, http2);
  tls.onServingChange((serving) => server.setSecureContext({ ...common, ...serving }));
  return server;
}

function createHttp2Server(
  options: TlsOptions,
  http1: ReturnType<typeof http1Options>,
  http2: Http2Options,
): Http2SecureServer {
  return createSecureServer({
    ...options,
    allowHTTP1: true,
    http1Options: http1,
    settings: {
      maxConcurrentStreams: http2.maxStreams === 0 ? MAX_STREAMS : http2.maxStreams,
      maxHeaderListSize: MAX_HEADER_BYTES,
      initialWindowSize: WINDOW_BYTES,
    },
  });
}

const http1Options = (requestTimeoutMs: number) => ({
  maxHeaderSize: MAX_HEADER_BYTES,
  headersTimeout: HEADERS_TIMEOUT_MS,
  // A body that drips is cut off soon after its request has been answered with 504.
  requestTimeout: Math.max(requestTimeoutMs, HEADERS_TIMEOUT_MS) + HEADERS_TIMEOUT_MS,
  keepAliveTimeout: IDLE_MS,
  connectionsCheckingInterval: 1000,
});

interface FrontState {
  readonly options: HttpOptions;
  readonly open: OpenRequests;
  readonly headers: HeaderChooser;
  readonly sending: SendOptions;
}

/** Never rejects. */
async function serve(front: FrontState, incoming: Incoming, outgoing: Answer): Promise<void> {
  let request: IncomingRequest;
  try {
    request = new IncomingRequest(incoming);
  } catch {
    outgoing.writeHead(400, { 'content-type': 'text/plain' });
    outgoing.end(Buffer.from('malformed request path\n'));
    return;
  }
  const { open, options, sending } = front;
  open.begin(request);
  // After a complete response nothing listens for the abort, and creating one for each request costs 4% of its CPU.
  outgoing.once('close', () => {
    if (!outgoing.writableEnded) request.abort();
  });
  try {
    const response = await answer(front, request);
    if (!request.isComplete && response.kind === 'bytes') request.hangUp();
    await send(sending, request, response, outgoing);
    request.endInput();
  } catch (error) {
    options.logger.error(`${request.method} ${request.path}: the response broke off`, error);
    outgoing.destroy();
  } finally {
    open.end(request);
  }
}

async function answer(
  { options, open, headers }: FrontState,
  request: IncomingRequest,
): Promise<ApiResponse> {
  const added = headers(request.headers.origin);
  Object.assign(request.addedHeaders, added.headers);
  const refusal = open.refusalOf(request);
  if (refusal !== undefined) {
    request.hangUp();
    return refusal;
  }
  if (added.allowed && request.method === 'OPTIONS') return NO_CONTENT;
  const { goawayChance, closesUnauthenticated } = options.http2;
  const isHttp2 = request.session !== undefined;
  const isByChance = isHttp2 && goawayChance > 0 && Math.random() < goawayChance;
  if (options.shares?.take(request.connection) === true || isByChance) request.sendElsewhere();
  const response = await options.pipeline(request);
  if (isHttp2 && closesUnauthenticated && isUnknown(request, response)) request.hangUp();
  return response;
}

/** Answers on a connection that changes protocols and ends with the answer. */
async function answerUpgrade(
  { options, open, headers }: FrontState,
  request: IncomingRequest,
): Promise<ApiResponse> {
  Object.assign(request.addedHeaders, headers(request.headers.origin).headers);
  return open.refusalOf(request) ?? options.pipeline(request);
}

const NO_CONTENT: ApiResponse = {
  kind: 'bytes',
  code: 204,
  contentType: '',
  chunks: [],
  compressible: false,
};

/** HTTP/2 lets a client cause much work with little effort, so unknown callers get one request for each connection. */
const isUnknown = ({ user }: IncomingRequest, { code }: ApiResponse): boolean =>
  code === 401 || user?.groups.includes('system:unauthenticated') === true;

async function drain(
  leave: HttpServer['leave'],
  open: OpenRequests,
  connections: Connections,
  { sendRetryAfter, watchGraceMs, requestGraceMs }: DrainPlan,
): Promise<void> {
  open.refuse(sendRetryAfter);
  if (!sendRetryAfter) await leave();
  await Promise.all([open.drained(requestGraceMs), open.endLongRunning(watchGraceMs)]);
  await leave();
  // A connection in use learns of the end with its next request; one that stays quiet this long is not in use.
  await connections.emptied(sendRetryAfter ? LINGER_MS : FLUSH_MS);
  connections.destroy();
}

/**
 * Not with the server's own close, which ends idle HTTP/1.1 connections even if a request is on its way. It runs directly after
 * a round of the event loop has accepted all waiting connections, because those that come later are reset. `onClosed` is called when the
 * last connection has ended.
 */
async function stopListening(
  server: Listener,
  connections: Connections,
  onClosed: () => void,
): Promise<void> {
  await new Promise(setImmediate);
  NetServer.prototype.close.call(server, onClosed);
  connections.goAway();
}
