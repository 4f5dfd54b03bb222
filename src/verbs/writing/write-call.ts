import type { ForeseenObjects } from '../../admission/foreseen.ts';
import { StatusError } from '../../api/status.ts';
import type { ResourceDefinition } from '../../registry/resource-definition.ts';
import type { AuditTrail, Caller, UserInfo } from '../../request/api-request.ts';
import type { Waits } from '../../request/waits.ts';
import type { ObjectKey } from '../../storage/key.ts';
import type { Revision } from '../../storage/revision.ts';
import type { Attribution } from '../../storage/revision-log.ts';
import { isLarge } from '../../util/turns.ts';

/** The input of every step of a write: its target, author and manner. The writer keeps no state between writes. */
export interface WriteCall {
  readonly definition: ResourceDefinition;
  /** The author's version, for admission and managed fields. */
  readonly version: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly author: Author;
  readonly dryRun: boolean;
  /** For dry runs: objects that earlier writes of the same request would have made. */
  readonly foreseen?: ForeseenObjects | undefined;
  /** `leave`: the write sets metadata.managedFields itself. */
  readonly ownership: 'track' | 'leave';
  /** The write is part of an admitted action: plugins are not called again. */
  readonly isAdmitted?: true;
  /** Removes one object of a collection: plugins see no name, because the request has none. */
  readonly isOfCollection?: true;
  /** The client that waits for the write: a write whose client has disconnected is not committed. */
  readonly caller?: Caller;
  /** Absent for the server's own writes. */
  readonly request?: WriteRequest;
}

interface Author {
  /** For admission. */
  readonly user: UserInfo;
  /** For history. */
  readonly attribution: Attribution;
}

/** The part of a request that its write needs. */
interface WriteRequest {
  readonly verb?: string;
  /** Options for webhooks. */
  readonly query: URLSearchParams;
  readonly receivedBytes: number;
  readonly audit?: Pick<AuditTrail, 'annotate'> | undefined;
  readonly waits?: Waits;
  warn(text: string): void;
}

/** The result of a write. `json` is the stored form; the revision is undefined when a dry run created the object. */
export interface Written {
  readonly json: Buffer;
  readonly revision: Revision | undefined;
  readonly created: boolean;
}

export interface Removed {
  readonly json: Buffer;
  readonly revision: Revision;
  /** False: the object stays until its grace period has ended and its finalizers are gone. */
  readonly gone: boolean;
}

export function toKey({ definition, namespace }: WriteCall, name: string): ObjectKey {
  const { group, resource } = definition.storage;
  return { group, resource, namespace: definition.namespaced ? namespace : '', name };
}

/** Whether the request has a large body. */
export const isLargeCall = ({ request }: WriteCall): boolean =>
  request !== undefined && isLarge(request.receivedBytes);

/** Turns errors about concurrent changes into results. */

/** @throws other errors */
export const orNotFound = <Result>(write: Promise<Result>): Promise<Result | 'not-found'> =>
  orFact(write, 'NotFound', 'not-found');

/** @throws other errors */
export const orExists = <Result>(write: Promise<Result>): Promise<Result | 'exists'> =>
  orFact(write, 'AlreadyExists', 'exists');

/** `reason`: of the status to turn into the fact. @throws other errors */
export async function orFact<Result, Fact extends string>(
  write: Promise<Result>,
  reason: 'NotFound' | 'AlreadyExists' | 'Conflict',
  fact: Fact,
): Promise<Result | Fact> {
  try {
    return await write;
  } catch (error) {
    if (error instanceof StatusError && error.status.reason === reason) return fact;
    throw error;
  }
}

/**
 * A namespace that is ending or gone accepts no objects: plugins refuse them (403 with a cause, 404).
 * @throws other errors
 */
export async function orNamespaceGone<Result>(write: Promise<Result>): Promise<Result | 'namespace-gone'> {
  try {
    return await write;
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    const { reason, details } = error.status;
    const isEnding = details?.causes?.some((cause) => cause.reason === 'NamespaceTerminating') === true;
    if (reason === 'NotFound' || isEnding) return 'namespace-gone';
    throw error;
  }
}
