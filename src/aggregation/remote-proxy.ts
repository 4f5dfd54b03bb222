import { canonicalGroup } from '../api/dialect.ts';
import type { Logger } from '../observability/logger.ts';
import { rewriteLocation } from '../proxy/forward.ts';
import { answeredHeaders, forwardedHeaders } from '../proxy/headers.ts';
import { streamAnswer } from '../proxy/stream-answer.ts';
import { joinStreams } from '../proxy/upgrade.ts';
import type { AuthorizedRequest } from '../request/api-request.ts';
import type { ApiResponse, StreamResponse } from '../request/api-response.ts';
import {
  authorityOf,
  type Backend,
  type BackendAnswer,
  type BackendConnection,
  BackendError,
  type BackendMessage,
  type BackendTransport,
  encodePath,
} from '../request/backend.ts';
import { plainAnswer } from '../request/plain-answer.ts';
import type { RemoteVersion } from './api-service.ts';
import { userHeaders } from './remote-user.ts';
import type { RemoteVersions } from './remote-versions.ts';
import type { ServiceResolver } from './service-resolver.ts';

export interface RemoteProxyParts {
  readonly remote: Pick<RemoteVersions, 'isEmpty' | 'find'>;
  readonly resolver: Pick<ServiceResolver, 'resolve'>;
  readonly transport: BackendTransport;
  /** --aggregator-reject-forwarding-redirect */
  readonly rejectsRedirects: boolean;
  readonly logger: Logger;
}

/** Answers requests for what other servers serve; undefined for all others. */
export type RemoteHandler = (request: AuthorizedRequest) => Promise<ApiResponse> | undefined;

/** Passes requests on to other servers, in the name of their callers (Kubernetes: kube-aggregator, handler_proxy.go). */
export function createRemoteProxy(parts: RemoteProxyParts): RemoteHandler {
  return (request) => {
    if (parts.remote.isEmpty) return undefined;
    const found = findVersion(parts.remote, request);
    return found === undefined ? undefined : pass(parts, found, request);
  };
}

function findVersion(
  remote: Pick<RemoteVersions, 'find'>,
  { target, path }: AuthorizedRequest,
): RemoteVersion | undefined {
  if (target !== undefined) return remote.find(target.group, target.version);
  const [root, ...parts] = path.replace(OPENAPI, '/').split('/').filter(Boolean);
  if (root === 'api' && parts.length === 1) return remote.find('', parts[0] ?? '');
  if (root !== 'apis' || parts.length !== 2) return undefined;
  return remote.find(canonicalGroup(parts[0] ?? '').group, parts[1] ?? '');
}

/** The document of a group version is at its path below this one. */
const OPENAPI = /^\/openapi\/v3\//;

async function pass(
  parts: RemoteProxyParts,
  { isAvailable, service, tls }: RemoteVersion,
  request: AuthorizedRequest,
): Promise<ApiResponse> {
  if (!isAvailable) return plainAnswer(503, UNAVAILABLE);
  let backend: Backend;
  try {
    const { host, port } = await parts.resolver.resolve(service);
    const { path, raw } = request;
    const query = raw.url.includes('?') ? raw.url.slice(raw.url.indexOf('?') + 1) : '';
    backend = { scheme: 'https', host, port: String(port), path, query, trust: tls };
  } catch (error) {
    parts.logger.error(`error resolving ${service.namespace}/${service.name}`, error);
    return plainAnswer(503, UNAVAILABLE);
  }
  const message = toMessage(backend, request);
  try {
    return request.raw.upgrade === ''
      ? answer(parts, backend, request, await parts.transport.send(backend, message))
      : answerUpgrade(request, await parts.transport.upgrade(backend, message));
  } catch (error) {
    if (!(error instanceof BackendError)) throw error;
    return plainAnswer(503, `error trying to reach service: ${error.message}`);
  }
}

const UNAVAILABLE = 'service unavailable';

function toMessage(backend: Backend, request: AuthorizedRequest): BackendMessage {
  const { method, signal, raw, headers, id } = request;
  const isEmpty =
    (method === 'GET' || method === 'HEAD') &&
    headers['content-length'] === undefined &&
    headers['transfer-encoding'] === undefined;
  const isUpgrade = raw.upgrade !== '';
  return {
    method,
    headers: toHeaders(backend, request).concat('Audit-Id', id, userHeaders(request.user)),
    ...(isEmpty || isUpgrade ? {} : { body: raw.body }),
    signal,
    hurried: isUpgrade,
  };
}

/** Of the client's headers without what this server says itself. */
function toHeaders(backend: Backend, request: AuthorizedRequest): string[] {
  const kept = ['Host', authorityOf(backend)];
  const forwarded = forwardedHeaders(request);
  let isSized = false;
  for (let at = 0; at + 1 < forwarded.length; at += 2) {
    const name = forwarded[at] ?? '';
    const key = name.toLowerCase();
    if (key === 'host' || key === 'audit-id' || key.startsWith('x-remote-')) continue;
    if (key === 'content-length' || key === 'transfer-encoding') isSized = true;
    kept.push(name, forwarded[at + 1] ?? '');
  }
  // HTTP/2 needs no size to know where a body ends, and Node sends a DELETE without one as if it had no body.
  if (!isSized && request.method === 'DELETE') kept.push('Transfer-Encoding', 'chunked');
  const { headers, path } = request;
  const host = headers.host ?? String(headers[':authority'] ?? '');
  if (request.raw.upgrade === '')
    kept.push('X-Forwarded-Uri', encodePath(path), 'X-Forwarded-Host', host, 'X-Forwarded-Proto', 'https');
  return kept;
}

function answer(
  { rejectsRedirects }: RemoteProxyParts,
  backend: Backend,
  request: AuthorizedRequest,
  received: BackendAnswer,
): ApiResponse {
  const { location = '' } = received.headers;
  const isRedirect = received.code >= 300 && received.code <= 399 && location !== '';
  if (isRedirect && rejectsRedirects && !isOfDocument(request, location)) {
    received.body.destroy();
    return plainAnswer(502, 'the backend attempted to redirect this request, which is not permitted');
  }
  const { 'content-type': contentType = '', ...headers } = answeredHeaders(received);
  // One id for the request on both servers.
  delete headers['audit-id'];
  if (typeof headers.location === 'string') {
    const requestHost = request.headers.host ?? String(request.headers[':authority'] ?? '');
    const context = { prefix: '', backendHost: authorityOf(backend), requestHost };
    headers.location = rewriteLocation(headers.location, context);
  }
  const head = { code: received.code, contentType: String(contentType), headers };
  return withoutSeats(streamAnswer(request, received.body, head));
}

/** A document whose name has changed is found under the new one, which leads nowhere else. */
const isOfDocument = ({ path }: AuthorizedRequest, location: string): boolean =>
  OPENAPI.test(path) && location.startsWith(`${path}?`);

/** The other server counts the cost of its answer itself, which for a watch would here last as long as the watch. */
const withoutSeats = (response: StreamResponse): StreamResponse => ({
  ...response,
  run: (sink) => {
    sink.initialized?.();
    return response.run(sink);
  },
});

function answerUpgrade(request: AuthorizedRequest, received: BackendAnswer | BackendConnection): ApiResponse {
  if (received.kind === 'connection') {
    const { message, rawHeaders, stream } = received;
    return {
      kind: 'tunnel',
      code: 101,
      head: { message, rawHeaders },
      run: (client) => joinStreams(client, stream, request.signal),
    };
  }
  if (received.code < 400) {
    received.body.destroy();
    return plainAnswer(503, `invalid upgrade response: status code ${received.code}`);
  }
  const { 'content-type': contentType = '', ...headers } = answeredHeaders(received);
  return streamAnswer(request, received.body, {
    code: received.code,
    contentType: String(contentType),
    headers,
  });
}
