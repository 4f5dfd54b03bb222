import type { ApiObject } from '../../api/object-meta.ts';
import type { ResourceDefinition } from '../../registry/definition.ts';
import type { AuditTrail, Caller, UserInfo } from '../../request/api-request.ts';
import type { ObjectKey } from '../../storage/key.ts';
import type { Revision } from '../../storage/revision.ts';
import type { Attribution } from '../../storage/revision-log.ts';
import { isLarge } from './large-objects.ts';

/** What every step of a write knows: what is written, for whom, and how. The writer keeps no state between writes. */
export interface WriteCall {
  readonly definition: ResourceDefinition;
  /** Version the author speaks, for admission and managed fields. */
  readonly version: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly author: Author;
  readonly dryRun: boolean;
  /** `leave`: metadata.managedFields is as the write means it to be. */
  readonly ownership: 'track' | 'leave';
  /** The write is part of an action that admission has let pass: plugins are not asked again. */
  readonly isAdmitted?: true;
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
