import type { Tracing } from '../observability/tracing.ts';
import type { ApiRequest } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';

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
