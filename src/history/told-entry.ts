import type { ApiObject } from '../api/object-meta.ts';
import { toStoredJson } from '../codec/stored-object.ts';
import { CachedEntry } from '../storage/cached-entry.ts';
import type { Revision } from '../storage/revision.ts';
import type { Entry } from '../storage/store.ts';

type Fields = Readonly<Record<string, string>>;

/** An object that was made for one client, in the place of a stored one. */
export function toEntry(object: ApiObject, revision: Revision, fields: Fields = {}): Entry {
  const name = object.metadata.name ?? '';
  const key = { group: '', resource: '', namespace: '', name };
  const stored = { key, revision, uid: '', json: toStoredJson(object) };
  return new CachedEntry(stored, () => ({ ...fields }));
}
