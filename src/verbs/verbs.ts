import { methodNotAllowed } from '../api/status.ts';
import type { DefinedVerb, ViewSubresource } from '../registry/definition.ts';
import type { ServedResource } from '../registry/registry.ts';
import type { AuthorizedResourceRequest } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';
import { act, actOnNamed } from './action.ts';
import { connect } from './connect.ts';
import type { VerbContext } from './context.ts';
import { patch } from './patch.ts';
import { get, list } from './read.ts';
import { remove, removeCollection } from './remove.ts';
import { resolveTarget } from './target.ts';
import { answerVirtual } from './virtual/virtual.ts';
import { watch } from './watch.ts';
import { create, update } from './write.ts';

/** Serves a request for a resource that authorization has let through. @throws StatusError */
export type ResourceHandler = (request: AuthorizedResourceRequest) => Promise<ApiResponse>;

export function createResourceHandler(context: VerbContext): ResourceHandler {
  return async (request) => {
    const target = resolveTarget(context.registry, request);
    switch (target.kind) {
      case 'resource':
        return handle(context, request, target.served, target.verb);
      case 'view':
        return handleView(context, request, target);
      case 'action':
        return act(context, request, target.served, target.action);
      case 'connect':
        return connect(context, request, target.served, target.subresource);
      default:
        return target satisfies never;
    }
  };
}

function handle(
  context: VerbContext,
  request: AuthorizedResourceRequest,
  served: ServedResource,
  verb: DefinedVerb,
): Promise<ApiResponse> | ApiResponse {
  switch (verb) {
    case 'get':
      return get(context, request, served);
    case 'list':
      return list(context, request, served);
    case 'watch':
      return watch(context, request, served);
    case 'create': {
      const { group, resource, actsOn } = served.definition;
      if (actsOn !== undefined) return actOnNamed(context, request, served);
      const handler = context.virtual.get(`${group}/${resource}`);
      if (handler !== undefined) return answerVirtual(context, request, { served, handler });
      return create(context, request, served);
    }
    case 'update':
      return update(context, request, served);
    case 'patch':
      return patch(context, request, served);
    case 'delete':
      return remove(context, request, served);
    case 'deletecollection':
      return removeCollection(context, request, served);
    default:
      return verb satisfies never;
  }
}

function handleView(
  context: VerbContext,
  request: AuthorizedResourceRequest,
  { served, view, verb }: { served: ServedResource; view: ViewSubresource; verb: DefinedVerb },
): Promise<ApiResponse> {
  switch (verb) {
    case 'get':
      return get(context, request, served, view);
    case 'update':
      return update(context, request, served, view);
    case 'patch':
      return patch(context, request, served, view);
    default:
      throw methodNotAllowed();
  }
}
