import type { Logger } from '../observability/logger.ts';
import type { ApiRequest } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';

/** At -v=3 and above, a line for each request. */
const LEVEL = 3;

export async function logRequest(
  { logger }: { readonly logger: Logger },
  request: ApiRequest,
  next: () => Promise<ApiResponse>,
): Promise<ApiResponse> {
  const begun = performance.now();
  const response = await next();
  logger.info(LEVEL, 'HTTP', () => ({
    verb: request.verb.toUpperCase(),
    URI: uriOf(request),
    latency: `${(performance.now() - begun).toFixed(3)}ms`,
    userAgent: request.userAgent,
    'audit-ID': request.id,
    srcIP: request.sourceAddress,
    resp: response.code,
  }));
  return response;
}

/** Shows the values of known options only, because callers of websockets may put secrets into a query. */
function uriOf({ path, query }: ApiRequest): string {
  const shown = new URLSearchParams();
  for (const [name, value] of query) shown.append(name, SHOWN.has(name) ? value : '…');
  return query.size === 0 ? path : `${path}?${shown}`;
}

const SHOWN: ReadonlySet<string> = new Set([
  'allowWatchBookmarks',
  'continue',
  'dryRun',
  'fieldManager',
  'fieldSelector',
  'fieldValidation',
  'force',
  'labelSelector',
  'limit',
  'pretty',
  'resourceVersion',
  'resourceVersionMatch',
  'sendInitialEvents',
  'timeout',
  'timeoutSeconds',
  'verbose',
  'watch',
]);
