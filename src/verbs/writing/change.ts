import type { ApiObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import type { ResourceDefinition } from '../../registry/definition.ts';
import type { Caller, UserInfo } from '../../request/api-request.ts';
import type { Revision } from '../../storage/revision.ts';
import type { Attribution } from '../../storage/revision-log.ts';

/** What a writer is told, and what it answers. */

/** Who writes what, and how. One a request; the writer itself keeps no state between writes. */
export interface WriteContext {
  readonly definition: ResourceDefinition;
  /** Version the caller speaks, for admission and managed fields. */
  readonly version: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly dryRun: boolean;
  readonly user: UserInfo;
  readonly attribution: Attribution;
  /** `leave`: metadata.managedFields is as the write means it to be. */
  readonly ownership: 'track' | 'leave';
  /** What is written is large: others have their turn between two steps. */
  readonly large?: boolean;
  /** Part of something that admission has let pass: it is not asked again. */
  readonly admitted?: true;
  /** The client that waits for the write, if there is one: a write whose client has gone is not committed. */
  readonly caller?: Caller;
  /** Of the request, if there is one: what admission shows of its options. */
  readonly query?: URLSearchParams;
  warn(text: string): void;
  /** Adds to the audit event of the request, if there is one. */
  annotate(key: string, value: string): void;
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

/** How an update gets from the old object to the new one. */
export interface Change {
  /**
   * Gets a copy of the stored object, resourceVersion included, that it may change and return. Called again with a newer one
   * after a conflict. A resourceVersion in what it returns is a precondition.
   */
  apply(copy: ApiObject): ApiObject | Promise<ApiObject>;
  /**
   * What another uid in what `apply` returns means: that another object is meant, which is a conflict, or that somebody changes
   * a field that cannot be changed, which is invalid. A precondition unless it says otherwise.
   */
  readonly uidIs?: 'precondition' | 'field';
  /** `apply` does not change its copy, nor does anyone change the parts of it that are in what it returns: none need be made. */
  readonly leavesCopy?: boolean;
  /** What to create when there is no object (server-side apply, create on update). */
  create?(): ApiObject | Promise<ApiObject>;
  /** Replaces the strategy's preparation and validation of updates (views such as status). */
  validate?(object: ApiObject, old: ApiObject): FieldError[];
}
