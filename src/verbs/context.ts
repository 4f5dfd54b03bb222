import type { TypeLibrary } from '../api/idl/types.ts';
import type { Registry, ServedResource } from '../registry/registry.ts';
import type { TokenIssuing } from '../registry/token-issuing.ts';
import type { AuthorizedResourceRequest } from '../request/api-request.ts';
import type { Store } from '../storage/store.ts';
import type { Ownership } from './ownership.ts';
import type { VirtualHandlers } from './virtual/handler.ts';
import type { ObjectWriter } from './writer.ts';
import type { WriteContext } from './writing.ts';

/** What every verb works with. Made once. */
export interface VerbContext {
  readonly store: Store;
  readonly registry: Registry;
  readonly types: TypeLibrary;
  readonly writer: ObjectWriter;
  readonly ownership: Ownership;
  readonly virtual: VirtualHandlers;
  readonly tokens: TokenIssuing;
  /** Feature gate WatchList. */
  readonly watchList: boolean;
  readonly minRequestTimeoutMs: number;
  readonly deleteCollectionWorkers: number;
  readonly now: () => Date;
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
    warn: (text) => request.warn(text),
  };
}
