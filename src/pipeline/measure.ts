import type { Logger } from '../observability/logger.ts';
import type { RequestKind, RequestMetrics } from '../observability/request-metrics.ts';
import type { Tracing } from '../observability/tracing.ts';
import { type ApiRequest, isLongRunning, type ResourceTarget } from '../request/api-request.ts';
import type { ApiResponse, ResponseSink, StreamResponse, TunnelResponse } from '../request/api-response.ts';
import { table } from '../util/text-table.ts';

export interface MeasureOptions {
  readonly requestMetrics: RequestMetrics;
  /**
   * The kind of a target's objects; undefined for a resource that is not served. Only served resources become labels, because
   * callers choose paths and each label set stays in memory for as long as the server runs.
   */
  readonly kindOf: (target: ResourceTarget) => string | undefined;
  /** The release without a deprecated API, empty where none is known; undefined for an API that is not deprecated. */
  readonly removedReleaseOf: (target: ResourceTarget) => string | undefined;
}

const MUTATING: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

/** Counts requests under way and answered requests. `next` must not reject. */
export async function measure(
  options: MeasureOptions,
  request: ApiRequest,
  next: () => Promise<ApiResponse>,
): Promise<ApiResponse> {
  const { requestMetrics } = options;
  const long = isLongRunning(request);
  const peak = MUTATING.has(request.verb) ? requestMetrics.mutating : requestMetrics.readOnly;
  const begun = performance.now();
  if (!long) peak.begin();
  const response = await next();
  if (!long) peak.end();
  const kind = kindOfRequest(options, request);
  const seconds = long ? undefined : (performance.now() - begun) / 1000;
  const waitedMs = request.waits.forOthers;
  requestMetrics.answered(kind, response.code, { seconds, sizeBytes: sizeOf(response), waitedMs });
  const removedRelease = request.target === undefined ? undefined : options.removedReleaseOf(request.target);
  if (removedRelease !== undefined) requestMetrics.deprecated(kind, removedRelease);
  if (response.code === 504) requestMetrics.terminated(kind, response.code);
  if (request.aborted) requestMetrics.aborted(kind);
  if (response.kind === 'tunnel') return measureTunnel(requestMetrics, kind, response);
  return response.kind === 'stream' ? measureStream(options, request, { kind, response, begun }) : response;
}

function sizeOf(response: ApiResponse): number | undefined {
  if (response.kind !== 'bytes') return undefined;
  if (response.rest !== undefined) return response.sizeBytes;
  let sizeBytes = 0;
  for (const chunk of response.chunks) sizeBytes += chunk.length;
  return sizeBytes;
}

function measureTunnel(metrics: RequestMetrics, kind: RequestKind, response: TunnelResponse): TunnelResponse {
  const gauge = metrics.longRunning(kind);
  return {
    ...response,
    run: async (client) => {
      gauge.add();
      await response.run(client).finally(() => gauge.add(-1));
    },
  };
}

function measureStream(
  { requestMetrics, kindOf }: MeasureOptions,
  { verb, target }: ApiRequest,
  { kind, response, begun }: { kind: RequestKind; response: StreamResponse; begun: number },
): StreamResponse {
  const gauge = requestMetrics.longRunning(kind);
  const events =
    verb === 'watch' && target !== undefined
      ? requestMetrics.watchEvents(kind, kindOf(target) ?? '')
      : undefined;
  return {
    ...response,
    run: async (sink) => {
      gauge.add();
      try {
        const listed = (): void => requestMetrics.listed(kind, (performance.now() - begun) / 1000);
        await response.run(events === undefined ? sink : counting(sink, events, listed));
      } finally {
        gauge.add(-1);
      }
    },
  };
}

function counting(
  sink: ResponseSink,
  events: ReturnType<RequestMetrics['watchEvents']>,
  listed: () => void,
): ResponseSink {
  return {
    listed,
    open: () => sink.open(),
    drained: () => sink.drained(),
    write: (frame) => {
      events.total.add();
      events.sizes.observe(frame.length);
      return sink.write(frame);
    },
  };
}

/** Verbs and methods as metrics name them. */
const VERBS: Readonly<Record<string, string>> = table({
  get: 'GET',
  list: 'LIST',
  watch: 'WATCH',
  create: 'POST',
  post: 'POST',
  update: 'PUT',
  put: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETECOLLECTION',
  connect: 'CONNECT',
});

function kindOfRequest({ kindOf }: MeasureOptions, request: ApiRequest): RequestKind {
  const { verb, target, headers, query } = request;
  const isApply = verb === 'patch' && headers['content-type']?.startsWith('application/apply-patch') === true;
  const common = {
    verb: isApply ? 'APPLY' : (VERBS[verb] ?? 'other'),
    dryRun: toDryRun(query),
  };
  if (target === undefined || kindOf(target) === undefined)
    return { ...common, group: '', version: '', resource: '', subresource: '', scope: '' };
  const { group, version, resource, subresource } = target;
  return {
    ...common,
    group,
    version,
    resource,
    subresource: known(subresource),
    scope: scopeOf(verb, target),
  };
}

function toDryRun(query: URLSearchParams): string {
  const values = query.getAll('dryRun');
  if (values.length === 0) return '';
  return values.every((value) => value === 'All') ? 'All' : 'invalid';
}

function scopeOf(verb: string, { name, namespace }: ResourceTarget): string {
  if (name !== '' || verb === 'create') return 'resource';
  return namespace === '' ? 'cluster' : 'namespace';
}

const SUBRESOURCES: ReadonlySet<string> = new Set([
  'approval',
  'attach',
  'binding',
  'ephemeralcontainers',
  'eviction',
  'exec',
  'finalize',
  'log',
  'portforward',
  'proxy',
  'resize',
  'scale',
  'status',
  'token',
]);

const known = (subresource: string): string =>
  subresource === '' || SUBRESOURCES.has(subresource) ? subresource : 'other';

/** A span for the request, inside the caller's trace. */
export function traceRequest(
  { tracing }: { readonly tracing: Tracing },
  request: ApiRequest,
  next: () => Promise<ApiResponse>,
): Promise<ApiResponse> {
  const { traceparent } = request.headers;
  const span = {
    name: 'KubernetesAPI',
    traceparent: typeof traceparent === 'string' ? traceparent : undefined,
    attributes: {
      'http.request.method': request.method,
      'url.path': request.path,
      'user_agent.original': request.userAgent,
      'client.address': request.sourceAddress,
      'audit-id': request.id,
    },
  };
  return tracing.request(span, async (active) => {
    const response = await next();
    active.set({ 'http.response.status_code': response.code });
    return response;
  });
}

/** A span for the verb of an authorized request: `List`, `Create`. */
export function traceVerb(
  { tracing }: { readonly tracing: Tracing },
  { verb, target }: ApiRequest,
  next: () => Promise<ApiResponse>,
): Promise<ApiResponse> {
  const attributes =
    target === undefined
      ? {}
      : {
          'k8s.group': target.group,
          'k8s.version': target.version,
          'k8s.resource': target.resource,
          'k8s.subresource': target.subresource,
          'k8s.namespace': target.namespace,
          'k8s.name': target.name,
        };
  return tracing.part(`${verb.slice(0, 1).toUpperCase()}${verb.slice(1)}`, attributes, next);
}

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
