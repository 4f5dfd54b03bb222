import type { Metrics } from '../observability/metrics.ts';
import type { ApiRequest } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';

const MUTATING: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

/** Counts requests under way and answered. `next` must not reject. */
export async function measure(
  { metrics }: { readonly metrics: Metrics },
  request: ApiRequest,
  next: () => Promise<ApiResponse>,
): Promise<ApiResponse> {
  const mutating = MUTATING.has(request.verb);
  const begun = performance.now();
  metrics.started(mutating);
  const response = await next();
  metrics.ended(mutating);
  record(metrics, request, response, (performance.now() - begun) / 1000);
  return response;
}

function record(
  metrics: Metrics,
  { verb, target }: ApiRequest,
  response: ApiResponse,
  seconds: number,
): void {
  const labels = {
    verb: verb.toUpperCase(),
    group: target?.group ?? '',
    version: target?.version ?? '',
    resource: target?.resource ?? '',
    subresource: target?.subresource ?? '',
  };
  const { code } = response;
  metrics.request(
    code === 404 && target !== undefined ? { ...labels, resource: '' } : labels,
    code,
    response.kind === 'bytes' ? seconds : undefined,
  );
}
