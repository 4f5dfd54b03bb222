import { confined, confinedHead, type PageScope } from '../proxy/confined-pages.ts';
import { answeredHeaders, forwardedHeaders } from '../proxy/headers.ts';
import { streamAnswer } from '../proxy/stream-answer.ts';
import { joinStreams } from '../proxy/upgrade.ts';
import { rewriteLocation } from '../proxy/url-paths.ts';
import type { AuthorizedRequest } from '../request/api-request.ts';
import type { ApiResponse, StreamResponse } from '../request/api-response.ts';
import {
  authorityOf,
  type Backend,
  type BackendAnswer,
  type BackendConnection,
  BackendError,
  type BackendMessage,
  type BackendTls,
  type BackendTransport,
  encodePath,
} from '../request/backend.ts';
import { foldedName } from '../request/header-names.ts';
import { plainAnswer } from '../request/plain-answer.ts';
import { userHeaders } from './remote-user.ts';

/** The address of another API server. */
interface ServerAt {
  readonly host: string;
  readonly port: number;
  readonly tls: BackendTls;
}

interface PassingOptions {
  /** Whether the client may follow a redirect. Absent: any redirect. */
  readonly follows?: (location: string) => boolean;
  /** Additional headers; names and values in turn. */
  readonly headers?: readonly string[];
  /** Absent: a server of this cluster, which has sandboxed its own backends' pages. */
  readonly pages?: PageScope;
  /** Whether the other server learns the user's uid; false by default. */
  readonly tellsUid?: boolean;
}

/**
 * Forwards a request unchanged to another API server, with its user, and returns the answer. An unreachable server is a 503.
 * This server's certificate authenticates the user's name.
 */
export async function passOn(
  transport: BackendTransport,
  { host, port, tls }: ServerAt,
  request: AuthorizedRequest,
  { follows = () => true, headers = [], pages, tellsUid = false }: PassingOptions,
): Promise<ApiResponse> {
  const { path, raw } = request;
  const query = raw.url.includes('?') ? raw.url.slice(raw.url.indexOf('?') + 1) : '';
  const backend: Backend = { scheme: 'https', host, port: String(port), path, query, trust: tls };
  const more = headers.concat(userHeaders(request.user, tellsUid));
  const message = toMessage(backend, request, more);
  try {
    return raw.upgrade === ''
      ? answer({ follows, backend, pages }, request, await transport.send(backend, message))
      : answerUpgrade(pages, request, await transport.upgrade(backend, message));
  } catch (error) {
    if (!(error instanceof BackendError)) throw error;
    return plainAnswer(503, `error trying to reach service: ${error.message}`);
  }
}

function toMessage(backend: Backend, request: AuthorizedRequest, more: readonly string[]): BackendMessage {
  const { method, signal, raw, id } = request;
  const isUpgrade = raw.upgrade !== '';
  const body = isUpgrade ? undefined : raw.body;
  return {
    method,
    headers: toHeaders(backend, request).concat('Audit-Id', id, more),
    ...(body === undefined ? {} : { body }),
    signal,
    hurried: isUpgrade,
  };
}

/** Headers that this server sets itself. */
const OWN = /^(host|audit-id|x-forwarded-(uri|host|proto)|x-remote-.*)$/;

/** The client's headers without those that this server sets. */
function toHeaders(backend: Backend, request: AuthorizedRequest): string[] {
  const kept = ['Host', authorityOf(backend)];
  const forwarded = forwardedHeaders(request);
  for (let at = 0; at + 1 < forwarded.length; at += 2) {
    const name = forwarded[at] ?? '';
    if (OWN.test(foldedName(name))) continue;
    kept.push(name, forwarded[at + 1] ?? '');
  }
  const { headers, path } = request;
  const host = headers.host ?? String(headers[':authority'] ?? '');
  if (request.raw.upgrade === '')
    kept.push('X-Forwarded-Uri', encodePath(path), 'X-Forwarded-Host', host, 'X-Forwarded-Proto', 'https');
  return kept;
}

interface Answering {
  readonly pages: PageScope | undefined;
  readonly follows: (location: string) => boolean;
  readonly backend: Backend;
}

function answer(
  { follows, backend, pages }: Answering,
  request: AuthorizedRequest,
  received: BackendAnswer,
): ApiResponse {
  const { location = '' } = received.headers;
  const isRedirect = received.code >= 300 && received.code <= 399 && location !== '';
  if (isRedirect && !follows(location)) {
    received.body.destroy();
    return plainAnswer(502, 'the backend attempted to redirect this request, which is not permitted');
  }
  const { 'content-type': contentType = '', ...headers } = answeredIn(pages, received);
  // Both servers use one id for the request.
  delete headers['audit-id'];
  if (typeof headers.location === 'string') {
    const requestHost = request.headers.host ?? String(request.headers[':authority'] ?? '');
    const context = { prefix: '', path: request.path, backendHost: authorityOf(backend), requestHost };
    headers.location = rewriteLocation(headers.location, context);
  }
  const head = { code: received.code, contentType: String(contentType), headers };
  return withoutSeats(streamAnswer(request, received.body, head));
}

/** The other server accounts for the cost of its answer, which here would last as long as a watch. */
const withoutSeats = (response: StreamResponse): StreamResponse => ({
  ...response,
  run: (sink) => {
    sink.initialized?.();
    return response.run(sink);
  },
});

function answeredIn(
  pages: PageScope | undefined,
  received: BackendAnswer,
): ReturnType<typeof answeredHeaders> {
  const headers = answeredHeaders(received);
  return pages === undefined ? headers : confined(headers, pages);
}

function answerUpgrade(
  pages: PageScope | undefined,
  request: AuthorizedRequest,
  received: BackendAnswer | BackendConnection,
): ApiResponse {
  if (received.kind === 'connection') {
    const { message, rawHeaders, stream } = received;
    return {
      kind: 'tunnel',
      code: 101,
      head: {
        message,
        rawHeaders: pages === undefined ? rawHeaders : confinedHead(rawHeaders, pages.prefix),
      },
      run: (client) => joinStreams(client, stream, request.signal),
    };
  }
  if (received.code < 400) {
    received.body.destroy();
    return plainAnswer(503, `invalid upgrade response: status code ${received.code}`);
  }
  const { 'content-type': contentType = '', ...headers } = answeredIn(pages, received);
  return streamAnswer(request, received.body, {
    code: received.code,
    contentType: String(contentType),
    headers,
  });
}
