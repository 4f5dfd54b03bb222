import { methodNotAllowed } from '../api/status.ts';
import type { DefinedVerb } from '../registry/definition.ts';
import type { AuthorizedResourceRequest } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';
import { act, actOnNamed } from './action.ts';
import type { VerbCall } from './call.ts';
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
        return handle({ context, request, served: target.served }, target.verb);
      case 'view':
        return handleView({ context, request, served: target.served, view: target.view }, target.verb);
      case 'action':
        return act({ context, request, served: target.served }, target.action);
      case 'connect':
        return connect({ context, request, served: target.served }, target.subresource);
      default:
        return target satisfies never;
    }
  };
}

function handle(call: VerbCall, verb: DefinedVerb): Promise<ApiResponse> | ApiResponse {
  switch (verb) {
    case 'get':
      return get(call);
    case 'list':
      return list(call);
    case 'watch':
      return watch(call);
    case 'create':
      return handleCreate(call);
    case 'update':
      return update(call);
    case 'patch':
      return patch(call);
    case 'delete':
      return remove(call);
    case 'deletecollection':
      return removeCollection(call);
    default:
      return verb satisfies never;
  }
}

/** Objects of some resources are never stored: what is posted is done, or answered. */
function handleCreate(call: VerbCall): Promise<ApiResponse> {
  const { group, resource, actsOn } = call.served.definition;
  if (actsOn !== undefined) return actOnNamed(call);
  const handler = call.context.virtual.get(`${group}/${resource}`);
  return handler === undefined ? create(call) : answerVirtual(call, handler);
}

function handleView(call: VerbCall, verb: DefinedVerb): Promise<ApiResponse> {
  switch (verb) {
    case 'get':
      return get(call);
    case 'update':
      return update(call);
    case 'patch':
      return patch(call);
    default:
      throw methodNotAllowed();
  }
}
