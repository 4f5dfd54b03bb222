import { StatusError } from '../api/status.ts';
import type { ApiRequest } from '../request/api-request.ts';
import { joinPath, splitPath } from './url-paths.ts';

/**
 * Browsers show answers of pods, services, nodes and other API servers as pages of this server's origin, shared with the
 * console and all other backends. This restricts the effects of their headers and cookies to the proxy's path, and sandboxes
 * their scripts.
 */
export interface PageScope {
  /** The prefix of the client's path for this backend, without a final slash. Cookies stay below it. */
  readonly prefix: string;
  /** --sandbox-proxied-pages */
  readonly isSandboxed: boolean;
}

type Headers = Record<string, string | string[]>;

/** Headers with effects beyond the answered page. */
const OF_THE_ORIGIN = new Set([
  ...[
    'accept-ch',
    'accept-ch-lifetime',
    'secure-session-registration',
    'activate-storage-access',
    'alt-svc',
    'clear-site-data',
    'critical-ch',
    'expect-ct',
    'nel',
  ],
  ...['origin-agent-cluster', 'origin-trial', 'public-key-pins', 'public-key-pins-report-only', 'report-to'],
  ...['reporting-endpoints', 'service-worker-allowed', 'set-cookie2', 'set-login', 'speculation-rules'],
  ...['strict-transport-security', 'use-as-dictionary'],
]);

/** Scripts run, in an origin of their own: without the cookies, the storage and the workers of this one (HTML Standard, 7.1.5). */
const SANDBOX = 'sandbox allow-downloads allow-forms allow-modals allow-popups allow-scripts';

/** Filters the headers of an answer, by lower-case name. */
export function confined(headers: Headers, { prefix, isSandboxed }: PageScope): Headers {
  const kept: Headers = {};
  for (const [name, value] of Object.entries(headers)) {
    if (OF_THE_ORIGIN.has(name)) continue;
    if (name !== 'set-cookie') kept[name] = value;
    else kept[name] = [value].flat().flatMap((cookie) => confinedCookie(cookie, prefix));
  }
  if (!isSandboxed) return kept;
  const policies = [kept['content-security-policy'] ?? []].flat();
  return { ...kept, 'content-security-policy': [...policies, SANDBOX], 'x-content-type-options': 'nosniff' };
}

/** The same for the head of a protocol change: names and values in turn. Without a page, no sandbox is needed. */
export function confinedHead(rawHeaders: readonly string[], prefix: string): string[] {
  const kept: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = [rawHeaders[at], rawHeaders[at + 1]];
    const key = name.toLowerCase();
    if (OF_THE_ORIGIN.has(key)) continue;
    const values = key === 'set-cookie' ? confinedCookie(value, prefix) : [value];
    for (const one of values) kept.push(name, one);
  }
  return kept;
}

/** A cookie of the whole host by its name (`__Host-`) cannot be one of a part of it, and is left out. */
const OF_THE_HOST = /^\s*=?\s*__host-/i;

function confinedCookie(cookie: string, prefix: string): string[] {
  const [pair = '', ...attributes] = cookie.split(';');
  if (OF_THE_HOST.test(pair)) return [];
  const kept: string[] = [];
  let path = '/';
  for (const attribute of attributes) {
    const [name = '', ...value] = attribute.split('=');
    const key = name.trim().toLowerCase();
    if (key === 'path') path = value.join('=').trim();
    else if (key !== 'domain') kept.push(attribute.trim());
  }
  return [[pair, ...kept, `Path=${pathWithin(path, prefix)}`].join('; ')];
}

/** Browsers compare paths of cookies as they are written, so that no part of them is decoded. */
function pathWithin(path: string, prefix: string): string {
  const rooted = path.startsWith('/') ? path : '/';
  return splitPath(rooted, prefix) === undefined ? joinPath(prefix, rooted) : rooted;
}

/**
 * Refuses scripts of workers that would outlive their page: a service worker answers for all pages below its path from then on
 * (Service Workers, `Service-Worker: script`), and pages share a shared worker.
 * @throws StatusError 403
 */
export function refuseWorkers({ headers }: ApiRequest): void {
  const { 'service-worker': service, 'sec-fetch-dest': destination } = headers;
  if (service === undefined && destination !== 'serviceworker' && destination !== 'sharedworker') return;
  const message = 'scripts of service workers and shared workers are not fetched through a proxy';
  throw new StatusError({ code: 403, reason: 'Forbidden', message });
}
