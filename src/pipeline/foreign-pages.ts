import { StatusError } from '../api/status.ts';
import type { ApiRequest } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';

export interface OriginOptions {
  /** Whether --cors-allowed-origins lets pages of an origin use the API. */
  readonly allowsOrigin: (origin: string) => boolean;
  /** --external-hostname; '' for none. */
  readonly externalHostname: string;
}

/** Methods that change nothing. A page cannot read the answers that its browser gets for another origin. */
const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses requests that a browser makes for another website's page. A browser adds its user's rights to such requests: a client
 * certificate, the cookie of a proxy, or those of `kubectl proxy`, which needs no credentials. It sends a POST without a
 * preflight, and CORS does not apply to websockets. Browsers name the page in `Origin` and `Sec-Fetch-Site`, which pages cannot
 * set (Fetch Standard, forbidden request-headers; Fetch Metadata, section 2.4). Other clients send neither.
 * @throws StatusError 403
 */
export async function refuseForeignPages(
  options: OriginOptions,
  request: ApiRequest,
  next: () => Promise<ApiResponse>,
): Promise<ApiResponse> {
  const { origin, 'sec-fetch-site': site } = request.headers;
  if (origin === undefined && site === undefined) return next();
  if (SAFE.has(request.method) && request.raw.upgrade === '') return next();
  if (origin !== undefined && options.allowsOrigin(origin)) return next();
  if (site === 'cross-site' || site === 'same-site') throw foreign(origin);
  if (origin !== undefined && !isOwn(origin, request, options)) throw foreign(origin);
  if (origin !== undefined && isFormless(request)) throw withoutType();
  return next();
}

/**
 * Over plain HTTP only loopback is trusted: a DNS name that resolves to this server today and to a website tomorrow would pass
 * for the server's own. Over HTTPS the certificate has proved the name, so that the origin need only equal the requested host.
 */
function isOwn(origin: string, { headers }: ApiRequest, { externalHostname }: OriginOptions): boolean {
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  if (url === undefined) return false;
  if (LOOPBACK.test(url.hostname)) return true;
  if (url.protocol !== 'https:') return false;
  // HTTP/2 has it in a pseudo-header.
  const host = String(headers[':authority'] ?? headers.host ?? '');
  return url.host === withoutDefaultPort(host) || url.hostname === externalHostname;
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** The form of the host in an origin. */
const withoutDefaultPort = (host: string): string => host.toLowerCase().replace(/:443$/, '');

/** A POST with a body that has no type: a page may send it anywhere, without asking first. */
const isFormless = ({ method, headers }: ApiRequest): boolean =>
  method === 'POST' &&
  headers['content-type'] === undefined &&
  (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0);

const foreign = (origin = 'another website'): StatusError =>
  refusal(
    `a page of ${origin} may not change or watch anything here with the rights of its reader: --cors-allowed-origins must name the origin of pages that may`,
  );

const withoutType = (): StatusError =>
  refusal('a browser must say what the body of a POST is: Content-Type is missing');

const refusal = (message: string): StatusError =>
  new StatusError({ code: 403, reason: 'Forbidden', message });
