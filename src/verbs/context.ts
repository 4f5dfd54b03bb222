import type { AdmissionChain } from '../admission/admission.ts';
import type { TypeLibrary } from '../api/idl/types.ts';
import type { ApiObject, JsonObject } from '../api/object-meta.ts';
import type { Authorizer } from '../authz/authorizer.ts';
import type { Registry } from '../registry/registry.ts';
import type { TokenIssuing } from '../registry/token-issuing.ts';
import type { AuthorizedResourceRequest } from '../request/api-request.ts';
import type { BackendTransport } from '../request/backend.ts';
import type { Store } from '../storage/store.ts';
import type { ObjectWriter } from './writing/writer.ts';

/** What every verb works with. Made once. */
export interface VerbContext {
  readonly store: Store;
  readonly registry: Registry;
  readonly types: TypeLibrary;
  readonly writer: ObjectWriter;
  readonly authorizer: Authorizer;
  readonly virtual: VirtualHandlers;
  readonly tokens: TokenIssuing;
  /** For what does not go through the writer. */
  readonly admission: AdmissionChain;
  readonly backends: Backends;
  /** Feature gate WatchList. */
  readonly watchList: boolean;
  readonly minRequestTimeoutMs: number;
  readonly deleteCollectionWorkers: number;
  readonly now: () => Date;
}

/** Servers that requests are handed on to. */
export interface Backends {
  readonly transport: BackendTransport;
  /** --agent-preferred-address-types */
  readonly agentAddressTypes: readonly string[];
  /** Feature gate TranslateStreamCloseWebsocketRequests. */
  readonly translateCommands: boolean;
  /** Feature gate PortForwardWebsockets. */
  readonly tunnelPorts: boolean;
  /** Addresses of a host. @throws Error when it has none */
  resolve(host: string): Promise<readonly string[]>;
}

/** Types that represent a question instead of an object: posted, answered, never stored. */
export type VirtualHandler = (
  body: ApiObject,
  request: AuthorizedResourceRequest,
) => Promise<JsonObject> | JsonObject;

/** By `group/resource`. */
export type VirtualHandlers = ReadonlyMap<string, VirtualHandler>;
