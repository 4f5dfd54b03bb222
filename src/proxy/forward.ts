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
import { confined, type PageScope, refuseWorkers } from './confined-pages.ts';
import { answeredHeaders, forwardedHeaders } from './headers.ts';
import { streamAnswer } from './stream-answer.ts';
import { joinPath, outerPrefix, rewriteLocation, rooted } from './url-paths.ts';

/**
 * Passes a plain request on to the backend of a proxy path (Kubernetes: util/proxy, UpgradeAwareHandler). Links in pages are not
 * rewritten: the ones that work through a proxy are relative.
 * @throws StatusError 403, 503
 */
export async function forward(
  transport: BackendTransport,
  backend: Backend,
  request: ApiRequest,
  { isSandboxed }: Pick<PageScope, 'isSandboxed'>,
): Promise<ApiResponse> {
  refuseWorkers(request);
  const readOnly = request.method === 'GET' || request.method === 'HEAD';
  // Without the final slash, relative links on the first page would leave the proxy.
  if (backend.path === '' && readOnly) return redirectToFolder(request);
  const prefix = outerPrefix(request.path, backend.path);
  const answer = await send(transport, backend, request, prefix);
  const answered = confined(answeredHeaders(answer), { prefix: encodePath(prefix), isSandboxed });
  const { 'content-type': contentType = '', ...headers } = answered;
  if (typeof headers.location === 'string' && headers.location !== '') {
    headers.location = rewriteLocation(headers.location, {
      prefix,
      path: request.path,
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
