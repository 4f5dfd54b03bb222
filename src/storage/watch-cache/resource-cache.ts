import type { GroupResource } from '../../api/names.ts';
import { CachedEntry, type FieldReader, type IsOutdated } from '../cached-entry.ts';
import { StorageError, type UnreadableObject } from '../errors.ts';
import { type Scope, toPosition } from '../key.ts';
import type { Revision } from '../revision.ts';
import type { Change, StoredObject } from '../revision-log.ts';
import type { Entry } from '../store.ts';
import { AppliedChange } from './applied-change.ts';
import { CountedTree } from './counted-tree.ts';
import { FieldIndex } from './field-index.ts';
import { RecentChanges } from './recent-changes.ts';
import type { RecentEncodings } from './recent-encodings.ts';

export type EntryTree = CountedTree<Entry>;

/** What is told of changes within its scope (watcher.ts). */
export interface ChangeListener {
  readonly scope: Scope;
  offer(change: AppliedChange): void;
}

/** A state of a resource that changes no more. */
export interface Snapshot {
  readonly revision: Revision;
  readonly tree: EntryTree;
}

/** Chunked lists read the state they began with. So many of them are remembered; more are served from SQL. */
const MAX_SNAPSHOTS = 16;

/** One resource: its current objects in order, its recent changes, and its watchers. */
export class ResourceCache {
  readonly resource: GroupResource;
  readonly recent: RecentChanges;
  readonly #readFields: FieldReader;
  readonly #encodings: RecentEncodings;
  readonly #isOutdated: IsOutdated | undefined;
  /** What is there and cannot be read, by position: with the last state that could be. */
  readonly #unreadable = new Map<string, UnreadableEntry>();
  readonly #tree: EntryTree = new CountedTree();
  readonly #indexes = new Map<string, FieldIndex>();
  readonly #snapshots: Snapshot[] = [];
  readonly #everywhere = new Set<ChangeListener>();
  readonly #byNamespace = new Map<string, Set<ChangeListener>>();
  readonly #byName = new Map<string, Set<ChangeListener>>();
  /** The last change of this resource: at any later revision it looks the same. */
  #changedAt: Revision;

  constructor(options: {
    resource: GroupResource;
    loadedAt: Revision;
    readFields: FieldReader;
    encodings: RecentEncodings;
    isOutdated?: IsOutdated;
  }) {
    const { resource, loadedAt, readFields, encodings } = options;
    this.#isOutdated = options.isOutdated;
    this.resource = resource;
    this.#readFields = readFields;
    this.#encodings = encodings;
    this.recent = new RecentChanges(loadedAt);
    this.#changedAt = loadedAt;
  }

  get size(): number {
    return this.#tree.size;
  }

  get watchers(): number {
    let count = this.#everywhere.size;
    for (const set of this.#byNamespace.values()) count += set.size;
    for (const set of this.#byName.values()) count += set.size;
    return count;
  }

  load(stored: StoredObject): void {
    const position = toPosition(stored.key);
    const { unreadable: reason } = stored;
    if (reason === undefined) this.#tree.set(position, this.toEntry(stored));
    else this.#unreadable.set(position, { ...stored, reason, last: undefined });
  }

  /** @throws StorageError unreadable */
  get(position: string): Entry | undefined {
    const unreadable = this.#unreadable.get(position);
    if (unreadable !== undefined) throw new StorageError({ kind: 'unreadable', objects: [unreadable] });
    return this.#tree.get(position);
  }

  /** @throws StorageError unreadable, when something within the scope is */
  assertReadable({ namespace, name }: Scope): void {
    if (this.#unreadable.size === 0) return;
    const objects = [...this.#unreadable.values()].filter(
      ({ key }) =>
        (namespace === undefined || key.namespace === namespace) && (name === undefined || key.name === name),
    );
    if (objects.length > 0) throw new StorageError({ kind: 'unreadable', objects });
  }

  get unreadable(): number {
    return this.#unreadable.size;
  }

  toEntry(stored: StoredObject): Entry {
    return new CachedEntry(stored, this.#readFields, this.#isOutdated);
  }

  apply(change: Change): AppliedChange {
    const position = toPosition(change.key);
    const known = this.#unreadable.get(position);
    const before = known === undefined ? this.#tree.get(position) : known.last;
    this.#unreadable.delete(position);
    const { unreadable: reason } = change;
    // Of a deletion, the state before it will do.
    const entry = reason === undefined ? this.toEntry(change) : before;
    this.#changedAt = change.revision;
    let states: Pick<AppliedChange, 'entry' | 'previous'>;
    if (reason !== undefined && change.verb !== 'delete') {
      // Nobody is told: what watchers know last was true, and what is true now nobody can say.
      this.#tree.delete(position);
      this.#unreadable.set(position, { ...change, reason, last: before });
      states = { entry: undefined, previous: undefined };
    } else if (change.verb === 'delete' || entry === undefined) {
      this.#tree.delete(position);
      // The log's row has the last state, which may be newer than the one before it: deletion timestamps are set with it.
      states = { entry: undefined, previous: entry };
    } else {
      this.#tree.set(position, entry);
      states = { entry, previous: change.verb === 'create' ? undefined : before };
    }
    for (const [field, index] of this.#indexes) {
      if (!index.noteChange(position)) this.#indexes.delete(field);
    }
    const applied = new AppliedChange({ revision: change.revision, ...states }, this.#encodings);
    this.recent.push(applied);
    return applied;
  }

  /** The index of a field, up to date when this resolves; to be used in that same turn. */
  async indexOf(field: string): Promise<FieldIndex> {
    for (;;) {
      let index = this.#indexes.get(field);
      if (index === undefined) {
        index = new FieldIndex(field, this.#tree);
        this.#indexes.set(field, index);
      }
      await index.filled();
      if (this.#indexes.get(field) === index) return index;
    }
  }

  /** The current state, for as long as the caller likes. Taking it costs the same however many objects there are. */
  snapshot(applied: Revision): Snapshot {
    return { revision: applied, tree: this.#tree.clone() };
  }

  /** The state at an earlier revision, when memory still has it. */
  snapshotAt(revision: Revision, applied: Revision): Snapshot | undefined {
    if (revision <= applied && revision >= this.#changedAt) return { revision, tree: this.#tree.clone() };
    return this.#snapshots.find((snapshot) => snapshot.revision === revision);
  }

  /** Keeps a state for the later chunks of a list. */
  remember(snapshot: Snapshot): void {
    if (this.#snapshots.some(({ revision }) => revision === snapshot.revision)) return;
    this.#snapshots.push({ revision: snapshot.revision, tree: snapshot.tree.clone() });
    if (this.#snapshots.length > MAX_SNAPSHOTS) this.#snapshots.shift();
  }

  addWatcher(watcher: ChangeListener): void {
    this.#setFor(watcher.scope).add(watcher);
  }

  removeWatcher(watcher: ChangeListener): void {
    const { namespace, name } = watcher.scope;
    const set = this.#setFor(watcher.scope);
    set.delete(watcher);
    if (set.size > 0 || set === this.#everywhere) return;
    if (name === undefined) this.#byNamespace.delete(namespace ?? '');
    else this.#byName.delete(toNameKey(watcher.scope));
  }

  /** Tells the watchers whose scope contains the object: of a thousand that watch one object each, one is called. */
  dispatch(change: AppliedChange): void {
    const object = change.entry ?? change.previous;
    if (object === undefined) return;
    for (const watcher of this.#everywhere) watcher.offer(change);
    const { namespace, name } = object;
    for (const watcher of this.#byNamespace.get(namespace) ?? []) watcher.offer(change);
    for (const watcher of this.#byName.get(toNameKey({ namespace, name })) ?? []) watcher.offer(change);
    if (namespace === '') return;
    for (const watcher of this.#byName.get(toNameKey({ name })) ?? []) watcher.offer(change);
  }

  #setFor(scope: Scope): Set<ChangeListener> {
    if (scope.name !== undefined) return getOrAdd(this.#byName, toNameKey(scope));
    return scope.namespace === undefined ? this.#everywhere : getOrAdd(this.#byNamespace, scope.namespace);
  }
}

interface UnreadableEntry extends UnreadableObject {
  readonly last: Entry | undefined;
}

function getOrAdd(map: Map<string, Set<ChangeListener>>, key: string): Set<ChangeListener> {
  let set = map.get(key);
  if (set === undefined) {
    set = new Set();
    map.set(key, set);
  }
  return set;
}

/** Without a namespace: that name in any of them, which is also how cluster-scoped objects are watched. */
const toNameKey = ({ namespace, name }: Scope): string => `${namespace ?? ''}\0${name ?? ''}`;
