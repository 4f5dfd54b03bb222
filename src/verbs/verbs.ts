import { badRequest, methodNotAllowed, notFound, pathNotFound, type StatusError } from '../api/status.ts';
import type { Registry, ServedResource } from '../registry/registry.ts';
import type {
  ActionSubresource,
  ConnectSubresource,
  DefinedVerb,
  ViewSubresource,
} from '../registry/resource-definition.ts';
import type { AuthorizedResourceRequest } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';
import { pageNotFound } from '../request/plain-answer.ts';
import { act, actOnNamed } from './action.ts';
import { connect } from './connect.ts';
import { patch } from './patch.ts';
import { get, list } from './read.ts';
import { remove, removeCollection } from './remove.ts';
import type { VerbCall, VerbContext } from './verb-call.ts';
import { watch } from './watch.ts';
import { answerVirtual, create, update } from './write.ts';

/** Serves an authorized request for a resource. @throws StatusError */
export type ResourceHandler = (request: AuthorizedResourceRequest) => Promise<ApiResponse>;

export function createResourceHandler(context: VerbContext): ResourceHandler {
  return async (request) => {
    const target = resolveTarget(context.registry, request);
    if (target.kind === 'nowhere') return pageNotFound();
    warnOfDeprecation(target.served, request);
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

/** The audit log says it too: by it, operators find the clients that an upgrade would break. */
function warnOfDeprecation(
  { definition, version }: ServedResource,
  request: AuthorizedResourceRequest,
): void {
  const { custom } = definition;
  if (custom?.deprecation !== undefined) request.warn(custom.deprecation);
  const { deprecation } = version;
  if (deprecation === undefined) return;
  request.warn(deprecation.warning);
  request.audit?.annotate('k8s.io/deprecated', 'true');
  if (deprecation.removedRelease !== undefined)
    request.audit?.annotate('k8s.io/removed-release', deprecation.removedRelease);
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

/** Objects of some resources are never stored: a create executes or answers them. */
function handleCreate(call: VerbCall): Promise<ApiResponse> {
  const { group, resource, actsOn, custom } = call.served.definition;
  if (custom?.isEnding === true) throw methodNotAllowed(AT_END);
  if (actsOn !== undefined) return actOnNamed(call);
  const handler = call.context.virtual.get(`${group}/${resource}`);
  return handler === undefined ? create(call) : answerVirtual(call, handler);
}

const AT_END = 'create not allowed while custom resource definition is terminating';

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

/** The target of a resource request in the registry. */
type VerbTarget =
  /** No custom resource has the path: the end of the chain answers (Kubernetes: crdHandler passes it on). */
  | { readonly kind: 'nowhere' }
  | {
      readonly kind: 'resource';
      readonly verb: DefinedVerb;
      readonly served: ServedResource;
    }
  | {
      readonly kind: 'view';
      readonly verb: DefinedVerb;
      readonly served: ServedResource;
      readonly view: ViewSubresource;
    }
  | {
      readonly kind: 'action';
      readonly served: ServedResource;
      readonly action: ActionSubresource;
    }
  | {
      readonly kind: 'connect';
      readonly served: ServedResource;
      readonly subresource: ConnectSubresource;
    };

/**
 * Finds the target of a request.
 * @throws StatusError 404 for unserved paths of a built-in group, 405 for verbs that the resource lacks
 */
function resolveTarget(registry: Registry, request: AuthorizedResourceRequest): VerbTarget {
  const { target } = request;
  const served = registry.find(target.group, target.version, target.resource);
  if (served === undefined || !isInScope(served, request)) {
    if (served?.definition.custom === undefined && registry.isBuiltIn(target.group)) throw pathNotFound();
    return { kind: 'nowhere' };
  }
  if (!hasPath(served, request)) throw pathNotFound();
  checkName(served, request);
  if (isHeadOfBuiltIn(served, request)) throw methodNotAllowed();
  if (target.subresource !== '') return resolveSubresource(served, request);
  const verb = served.definition.verbs.find((defined) => defined === request.verb);
  if (verb === undefined) throw methodNotAllowed();
  return { kind: 'resource', verb, served };
}

/** A path with a namespace for a cluster-scoped resource, or without one for a namespaced object, does not exist. */
function isInScope({ definition }: ServedResource, { target, verb }: AuthorizedResourceRequest): boolean {
  const { namespaced, custom } = definition;
  if (!namespaced) return target.namespace === '' || target.resource === 'namespaces';
  if (target.namespace !== '' || verb === 'list' || verb === 'watch') return true;
  // The path of a built-in collection exists, but not for this method.
  return custom === undefined && target.name === '';
}

const ON_OBJECTS: readonly DefinedVerb[] = ['get', 'update', 'patch', 'delete'];

/** Objects of a resource that can only be created, such as a review, have no paths. */
const hasPath = ({ definition }: ServedResource, { target }: AuthorizedResourceRequest): boolean =>
  target.name === '' ||
  target.subresource !== '' ||
  definition.verbs.some((verb) => ON_OBJECTS.includes(verb));

/** Kubernetes' routes of built-in resources are for GET alone. Connections have methods of their own. */
const isHeadOfBuiltIn = (
  { definition }: ServedResource,
  { method, target }: AuthorizedResourceRequest,
): boolean =>
  method === 'HEAD' &&
  definition.custom === undefined &&
  definition.subresources.find(({ name }) => name === target.subresource)?.access !== 'connect';

/** POST takes collections, PUT and PATCH take objects; other combinations do not exist. */
function checkName({ definition }: ServedResource, { target, verb }: AuthorizedResourceRequest): void {
  const { namespaced, custom } = definition;
  const onObject = verb === 'update' || verb === 'patch';
  if (onObject && target.name === '')
    throw custom === undefined ? methodNotAllowed() : badRequest('name must be provided');
  if (verb === 'create' && target.name !== '' && target.subresource === '') throw methodNotAllowed();
  if (namespaced && target.namespace === '' && (verb === 'create' || verb === 'deletecollection'))
    throw methodNotAllowed();
}

/** Custom resources check the object's name before subresources. */
const noSubresource = ({ definition }: ServedResource, { target }: AuthorizedResourceRequest): StatusError =>
  definition.custom === undefined ? pathNotFound() : notFound(definition, target.name);

function resolveSubresource(served: ServedResource, request: AuthorizedResourceRequest): VerbTarget {
  const { subresource } = request.target;
  const found = served.definition.subresources.find(({ name }) => name === subresource);
  if (found === undefined) throw noSubresource(served, request);
  // Only connections have subpaths.
  if (found.access !== 'connect' && request.target.subpath !== '') throw pathNotFound();
  const allowed = found.access === 'connect' ? found.methods : found.verbs;
  if (!allowed.includes(found.access === 'connect' ? request.method : request.verb)) throw methodNotAllowed();
  switch (found.access) {
    case 'view':
      return {
        kind: 'view',
        verb: request.verb as DefinedVerb,
        served,
        view: found,
      };
    case 'action':
      return { kind: 'action', served, action: found };
    case 'connect':
      if (found.manner !== 'proxy' && request.target.subpath !== '') throw pathNotFound();
      return { kind: 'connect', served, subresource: found };
    default:
      return found satisfies never;
  }
}
