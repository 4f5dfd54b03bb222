import type { ForeseenObjects } from '../../admission/foreseen.ts';
import type { ApiObject } from '../../api/object-meta.ts';
import { StatusError } from '../../api/status.ts';
import type { ResourceDefinition } from '../../registry/definition.ts';
import type { AuditTrail, Caller, UserInfo } from '../../request/api-request.ts';
import type { Waits } from '../../request/waits.ts';
import type { ObjectKey } from '../../storage/key.ts';
import type { Revision } from '../../storage/revision.ts';
import type { Attribution } from '../../storage/revision-log.ts';
import { endTurn, inTurns, type Steps, untilTheyWait } from '../../util/concurrency.ts';

/** What every step of a write knows: what is written, for whom, and how. The writer keeps no state between writes. */
export interface WriteCall {
  readonly definition: ResourceDefinition;
  /** Version the author speaks, for admission and managed fields. */
  readonly version: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly author: Author;
  readonly dryRun: boolean;
  /** Of a dry run alone: what the same request would have made before. */
  readonly foreseen?: ForeseenObjects | undefined;
  /** `leave`: metadata.managedFields is as the write means it to be. */
  readonly ownership: 'track' | 'leave';
  /** The write is part of an action that admission has let pass: plugins are not asked again. */
  readonly isAdmitted?: true;
  /** A removal of one object of a collection: plugins are told of no name, because the request has none. */
  readonly isOfCollection?: true;
  /** The client that waits for the write, if there is one: a write whose client has gone is not committed. */
  readonly caller?: Caller;
  /** Absent for what the server writes by itself. */
  readonly request?: WriteRequest;
}

export interface Author {
  /** For admission. */
  readonly user: UserInfo;
  /** For history. */
  readonly attribution: Attribution;
}

/** What a write sees of the request that asks for it. */
export interface WriteRequest {
  /** Options, as admission shows them to webhooks. */
  readonly query: URLSearchParams;
  readonly receivedBytes: number;
  readonly audit?: Pick<AuditTrail, 'annotate'> | undefined;
  readonly waits?: Waits;
  warn(text: string): void;
}

/** What a write left behind. `json` is the stored form; the revision is undefined when a dry run created the object. */
export interface Written {
  readonly json: Buffer;
  readonly revision: Revision | undefined;
  readonly created: boolean;
}

export interface Removed {
  readonly json: Buffer;
  readonly revision: Revision;
  /** False when the object stays for now, waiting for its grace period or finalizers. */
  readonly gone: boolean;
}

export function toKey({ definition, namespace }: WriteCall, name: string): ObjectKey {
  const { group, resource } = definition.storage;
  return { group, resource, namespace: definition.namespaced ? namespace : '', name };
}

/** Whether the request brought a large object. */
export const isLargeCall = ({ request }: WriteCall): boolean =>
  request !== undefined && isLarge(request.receivedBytes);

export function warnOf(
  { definition, request }: WriteCall,
  object: ApiObject,
  old: ApiObject | undefined,
): void {
  if (request === undefined) return;
  for (const text of definition.strategy.warnings?.(object, old) ?? []) request.warn(text);
}

/** What others may have done before a write, as a fact in its result: no failure, and nothing that must be caught. */

/** @throws what else went wrong */
export const orNotFound = <Result>(write: Promise<Result>): Promise<Result | 'not-found'> =>
  orFact(write, 'NotFound', 'not-found');

/** @throws what else went wrong */
export const orExists = <Result>(write: Promise<Result>): Promise<Result | 'exists'> =>
  orFact(write, 'AlreadyExists', 'exists');

/** `reason`: of the status that tells the fact. @throws what else went wrong */
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
 * A namespace that ends, or is no more, takes nothing new: plugins refuse it (403 with a cause, 404).
 * @throws what else went wrong
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

/**
 * A write has many steps, and each of them looks at all of an object. For one of the usual size they take less than a
 * millisecond together; for the largest, each of them takes as much as others may be made to wait for at once.
 */
const LARGE_BYTES = 64 * 1024;

export const isLarge = (sizeBytes: number): boolean => sizeBytes > LARGE_BYTES;

/** In turns with other work for a large object, else at once; a promise only where there is something to wait for. */
export function runSteps<Result>(large: boolean, steps: Steps<Result>): Promise<Result> | Result {
  return large ? inTurns(steps) : untilTheyWait(steps);
}

/** Between two steps: for a large object, other work has its turn. Undefined when there is nothing to wait for. */
export const endTurnIf = (large: boolean): Promise<void> | undefined => (large ? endTurn() : undefined);
