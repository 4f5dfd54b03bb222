import type { GroupResource } from '../../api/names.ts';
import type { JsonObject } from '../../api/object-meta.ts';

/** A line of the history of an export. */
export interface PastWrite {
  readonly revision: string;
  readonly at: string;
  /** create, update or delete. */
  readonly verb: string;
  readonly user: string;
  readonly userAgent: string;
  readonly sourceAddress: string;
  readonly requestID: string;
  readonly manager: string;
  readonly object: GroupResource & {
    readonly version: string;
    readonly namespace: string;
    readonly name: string;
  };
  /** What the write left; absent for a delete. */
  readonly state?: JsonObject;
}
