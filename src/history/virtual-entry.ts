import type { ApiObject } from '../api/object-meta.ts';
import type {
  Blame,
  Explanation,
  Revision as RevisionObject,
  Timeline,
} from '../api/types/history/v1alpha1.ts';
import { toStoredJson } from '../codec/stored-object.ts';
import { CachedEntry } from '../storage/cached-entry.ts';
import type { Revision } from '../storage/revision.ts';
import type { Entry } from '../storage/store.ts';

type Fields = Readonly<Record<string, string>>;

type VirtualObject = Blame | Explanation | RevisionObject | Timeline;

/** Makes the entry of a virtual object: one that was computed for one client, and is not stored. */
export function toVirtualEntry(
  virtual: VirtualObject | ApiObject,
  revision: Revision,
  fields: Fields = {},
): Entry {
  // Includes kind and metadata, which are optional only in the types of the API.
  const object = virtual as ApiObject;
  const name = object.metadata.name ?? '';
  const key = { group: '', resource: '', namespace: '', name };
  const stored = { key, revision, uid: '', json: toStoredJson(object) };
  return new CachedEntry(stored, () => ({ ...fields }));
}

/** RFC 3339 in whole seconds, as timestamps of objects are. */
export const toSeconds = (at: string): string => `${at.slice(0, 19)}Z`;
