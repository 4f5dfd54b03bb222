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

/** An object that was made for one client, in the place of a stored one. */
export function toEntry(told: Told | ApiObject, revision: Revision, fields: Fields = {}): Entry {
  // With its kind and metadata, which are optional in the types of the API alone.
  const object = told as ApiObject;
  const name = object.metadata.name ?? '';
  const key = { group: '', resource: '', namespace: '', name };
  const stored = { key, revision, uid: '', json: toStoredJson(object) };
  return new CachedEntry(stored, () => ({ ...fields }));
}
