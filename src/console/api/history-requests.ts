import type { Json, Metadata } from '../model/api-object.ts';
import type { BlameField } from '../model/blame-colours.ts';
import { askJson } from './ask.ts';
import { HISTORY_GROUP } from './load-kinds.ts';
import type { PersistOptions } from './persist.ts';
import { revisionOfObject, stayCurrent, type WatchState } from './stay-current.ts';

/** Types and requests of history.cluster.io/v1alpha1. */

const ROOT = `apis/${HISTORY_GROUP}/v1alpha1`;

export interface RecordedObject {
  readonly group?: string;
  readonly version?: string;
  readonly resource: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name: string;
  readonly uid?: string;
}

export interface Change {
  readonly path: string;
  readonly old?: Json;
  readonly new?: Json;
  readonly hidden?: boolean;
}

export interface Revision {
  readonly metadata: Metadata;
  readonly object: RecordedObject;
  readonly verb: string;
  readonly at: string;
  readonly user?: string;
  readonly manager?: string;
  readonly userAgent?: string;
  readonly sourceAddress?: string;
  readonly requestID?: string;
  readonly previous?: string;
  readonly generation?: number;
  readonly changes?: readonly Change[];
  readonly changesTruncated?: boolean;
  readonly changesUnknown?: boolean;
  readonly restored?: string;
}

interface RevisionList {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly Revision[];
}

export interface Explanation {
  readonly links?: readonly ExplanationLink[];
  readonly root?: string;
  readonly unknown?: string;
  /** Other writes of the act that began it. */
  readonly siblings?: readonly ExplanationLink[];
}

export interface ExplanationLink {
  readonly revision: string;
  readonly at?: string;
  readonly user?: string;
  readonly manager?: string;
  readonly verb?: string;
  readonly object?: RecordedObject;
  readonly changes?: readonly Change[];
  readonly evidence?: readonly string[];
  readonly confidence?: 'certain' | 'likely' | 'possible';
}

/** One object, or everything in a namespace. */
export type RestoreSpec = { readonly to: string } & (
  | {
      readonly object: Readonly<Record<'group' | 'resource' | 'namespace' | 'name', string>>;
      readonly withDependents?: boolean;
      /** Only these. */
      readonly paths?: readonly string[];
    }
  | { readonly namespace: string }
);

export interface RestoreResult {
  readonly object: RecordedObject;
  readonly action: string;
  readonly revision?: string;
  readonly changes?: readonly Change[];
  readonly message?: string;
}

/** `deployments.apps`, the form in addresses. */
export const idOf = ({ group = '', resource }: Pick<RecordedObject, 'group' | 'resource'>): string =>
  group === '' ? resource : `${resource}.${group}`;

/** `deployments.apps:shop:web` */
export const referenceOf = (id: string, namespace: string, name: string): string =>
  `${id}:${namespace}:${name}`;

export interface RevisionQuery {
  /** resource, namespace, name, user, manager, verb: given values must be equal. */
  readonly fields: Readonly<Record<string, string | undefined>>;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

const toQuery = ({ fields, since, until }: RevisionQuery): Record<string, string | undefined> => ({
  fieldSelector: Object.entries(fields)
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([field, value]) => `${field}=${escaped(value ?? '')}`)
    .join(','),
  since,
  until,
});

/** Commas and backslashes have a meaning in field selectors (apimachinery, fields.EscapeValue). */
const escaped = (value: string): string => value.replace(/[\\,=]/g, '\\$&');

/** Newest first. @throws ApiError */
export async function listRevisions(
  query: RevisionQuery,
  { limit, next, signal }: { readonly limit: number; readonly next?: string; readonly signal?: AbortSignal },
): Promise<{ revisions: readonly Revision[]; from: string; next: string }> {
  const { items, metadata } = await askJson<RevisionList>(`${ROOT}/revisions`, {
    query: { ...toQuery(query), limit: String(limit), continue: next },
    ...(signal === undefined ? {} : { signal }),
  });
  return { revisions: items, from: metadata.resourceVersion, next: metadata.continue ?? '' };
}

/** @throws ApiError */
export function followRevisions(
  query: RevisionQuery,
  {
    deliver,
    onState,
    ...options
  }: PersistOptions & {
    /** Returns the revision to follow from; undefined: do not follow. */
    read(): Promise<string | undefined>;
    deliver(revision: Revision): void;
    onState(state: WatchState): void;
  },
): Promise<void> {
  return stayCurrent<Revision>({
    ...options,
    watch: {
      ...{ path: `${ROOT}/revisions`, query: toQuery(query), revisionOf: revisionOfObject, onState },
      deliver: ({ type, object }) => {
        if (type !== 'DELETED') deliver(object);
      },
    },
  });
}

export const getRevision = (number: string, signal?: AbortSignal): Promise<Revision> =>
  askJson(`${ROOT}/revisions/${number}`, signal === undefined ? {} : { signal });

export const explain = (number: string, signal: AbortSignal): Promise<Explanation> =>
  askJson(`${ROOT}/revisions/${number}/why`, { signal });

export async function getBlame(
  reference: string,
  asOf: string | undefined,
  signal: AbortSignal,
): Promise<readonly BlameField[]> {
  const path = `${ROOT}/blames/${encodeURIComponent(reference)}`;
  const { fields } = await askJson<{ fields?: readonly BlameField[] }>(path, { query: { asOf }, signal });
  return fields ?? [];
}

/** @throws ApiError */
export async function restore(
  spec: RestoreSpec,
  { dryRun, signal }: { readonly dryRun: boolean; readonly signal?: AbortSignal },
): Promise<readonly RestoreResult[]> {
  const { status } = await askJson<{ status?: { results?: readonly RestoreResult[] } }>(`${ROOT}/restores`, {
    method: 'POST',
    ...(signal === undefined ? {} : { signal }),
    query: { dryRun: dryRun ? 'All' : undefined },
    body: {
      apiVersion: `${HISTORY_GROUP}/v1alpha1`,
      kind: 'Restore',
      metadata: { generateName: 'console-' },
      spec,
    },
  });
  return status?.results ?? [];
}
