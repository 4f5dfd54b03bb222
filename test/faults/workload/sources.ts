import type { Filter, HistoryRow, LogRow, Seen } from '../judge/record.ts';
import { type Stored, toItem } from './client.ts';
import { NAMESPACE, PATH } from './keys.ts';

type Event = Exclude<Seen, { type: 'bookmark' }>;

/** What a watcher follows: the objects, or the revisions of them. */
export interface WatchSource {
  readonly path: string;
  readonly fieldSelector: string;
  /** What it asks for when it only wants to know where to begin. */
  readonly firstList: Readonly<{ [parameter: string]: string }>;
  readonly filter: Filter;
  /** @throws Error when no such event is to be sent */
  read(type: string, object: Sent): Omit<Event, 'atMs'>;
}

export function pathOf(
  { path, fieldSelector }: Pick<WatchSource, 'path' | 'fieldSelector'>,
  parameters: Readonly<{ [parameter: string]: string }>,
): string {
  const query = new URLSearchParams(parameters);
  if (fieldSelector !== '') query.set('fieldSelector', fieldSelector);
  return `${path}?${query}`;
}

const TYPES: Readonly<{ [type: string]: Event['type'] }> = {
  ADDED: 'added',
  MODIFIED: 'modified',
  DELETED: 'deleted',
};

export const OBJECTS: WatchSource = {
  ...{ path: PATH, fieldSelector: '', firstList: {}, filter: {} },
  read: (type, object) => {
    const known = TYPES[type];
    if (known === undefined) throw new Error(`no watch sends ${type}`);
    return { ...toItem(object), type: known };
  },
};

export const HISTORY = '/apis/history.cluster.io/v1alpha1';
const RESOURCE = 'leases.coordination.k8s.io';
const EVENT_TYPES = { create: 'added', update: 'modified', delete: 'deleted' } as const;

/** The name under which timelines and blames know an object. */
export const referenceTo = (key: string): string => `${RESOURCE}:${NAMESPACE}:${key}`;

/** One user makes all revisions here: the selector by user lets pass what the others do, and is answered by other means. */
export function revisionsOf(filter: Filter, user?: string): WatchSource {
  const selected = {
    ...{ 'object.resource': RESOURCE, 'object.namespace': NAMESPACE },
    ...(filter.key === undefined ? {} : { 'object.name': filter.key }),
    ...(filter.verb === undefined ? {} : { verb: filter.verb }),
    ...(user === undefined ? {} : { user }),
  };
  const fieldSelector = Object.entries(selected)
    .map(([field, value]) => `${field}=${value}`)
    .join(',');
  return {
    ...{ path: `${HISTORY}/revisions`, fieldSelector, firstList: { limit: '1' }, filter },
    read: (type, object) => {
      if (type !== 'ADDED') throw new Error(`no watch of revisions sends ${type}`);
      const { revision, key, op = '', verb } = toHistoryRow(object);
      return { revision, key, op, type: EVENT_TYPES[verb] };
    },
  };
}

/** One or the other. */
type Sent = Stored & RevisionObject;

interface RevisionObject {
  readonly metadata: { readonly name: string };
  readonly object: { readonly name: string };
  readonly verb: LogRow['verb'];
  readonly user: string;
  readonly userAgent?: string;
  readonly previous?: string;
}

export const toHistoryRow = (revision: RevisionObject): HistoryRow => ({
  ...{ revision: BigInt(revision.metadata.name), key: revision.object.name, verb: revision.verb },
  ...{ user: revision.user, op: revision.userAgent ?? '' },
  ...(revision.previous === undefined ? {} : { previous: BigInt(revision.previous) }),
});

interface TimelineEntry {
  readonly revision: string;
  readonly object: { readonly name: string };
  readonly verb: LogRow['verb'];
  readonly user: string;
}

export const toTimelineRow = ({ revision, object, verb, user }: TimelineEntry): HistoryRow => ({
  ...{ revision: BigInt(revision), key: object.name, verb, user },
});
