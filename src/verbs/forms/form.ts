import { type Dialect, dialectApiVersion, dialectGroup } from '../../api/dialect.ts';
import type { Minor } from '../../api/emulation.ts';
import type { TypeLibrary } from '../../api/idl/types.ts';
import { toApiVersion } from '../../api/names.ts';
import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { Body } from '../../codec/chunks.ts';
import type { Representation } from '../../codec/negotiate.ts';
import { findMetadataEnd, parseStored } from '../../codec/stored-object.ts';
import type { ServedResource } from '../../registry/registry.ts';
import type { ViewSubresource } from '../../registry/resource-definition.ts';
import { type Revision, toResourceVersion } from '../../storage/revision.ts';
import type { Encoding, Entry } from '../../storage/store.ts';

/** The bytes of a stored object, and its revision. */
export interface Stored {
  readonly json: Buffer;
  readonly revision: Revision | undefined;
  /** Where the metadata ends, if known: cache entries have it. */
  readonly metadataEnd?: number;
}

/** The type of objects in answers: their own, or partial object metadata. */
export interface OutputType {
  readonly kind: string;
  readonly listKind: string;
  readonly apiVersion: string;
  readonly metadataOnly: boolean;
  /** Whether each item of a list has kind and apiVersion, as in custom resources; typed lists leave them out. */
  readonly typedItems: boolean;
  /** The metadata of an object that was never created. */
  readonly noTime: NoTime;
  /** Whether the bookmark that ends a state carries the list without items: Kubernetes 1.32 and 1.33. */
  readonly sendsEmptyList: boolean;
}

type NoTime = { readonly creationTimestamp?: null };

/** Types write the time of creation that a bookmark lacks as null before 1.34; custom resources are written as they are. */
export function noTimeOf({ served, types }: FormOptions, as: 'object' | 'metadata'): NoTime {
  if (as === 'object' && served.definition.custom !== undefined) return {};
  const zero = types.message('meta/v1.ObjectMeta').fields.get('creationTimestamp')?.zero;
  return zero === 'omit' ? {} : { creationTimestamp: null };
}

export interface ListHead {
  readonly resourceVersion: string;
  readonly continue: string;
  readonly remainingItemCount: number | undefined;
  /** The selector of the part that the list is; undefined for a whole list. */
  readonly shards?: string | undefined;
}

/** Encodes events and bookmarks of a watch, each as the bytes of one frame. */
export interface Frames extends Encoding {
  /** `initialEventsEnd`: this bookmark ends the initial events of a streaming list. */
  bookmark(revision: Revision, initialEventsEnd: boolean): Buffer;
}

/**
 * Encodes objects of one resource for one kind of client. A form depends only on the resource, the representation and the
 * dialect, never on the request, so that watchers with the same form share frames.
 */
export interface Form {
  readonly contentType: string;
  object(stored: Stored): Body;
  /** Returns a promise where a large list yields the event loop. */
  list(entries: readonly Entry[], head: ListHead): Body | Promise<Body>;
  readonly frames: Frames;
  /** Adds what only the first frame of a watch contains. */
  first?(frame: Buffer): Buffer;
}

export interface FormOptions {
  readonly served: ServedResource;
  readonly types: TypeLibrary;
  /** The emulated version. */
  readonly minor: Minor;
  readonly representation: Representation;
  readonly dialect: Dialect;
  /** The includeObject of tables. */
  readonly includeObject: string;
  readonly view?: ViewSubresource;
  readonly now: () => number;
}

export const metadataEndOf = (stored: Pick<Stored, 'json' | 'metadataEnd'>): number =>
  stored.metadataEnd ?? findMetadataEnd(stored.json);

export const versionText = (revision: Revision | undefined): string =>
  revision === undefined ? '' : toResourceVersion(revision);

/** The length of {@link versionText}, without making it: lists know their length before they write a million of them. */
export function versionLength(revision: Revision | undefined): number {
  if (revision === undefined || revision > Number.MAX_SAFE_INTEGER) return versionText(revision).length;
  let length = 1;
  for (let bound = 10, value = Number(revision); value >= bound; bound *= 10) length += 1;
  return length;
}

export function servedApiVersion({ definition, version }: ServedResource, dialect: Dialect): string {
  return dialectApiVersion(toApiVersion({ group: definition.group, version: version.version }), dialect);
}

/** The apiVersion of tables and partial metadata, which have a type of meta/v1. */
export const metaApiVersion = ({ representation, dialect }: FormOptions): string =>
  `${dialectGroup('meta.k8s.io', representation.dialect ?? dialect)}/${representation.version}`;

/** IDL name of the type of whole objects in answers. */
export const outputMessage = ({ served, view }: FormOptions): string =>
  view === undefined || view.type === served.definition.storage.type ? served.version.type : view.type;

export const toListMeta = ({
  resourceVersion,
  continue: token,
  remainingItemCount,
  shards,
}: ListHead): JsonObject => ({
  resourceVersion,
  ...(token === '' ? {} : { continue: token }),
  ...(remainingItemCount === undefined ? {} : { remainingItemCount }),
  ...(shards === undefined ? {} : { shardInfo: { selector: shards } }),
});

export const encodeLine = (value: unknown): Buffer => Buffer.from(`${JSON.stringify(value)}\n`);

interface BookmarkOptions
  extends Pick<OutputType, 'kind' | 'apiVersion' | 'noTime'>,
    Partial<Pick<OutputType, 'listKind' | 'sendsEmptyList'>> {
  readonly revision: Revision;
  /** Whether the bookmark ends the state of a streaming list. */
  readonly isEnd: boolean;
  /** Absent: clients cannot assemble the list, as from the rows of tables. */
  readonly encodeList?: ((list: JsonObject) => Buffer) | undefined;
}

export function bookmarkObject(options: BookmarkOptions): JsonObject {
  const { kind, apiVersion, noTime, revision, isEnd } = options;
  const metadata = { resourceVersion: toResourceVersion(revision), ...noTime };
  if (!isEnd) return { kind, apiVersion, metadata };
  const annotations = { 'k8s.io/initial-events-end': 'true', ...emptyListFor(options) };
  return { kind, apiVersion, metadata: { ...metadata, annotations } };
}

/** A list whose items are null, for clients that assemble the list from its events. */
function emptyListFor({
  listKind = '',
  apiVersion,
  sendsEmptyList = false,
  encodeList,
}: BookmarkOptions): JsonObject {
  if (!sendsEmptyList || encodeList === undefined) return {};
  const list = encodeList({ kind: listKind, apiVersion, metadata: {}, items: null });
  return { 'kubernetes.io/initial-events-list-blueprint': list.toString('base64') };
}

/** Whether a view shows the object itself. */
const isWhole = (view: ViewSubresource | undefined): boolean => view === undefined || view.name === 'status';

/** Whether answers contain the stored bytes, apart from their head. */
export const isStored = ({ served, view }: Pick<FormOptions, 'served' | 'view'>): boolean =>
  served.version.conversion === undefined && isWhole(view);

/** Converts a stored object to the version, dialect and view of the client. */
export function toServed(
  { json, revision }: Stored,
  { served, dialect, view }: Pick<FormOptions, 'served' | 'dialect' | 'view'>,
): ApiObject {
  const parsed = parseStored(json, revision === undefined ? undefined : toResourceVersion(revision));
  if (view !== undefined && !isWhole(view)) {
    const shown = view.read(parsed);
    return { ...shown, apiVersion: dialectApiVersion(shown.apiVersion, dialect) };
  }
  const { conversion } = served.version;
  const converted = conversion === undefined ? parsed : conversion.fromStorage(parsed);
  return { ...converted, apiVersion: servedApiVersion(served, dialect) };
}
