import type { GroupResource } from '../../api/names.ts';
import { CachedEntry, type FieldReader } from '../cached-entry.ts';
import { toPosition } from '../key.ts';
import type { Revision } from '../revision.ts';
import type { Change, StoredObject } from '../revision-log.ts';
import type { Entry } from '../store.ts';
import { AppliedChange } from './applied-change.ts';
import { CountedTree } from './counted-tree.ts';
import { FieldIndex } from './field-index.ts';
import { type ChangeListener, Listeners } from './listeners.ts';
import { RecentChanges } from './recent-changes.ts';
import type { RecentEncodings } from './recent-encodings.ts';
import type { FedResource } from './watched-resource.ts';

export type EntryTree = CountedTree<Entry>;

/** A state of a resource that changes no more. */
export interface Snapshot {
  readonly revision: Revision;
  readonly tree: EntryTree;
}

/** Chunked lists read the state they began with. So many of them are remembered; more are served from SQL. */
const MAX_SNAPSHOTS = 16;

/** One resource: its current objects in order, its recent changes, and its watchers. */
export class ResourceCache implements FedResource {
  readonly resource: GroupResource;
  readonly recent: RecentChanges;
  readonly #readFields: FieldReader;
  readonly #encodings: RecentEncodings;
  readonly #tree: EntryTree = new CountedTree();
  readonly #indexes = new Map<string, FieldIndex>();
  readonly #snapshots: Snapshot[] = [];
  readonly #listeners = new Listeners();
  /** The last change of this resource: at any later revision it looks the same. */
  #changedAt: Revision;

  constructor(options: {
    resource: GroupResource;
    loadedAt: Revision;
    readFields: FieldReader;
    encodings: RecentEncodings;
  }) {
    const { resource, loadedAt, readFields, encodings } = options;
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
    return this.#listeners.count;
  }

  load(stored: StoredObject): void {
    this.#tree.set(toPosition(stored.key), this.toEntry(stored));
  }

  get(position: string): Entry | undefined {
    return this.#tree.get(position);
  }

  toEntry(stored: StoredObject): Entry {
    return new CachedEntry(stored, this.#readFields);
  }

  apply(change: Change): () => void {
    const position = toPosition(change.key);
    const before = this.#tree.get(position);
    const entry = this.toEntry(change);
    this.#changedAt = change.revision;
    let states: Pick<AppliedChange, 'entry' | 'previous'>;
    if (change.verb === 'delete') {
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
    return () => this.#listeners.tell(entry, (listener) => listener.offer(applied));
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
    this.#listeners.add(watcher);
  }

  removeWatcher(watcher: ChangeListener): void {
    this.#listeners.remove(watcher);
  }
}
