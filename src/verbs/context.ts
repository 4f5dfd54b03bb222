import type { AdmissionChain } from '../admission/admission.ts';
import type { TypeLibrary } from '../api/idl/types.ts';
import type { Authorizer } from '../authz/authorizer.ts';
import type { Registry, ServedResource } from '../registry/registry.ts';
import type { TokenIssuing } from '../registry/token-issuing.ts';
import type { AuthorizedResourceRequest } from '../request/api-request.ts';
import type { BackendTransport } from '../request/backend.ts';
import type { Store } from '../storage/store.ts';
import type { VirtualHandlers } from './virtual/handler.ts';
import { isLarge } from './writing/breathe.ts';
import type { WriteContext } from './writing/change.ts';
import type { Ownership } from './writing/ownership.ts';
import type { ObjectWriter } from './writing/writer.ts';

/** What every verb works with. Made once. */
export interface VerbContext {
  readonly store: Store;
  readonly registry: Registry;
  readonly types: TypeLibrary;
  readonly writer: ObjectWriter;
  readonly authorizer: Authorizer;
  readonly ownership: Ownership;
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

/** A larger body is refused (Kubernetes: 3 MiB). */
export const MAX_BODY_BYTES = 3 * 1024 * 1024;

export interface WriteParticulars {
  readonly dryRun: boolean;
  readonly fieldManager: string;
  readonly subresource?: string;
}

export function toWriteContext(
  request: AuthorizedResourceRequest,
  served: ServedResource,
  { dryRun, fieldManager, subresource }: WriteParticulars,
): WriteContext {
  return {
    definition: served.definition,
    version: served.version.version,
    subresource: subresource ?? '',
    namespace: request.target.namespace,
    dryRun,
    user: request.user,
    attribution: {
      username: request.user.username,
      userAgent: request.userAgent,
      sourceAddress: request.sourceAddress,
      requestId: request.id,
      fieldManager,
    },
    ownership: 'track',
    caller: request,
    large: isLarge(request.receivedBytes),
    query: request.query,
    warn: (text) => request.warn(text),
    annotate: (key, value) => request.audit?.annotate(key, value),
  };
}
