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

type Told = Blame | Explanation | RevisionObject | Timeline;

/** Makes an entry of an object that was computed for one client rather than stored. */
export function toEntry(told: Told | ApiObject, revision: Revision, fields: Fields = {}): Entry {
  // Includes kind and metadata, which are optional only in the types of the API.
  const object = told as ApiObject;
  const name = object.metadata.name ?? '';
  const key = { group: '', resource: '', namespace: '', name };
  const stored = { key, revision, uid: '', json: toStoredJson(object) };
  return new CachedEntry(stored, () => ({ ...fields }));
}
