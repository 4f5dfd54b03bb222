import type { AdmissionChain } from '../admission/admission.ts';
import type { Gates } from '../api/feature-gates.ts';
import type { TypeLibrary } from '../api/idl/types.ts';
import { type GroupResource, type ResourceOf, toResourceKey } from '../api/names.ts';
import type { ApiObject, JsonObject } from '../api/object-meta.ts';
import { notFound } from '../api/status.ts';
import type { Authorizer } from '../authz/authorizer.ts';
import { messageOf, storeOf } from '../registry/custom.ts';
import type { Registry, ServedResource } from '../registry/registry.ts';
import type { ViewSubresource } from '../registry/resource-definition.ts';
import type { TokenIssuing } from '../registry/token-issuing.ts';
import type { AuthorizedResourceRequest, Caller } from '../request/api-request.ts';
import type { BackendTransport } from '../request/backend.ts';
import { writingAgent } from '../request/restored.ts';
import type { History } from '../storage/history.ts';
import { ObjectReader } from '../storage/object-reader.ts';
import type { Revision } from '../storage/revision.ts';
import type { Store } from '../storage/store.ts';
import type { Expected } from './declared-type.ts';
import { asking, type Births, type EarlierLife, earlierLife } from './incarnations.ts';
import { inStatuses } from './storage-status.ts';
import type { WriteCall } from './writing/write-call.ts';
import type { ObjectWriter } from './writing/writer.ts';

/** The arguments of a verb: the request, its target, and the server's parts. */
export interface VerbCall {
  readonly context: VerbContext;
  readonly request: AuthorizedResourceRequest;
  readonly served: ServedResource;
  /** The subresource that reads or writes the object, such as status. */
  readonly view?: ViewSubresource;
}

/** Whether bodies have the resource's own kind, as a status does, rather than the view's kind, as a scale does. */
export const hasOwnType = ({ served, view }: VerbCall): boolean =>
  view === undefined || view.type === served.definition.storage.type;

/** The type of the served resource itself. */
export function ownType({ context: { types }, served: { definition, version } }: VerbCall): Expected {
  const { group, kind, custom } = definition;
  const schema = messageOf(definition, version.type, types);
  return { group, version: version.version, kind, schema, types, custom };
}

/** Returns the store of the resource, in its served version; for a virtual resource, a store for this request. */
export function storeFor({ context, request, served, view }: VerbCall): Store {
  const createVirtual = context.virtualStores.get(toResourceKey(served.definition));
  return createVirtual === undefined
    ? storeOf(served.definition, context.store)
    : createVirtual(request, view?.name ?? '');
}

/** Objects of virtual resources are computed for each request ({@link VirtualStores}). */
export const isVirtual = (
  resource: GroupResource,
  { virtualStores }: Pick<VerbContext, 'virtualStores'>,
): boolean => virtualStores.has(toResourceKey(resource));

/** Undefined: the client may read that revision and all since. Virtual stores check each row. */
export async function earlierLifeOf(
  { context, request, served: { definition } }: VerbCall,
  from: Revision,
): Promise<EarlierLife | undefined> {
  const { births, authorizer } = context;
  const { verb, target } = request;
  const { storage, namespaced } = definition;
  if (isVirtual(definition, context)) return undefined;
  const right = { verb, target, storage, namespaced };
  return earlierLife(right, from, { births, may: asking(authorizer, request) });
}

/** The expected type of the body. */
export function bodyType(call: VerbCall): Expected {
  const { context, view } = call;
  if (view === undefined || hasOwnType(call)) return ownType(call);
  return { ...view.served, schema: context.types.message(view.type), types: context.types };
}

/** `subresource`: one that is not a view. */
export function toWriteCall(
  { request, served, view }: VerbCall,
  {
    dryRun,
    fieldManager,
    subresource,
  }: { readonly dryRun: boolean; readonly fieldManager: string; readonly subresource?: string },
): WriteCall {
  return {
    definition: served.definition,
    version: served.version.version,
    subresource: subresource ?? view?.name ?? '',
    namespace: request.target.namespace,
    author: {
      user: request.user,
      attribution: {
        username: request.user.username,
        userAgent: writingAgent(request.userAgent, fieldManager),
        sourceAddress: request.sourceAddress,
        requestId: request.id,
        fieldManager,
      },
    },
    dryRun,
    ownership: 'track',
    caller: request,
    request,
  };
}

/** The server's parts that verbs use. Made once. */
export interface VerbContext {
  readonly store: Store;
  /** The log that contains a resource. */
  readonly historyOf: (resource: GroupResource) => History;
  /** Limit how far into the past rights reach. */
  readonly births: Births;
  readonly registry: Registry;
  readonly types: TypeLibrary;
  readonly writer: ObjectWriter;
  readonly authorizer: Authorizer;
  readonly virtual: VirtualHandlers;
  readonly virtualStores: VirtualStores;
  readonly tokens: TokenIssuing;
  /** For requests that bypass the writer. */
  readonly admission: AdmissionChain;
  readonly backends: Backends;
  readonly isFeatureOn: Gates;
  /** Feature gate WatchList. */
  readonly watchList: boolean;
  /** Whether a watch that begins with the state may show tables: since Kubernetes 1.34. */
  readonly streamsTables: boolean;
  readonly minRequestTimeoutMs: number;
  readonly deleteCollectionWorkers: number;
  readonly now: () => Date;
}

/** Servers to which requests are forwarded. */
export interface Backends {
  readonly transport: BackendTransport;
  /** --agent-preferred-address-types */
  readonly agentAddressTypes: readonly string[];
  /** --sandbox-proxied-pages */
  readonly sandboxesPages: boolean;
  /** Feature gate TranslateStreamCloseWebsocketRequests. */
  readonly translateCommands: boolean;
  /** Feature gate PortForwardWebsockets. */
  readonly tunnelPorts: boolean;
  /** Feature gate ExtendWebSocketsToAgent: agents that take websockets get them as they come. */
  readonly extendsWebSockets: boolean;
  /** Feature gate AuthorizePodWebsocketUpgradeCreatePermission: streams need the right to create, with any method. */
  readonly streamsNeedCreate: boolean;
  /** The feature PodLogsQuerySplitStreams: a reader chooses between both outputs of a container. */
  readonly splitsLogs: boolean;
  /** Addresses of a host. @throws Error when it has none */
  resolve(host: string): Promise<readonly string[]>;
  /** Whether proxies resolve the names of node agents, rather than this server. */
  readonly resolvesAfar: boolean;
}

/** Types that represent a question instead of an object: posted, answered, never stored. */
export type VirtualHandler = (
  body: ApiObject,
  request: AuthorizedResourceRequest,
) => Promise<JsonObject> | JsonObject;

/** By `group/resource`. */
type VirtualHandlers = ReadonlyMap<string, VirtualHandler>;

/**
 * Virtual stores compute objects for one request and store none; each is made for the request and its subresource, or ''.
 * They read `?asOf` themselves, because only they know which log the request is about. By `group/resource`.
 */
export type VirtualStores = ReadonlyMap<
  string,
  (request: AuthorizedResourceRequest, subresource: string) => Store
>;

/** Reads other objects for an action or a connection: as new as the request, with errors as StatusError. */
export class RelatedObjects {
  readonly #reader: ObjectReader;

  constructor(store: Store, caller: Caller | undefined) {
    this.#reader = new ObjectReader(store, caller);
  }

  /** @throws StatusError NotFound */
  async get<T extends ApiObject>(resource: ResourceOf<T>, namespace: string, name: string): Promise<T> {
    const found = await this.find(resource, namespace, name);
    if (found === undefined) throw notFound(resource, name);
    return found;
  }

  /** @throws StatusError */
  find<T extends ApiObject>(
    resource: ResourceOf<T>,
    namespace: string,
    name: string,
  ): Promise<T | undefined> {
    return inStatuses(this.#reader.get(resource, { namespace, name }, 'latest'), resource, name);
  }

  /** @throws StatusError */
  list<T extends ApiObject>(resource: ResourceOf<T>, namespace: string): Promise<T[]> {
    return inStatuses(this.#reader.list(resource, { namespace }, 'latest'), resource, '');
  }
}
