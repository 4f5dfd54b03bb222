import { parseStored, readMetadataField } from '../../codec/stored-object.ts';
import { objectOf, stringOf } from '../../object/json-values.ts';
import type { Registry } from '../../registry/registry.ts';
import type { Caller } from '../../request/api-request.ts';
import type { History, LoggedRevision } from '../../storage/history.ts';
import type { ObjectKey } from '../../storage/key.ts';
import { type Revision, toRevision } from '../../storage/revision.ts';
import type { Entry, Store } from '../../storage/store.ts';
import { Pace } from '../../util/turns.ts';

/** An object, its dependents at all levels, past and present, and the Events about all of them. */
export interface Family {
  readonly root: ObjectKey;
  readonly uids: ReadonlySet<string>;
  readonly events: ReadonlySet<string>;
  readonly objects: readonly ObjectKey[];
}

interface FamilyParts {
  readonly store: Store;
  readonly registry: Registry;
  readonly history: History;
  readonly range: { readonly after?: Revision; readonly upTo: Revision };
  readonly caller: Caller;
}

interface Member {
  readonly key: ObjectKey;
  readonly uid: string;
  readonly owners: readonly string[];
}

/** Most deleted objects of the namespace to search, newest first. */
const MAX_DELETED = 5000;
/** Most objects of a family; later ones are left out. */
const MAX_OBJECTS = 2000;
/** Where the Events of objects without a namespace are. */
const DEFAULT = 'default';

export const isEvent = ({ group, resource }: Pick<ObjectKey, 'group' | 'resource'>): boolean =>
  group === '' && resource === 'events';

/** Undefined: no such object existed within the history that is kept. */
export async function findFamily(root: ObjectKey, parts: FamilyParts): Promise<Family | undefined> {
  const found = new Map<string, Member>();
  const events: Member[] = [];
  const add = (member: Member): void =>
    void (isEvent(member.key) ? events.push(member) : found.set(member.uid, member));
  const uids = await uidsOf(root, parts);
  if (uids.size === 0) return undefined;
  for await (const member of live(root, parts)) add(member);
  for await (const member of deleted(root, parts)) add(member);
  const objects = [root];
  for (let grows = true; grows; ) {
    grows = false;
    for (const { key, uid, owners } of found.values()) {
      if (uids.has(uid) || !owners.some((owner) => uids.has(owner))) continue;
      uids.add(uid);
      objects.push(key);
      grows = true;
    }
  }
  const about = events.filter(({ owners }) => owners.some((owner) => uids.has(owner)));
  return {
    root,
    uids,
    events: new Set(about.map(({ uid }) => uid)),
    objects: [...objects, ...about.map(({ key }) => key)].slice(0, MAX_OBJECTS),
  };
}

/** An object that was deleted and created again has several uids. */
async function uidsOf(key: ObjectKey, { store, history, range, caller }: FamilyParts): Promise<Set<string>> {
  const uids = new Set<string>();
  const now = await store.get(key, { kind: 'any' }, caller);
  if (now !== undefined) uids.add(now.uid);
  const page = await history.rows({
    objects: [key],
    ...range,
    order: 'newest first',
    states: 'none',
    limit: 1000,
  });
  for (const { uid } of page.rows) uids.add(uid);
  return uids;
}

/** Live objects that may belong to the family. */
async function* live(root: ObjectKey, { store, registry, caller }: FamilyParts): AsyncGenerator<Member> {
  const pace = new Pace({ stepsBetween: 8 });
  for (const { namespaced, storage, verbs } of registry.storages()) {
    const isEvents = isEvent(storage);
    if (!verbs.includes('list') || !verbs.includes('delete')) continue;
    if (!isEvents && namespaced !== (root.namespace !== '')) continue;
    const namespace = root.namespace !== '' ? root.namespace : isEvents ? DEFAULT : '';
    const { group, resource } = storage;
    const { entries } = await store.list({
      resource: { group, resource },
      scope: { namespace },
      freshness: { kind: 'any' },
      limit: 0,
      caller,
      around: true,
    });
    for (const entry of entries) {
      if (pace.isOver()) await pace.rest();
      const owners = isEvents ? subjectOf(entry) : entry.ownerUids;
      if (owners.length > 0)
        yield { key: { group, resource, namespace, name: entry.name }, uid: entry.uid, owners };
    }
  }
}

const subjectOf = ({ fields }: Entry): readonly string[] => {
  const uid = fields['involvedObject.uid'] ?? '';
  return uid === '' ? [] : [uid];
};

/** Deleted objects that may belong to it. */
async function* deleted(root: ObjectKey, { history, range }: FamilyParts): AsyncGenerator<Member> {
  const pace = new Pace({ stepsBetween: 8 });
  let { upTo } = range;
  for (let looked = 0; looked < MAX_DELETED; ) {
    const page = await history.rows({
      ...range,
      upTo,
      namespace: root.namespace,
      verb: 'delete',
      order: 'newest first',
      states: 'written',
      limit: 500,
    });
    for (const row of page.rows) {
      if (pace.isOver()) await pace.rest();
      const owners = ownersIn(row);
      if (owners.length > 0) yield { key: row.key, uid: row.uid, owners };
    }
    looked += Math.max(page.rows.length, 1);
    if (page.next === undefined) return;
    upTo = toRevision(page.next - 1n);
  }
}

function ownersIn({ key, json, unreadable }: LoggedRevision): readonly string[] {
  if (unreadable !== undefined) return [];
  if (isEvent(key)) {
    const uid = stringOf(objectOf(parseStored(json).involvedObject).uid);
    return uid === '' ? [] : [uid];
  }
  const text = readMetadataField(json, 'ownerReferences');
  if (text === undefined) return [];
  const owners = (JSON.parse(text) ?? []) as readonly { uid?: string }[];
  return owners.flatMap(({ uid }) => (uid === undefined ? [] : [uid]));
}
