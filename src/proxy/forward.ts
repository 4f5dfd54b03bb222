import { posix } from 'node:path';
import { serviceUnavailable } from '../api/status.ts';
import type { ApiRequest } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';
import {
  authorityOf,
  type Backend,
  type BackendAnswer,
  BackendError,
  type BackendTransport,
  encodePath,
} from '../request/backend.ts';
import { answeredHeaders, forwardedHeaders } from './headers.ts';
import { streamAnswer } from './stream-answer.ts';

/**
 * Passes a plain request on to the backend of a proxy path (Kubernetes: util/proxy, UpgradeAwareHandler). Links in pages are not
 * rewritten: the ones that work through a proxy are relative.
 * @throws StatusError 503
 */
export async function forward(
  transport: BackendTransport,
  backend: Backend,
  request: ApiRequest,
): Promise<ApiResponse> {
  const readOnly = request.method === 'GET' || request.method === 'HEAD';
  // Without the slash at the end, relative links on the first page would lead out of the proxy.
  if (backend.path === '' && readOnly) return redirectToFolder(request);
  const prefix = outerPrefix(request.path, backend.path);
  const answer = await send(transport, backend, request, prefix);
  const { 'content-type': contentType = '', ...headers } = answeredHeaders(answer);
  if (typeof headers.location === 'string' && headers.location !== '') {
    headers.location = rewriteLocation(headers.location, {
      prefix,
      backendHost: authorityOf(backend),
      requestHost: hostOf(request),
    });
  }
  return streamAnswer(request, answer.body, { code: answer.code, contentType: String(contentType), headers });
}

async function send(
  transport: BackendTransport,
  backend: Backend,
  request: ApiRequest,
  prefix: string,
): Promise<BackendAnswer> {
  const uri = encodePath(joinPath(prefix, backend.path));
  const headers = forwardedHeaders(request).concat('X-Forwarded-Uri', uri);
  const { method, signal, raw } = request;
  try {
    const { body } = raw;
    const content = body === undefined ? {} : { body };
    return await transport.send(backend, { method, headers, ...content, signal, hurried: false });
  } catch (error) {
    if (!(error instanceof BackendError)) throw error;
    throw serviceUnavailable(`error trying to reach service: ${error.message}`, error);
  }
}

const hostOf = ({ headers }: ApiRequest): string => headers.host ?? String(headers[':authority'] ?? '');

function redirectToFolder({ raw }: ApiRequest): ApiResponse {
  const at = raw.url.indexOf('?');
  const path = rooted(at < 0 ? raw.url : raw.url.slice(0, at));
  const location = `${path}/${at < 0 ? '' : raw.url.slice(at)}`;
  return {
    kind: 'bytes',
    code: 301,
    contentType: 'text/plain',
    headers: { location },
    chunks: [],
    compressible: false,
  };
}

/** Paths and Location headers between the two sides of a proxy. */

/** The part of the client's path before the backend's path. Both are decoded. */
export function outerPrefix(clientPath: string, backendPath: string): string {
  const suffix = clientPath.endsWith('/') && !backendPath.endsWith('/') ? `${backendPath}/` : backendPath;
  return clientPath.endsWith(suffix) ? clientPath.slice(0, clientPath.length - suffix.length) : clientPath;
}

/** Joined and cleaned of `.`, `..` and doubled slashes; a slash at the end stays. */
export function joinPath(prefix: string, path: string): string {
  return path === '' ? prefix : posix.normalize(`${prefix}/${path}`);
}

interface LocationContext {
  /** From {@link outerPrefix}. */
  readonly prefix: string;
  /** host:port of the backend. */
  readonly backendHost: string;
  /** The Host header that the backend saw. */
  readonly requestHost: string;
}

/**
 * Rewrites a redirect so that it leads through the proxy (Kubernetes: util/proxy, rewriteURL): an absolute path on the backend's
 * own host gets the prefix; relative paths and other hosts stay as they are.
 * Example: prefix `/api/v1/namespaces/a/services/b/proxy`, `http://10.0.0.1:80/login?x` → `/api/…/proxy/login?x`.
 */
export function rewriteLocation(location: string, context: LocationContext): string {
  const parsed = /^(?:([a-z][a-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(.*)$/is.exec(location);
  if (parsed === null) return location;
  const [, scheme, host = '', path = '', rest = ''] = parsed;
  const { prefix, backendHost, requestHost } = context;
  const foreign = host !== '' && host !== backendHost && host !== requestHost;
  if (foreign || !path.startsWith('/')) return location;
  const origin = host !== '' && host === requestHost ? `${scheme ?? ''}${scheme ? ':' : ''}//${host}` : '';
  const decoded = decode(path);
  if (decoded === undefined) return location;
  const within = decoded.startsWith(prefix) ? decoded : joinPath(prefix, decoded);
  return `${origin}${rooted(encodePath(within))}${rest}`;
}

/** Two slashes would begin the name of a host (RFC 3986, section 4.2). */
const rooted = (path: string): string => path.replace(/^[/\\]+/, '/');

function decode(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}
