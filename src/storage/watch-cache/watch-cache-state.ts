import type { GroupResource } from '../../api/names.ts';
import type { Revision } from '../revision.ts';
import type { WatchedResource } from './watched-resource.ts';

/** What metrics and readiness show. */
export interface WatchCacheState {
  readonly loaded: boolean;
  readonly applied: Revision;
  readonly resources: readonly {
    readonly resource: GroupResource;
    /** Undefined when they are not in memory. */
    readonly objects: number | undefined;
    readonly unreadable: number;
    readonly watchers: number;
  }[];
}

export const toState = ({ resource, watchers }: WatchedResource) => ({ resource, watchers });
