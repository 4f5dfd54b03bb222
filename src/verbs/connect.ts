import { toApiVersion } from '../api/names.ts';
import type { ApiObject, JsonObject } from '../api/object-meta.ts';
import { badRequest, notFound } from '../api/status.ts';
import { streamLog } from '../proxy/container-log.ts';
import { forward } from '../proxy/forward.ts';
import { isCommandWebSocket, isTunnelWebSocket, translateCommand, tunnelSpdy } from '../proxy/translate.ts';
import { upgrade } from '../proxy/upgrade.ts';
import { joinPath } from '../proxy/url-paths.ts';
import type { ConnectCall, ConnectSubresource } from '../registry/resource-definition.ts';
import type { AuthorizedResourceRequest } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';
import type { Backend } from '../request/backend.ts';
import { readOptions } from './query-options.ts';
import { type Backends, RelatedObjects, type VerbCall } from './verb-call.ts';
import { assertMayCreate } from './write.ts';

/** Forwards a request to a node's agent, a pod, or an endpoint of a service. @throws StatusError */
export async function connect(call: VerbCall, subresource: ConnectSubresource): Promise<ApiResponse> {
  const { context, request } = call;
  const { manner } = subresource;
  if (manner !== 'log' && request.query.has('dryRun')) throw badRequest('dryRun is not supported');
  const asked = readOptions(request.query, context.types.message(subresource.options));
  // A websocket begins with GET, which read-only roles permit.
  if (manner === 'stream' && request.verb !== 'create' && context.backends.streamsNeedCreate)
    await assertMayCreate(call);
  const subpath = subpathOf(request);
  if (manner === 'proxy') asked.path = subpath;
  const options = manner === 'log' ? asked : await admit(call, subresource, asked);
  const backend = await subresource.locate(toConnectCall(call, options, subpath));
  if (backend === undefined) return NOTHING;
  return handOn(call, { subresource, backend, options });
}

/** A pod without a node has no log. */
const NOTHING: ApiResponse = {
  kind: 'bytes',
  code: 204,
  contentType: 'text/plain',
  chunks: [],
  compressible: false,
};

interface Destination {
  readonly subresource: ConnectSubresource;
  readonly backend: Backend;
  readonly options: JsonObject;
}

function handOn({ context, request }: VerbCall, destination: Destination): Promise<ApiResponse> {
  const { backends } = context;
  const { transport } = backends;
  const { subresource, backend, options } = destination;
  const { resource, name } = request.target;
  switch (subresource.manner) {
    case 'log':
      return streamLog(transport, backend, request, {
        resource: `${resource}/${subresource.name}`,
        name,
        follow: options.follow === true,
      });
    case 'stream':
      return openStreams(backends, request, destination);
    case 'proxy': {
      const whole = { ...backend, query: rawQuery(request) };
      return request.raw.upgrade === ''
        ? forward(transport, whole, request, { isSandboxed: backends.sandboxesPages })
        : upgrade(transport, whole, request);
    }
    default:
      return subresource.manner satisfies never;
  }
}

function openStreams(
  { transport, translateCommands, tunnelPorts, extendsWebSockets }: Backends,
  request: AuthorizedResourceRequest,
  { subresource, backend, options }: Destination,
): Promise<ApiResponse> {
  if (extendsWebSockets && backend.speaksWebSocket === true) return upgrade(transport, backend, request);
  if (subresource.websocket === 'channels' && translateCommands && isCommandWebSocket(request)) {
    const wants = (stream: string): boolean => options[stream] === true;
    return translateCommand(transport, backend, request, {
      stdin: wants('stdin'),
      stdout: wants('stdout'),
      stderr: wants('stderr'),
      tty: wants('tty'),
    });
  }
  if (subresource.websocket === 'tunnel' && tunnelPorts && isTunnelWebSocket(request)) {
    return tunnelSpdy(transport, backend, request);
  }
  return upgrade(transport, backend, request);
}

function rawQuery({ raw: { url } }: AuthorizedResourceRequest): string {
  const at = url.indexOf('?');
  return at < 0 ? '' : url.slice(at + 1);
}

/** Normalized, so that backends see one form of each path. */
function subpathOf({ target: { subpath }, path }: AuthorizedResourceRequest): string {
  const rooted = subpath === '' ? '' : `/${subpath}`;
  return joinPath('', path.endsWith('/') && !rooted.endsWith('/') ? `${rooted}/` : rooted);
}

/** Returns the options after admission. @throws StatusError */
async function admit(
  { context: { admission }, request, served }: VerbCall,
  subresource: ConnectSubresource,
  options: JsonObject,
): Promise<JsonObject> {
  const { kind } = subresource.served;
  const object: ApiObject = { kind, apiVersion: toApiVersion(subresource.served), metadata: {}, ...options };
  const attributes = {
    operation: 'CONNECT',
    definition: served.definition,
    version: served.version.version,
    subresource: subresource.name,
    namespace: request.target.namespace,
    name: request.target.name,
    object,
    old: undefined,
    dryRun: false,
    user: request.user,
    warn: (text: string) => request.warn(text),
    annotate: (key: string, value: string, level?: 'Request') => request.audit?.annotate(key, value, level),
    waits: request.waits,
  } as const;
  await admission.mutate(attributes);
  await admission.validate(attributes);
  const { kind: _, apiVersion: __, metadata: ___, ...admitted } = object;
  return admitted;
}

function toConnectCall(
  { context, request, served }: VerbCall,
  options: JsonObject,
  subpath: string,
): ConnectCall {
  const { store, backends } = context;
  const { namespace, name } = request.target;
  const objects = new RelatedObjects(store, request);
  return {
    ...{ namespace, name, options, subpath },
    // Kubernetes names the resource of the request, not the one that is missing (InterpretGetError in its generic registry).
    get: async (resource, inNamespace, named) => {
      const found = await objects.find(resource, inNamespace, named);
      if (found === undefined) throw notFound(served.definition, named);
      return found;
    },
    find: (resource, inNamespace, named) => objects.find(resource, inNamespace, named),
    splitsLogs: backends.splitsLogs,
    agentAddressTypes: backends.agentAddressTypes,
    resolve: (host) => backends.resolve(host),
    resolvesAfar: backends.resolvesAfar,
  };
}
