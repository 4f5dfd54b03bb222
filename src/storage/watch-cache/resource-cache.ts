import type { GroupResource } from '../../api/names.ts';
import { CachedEntry, type FieldReader, type IsOutdated } from '../cached-entry.ts';
import { InflatedBlocks } from '../compressed-block.ts';
import { StorageError, type UnreadableObject } from '../errors.ts';
import { type Scope, toPosition } from '../key.ts';
import type { Revision } from '../revision.ts';
import type { Change, PackedObjects, StoredObject } from '../revision-log.ts';
import type { Entry, SoughtValue } from '../store.ts';
import { AppliedChange } from './applied-change.ts';
import { CountedTree } from './counted-tree.ts';
import { type ChangeListener, Listeners } from './listeners.ts';
import { RecentChanges } from './recent-changes.ts';
import type { RecentEncodings } from './recent-encodings.ts';
import type { FoundIndex } from './value-index.ts';
import { ValueIndexes } from './value-indexes.ts';
import type { FedResource } from './watched-resource.ts';

export type EntryTree = CountedTree<Entry>;

/** A state of a resource that never changes. */
export interface Snapshot {
  readonly revision: Revision;
  readonly tree: EntryTree;
}

/** States kept for the later chunks of lists; more are served from SQL. */
const MAX_SNAPSHOTS = 16;

/** One resource: its current objects in order, its recent changes, and its watchers. */
export class ResourceCache implements FedResource {
  readonly resource: GroupResource;
  readonly recent: RecentChanges;
  /** The size of the objects that came since the last compression, including those that have gone again. */
  plainBytes = 0;
  /** The size of plain and inflated objects that were let go, which the collector may not have freed yet. */
  freedBytes = 0;
  readonly #inflated = new InflatedBlocks();
  #sizeBytes = 0;
  readonly #readFields: FieldReader;
  readonly #encodings: RecentEncodings;
  readonly #isOutdated: IsOutdated | undefined;
  /** Unreadable objects by position, each with its last readable state. */
  readonly #unreadable = new Map<string, UnreadableEntry>();
  readonly #tree: EntryTree = new CountedTree();
  readonly #indexes = new ValueIndexes(this.#tree);
  readonly #snapshots: Snapshot[] = [];
  readonly #listeners = new Listeners();
  /** Revision of the last change of this resource; it looks the same at any later one. */
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
    return this.#listeners.count;
  }

  load(stored: StoredObject): void {
    const position = toPosition(stored.key);
    const { unreadable: reason } = stored;
    if (reason === undefined) this.#keep(position, this.toEntry(stored));
    else this.#unreadable.set(position, { ...stored, reason, last: undefined });
  }

  /** The size of all objects as JSON. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  #keep(position: string, entry: Entry): void {
    this.#tree.set(position, entry);
    this.#sizeBytes += entry.sizeBytes;
    this.plainBytes += entry.sizeBytes;
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
    const { packed } = stored;
    if (packed === undefined) return new CachedEntry(stored, this.#readFields, this.#isOutdated);
    const place = { block: this.#inflated.blockOf(packed.bytes), part: packed.part };
    return new CachedEntry(stored, this.#readFields, this.#isOutdated, place);
  }

  /** Inflates no longer what was not read since the last call. */
  cool(): void {
    this.freedBytes += this.#inflated.cool();
  }

  /** Takes compressed bytes for the objects that are still the same. */
  pack({ bytes, positions, revisions }: PackedObjects): void {
    const block = this.#inflated.blockOf(bytes);
    for (const [part, position] of positions.entries()) {
      const entry = this.#tree.get(position);
      if (entry instanceof CachedEntry && entry.revision === revisions[part]) {
        entry.settle(block, part);
        this.freedBytes += entry.sizeBytes;
      }
    }
  }

  apply(change: Change): () => void {
    const position = toPosition(change.key);
    const known = this.#unreadable.get(position);
    const held = this.#tree.get(position);
    const before = known === undefined ? held : known.last;
    this.#sizeBytes -= held?.sizeBytes ?? 0;
    this.#unreadable.delete(position);
    const { unreadable: reason } = change;
    // An unreadable deletion shows the state before it.
    const entry = reason === undefined ? this.toEntry(change) : before;
    this.#changedAt = change.revision;
    let states: Pick<AppliedChange, 'entry' | 'previous'>;
    if (reason !== undefined && change.verb !== 'delete') {
      // Send no event: the last known state was true, and the present one is unknown.
      this.#tree.delete(position);
      this.#unreadable.set(position, { ...change, reason, last: before });
      states = { entry: undefined, previous: undefined };
    } else if (change.verb === 'delete' || entry === undefined) {
      this.#tree.delete(position);
      // The log's row has the last state, which may be newer than the cached one: it has the deletion timestamp.
      states = { entry: undefined, previous: entry };
    } else {
      this.#keep(position, entry);
      states = { entry, previous: change.verb === 'create' ? undefined : before };
    }
    this.#indexes.noteChange(position);
    const applied = new AppliedChange({ revision: change.revision, ...states }, this.#encodings);
    this.recent.push(applied);
    return () => this.#listeners.tell(change.key, (listener) => listener.offer(applied), applied);
  }

  /** See {@link ValueIndexes.find}. */
  indexFor(sought: readonly SoughtValue[], scope: Scope): Promise<FoundIndex | undefined> {
    return this.#indexes.find(sought, scope);
  }

  /** Returns the current state, for as long as the caller likes. The cost does not depend on its size. */
  snapshot(applied: Revision): Snapshot {
    return { revision: applied, tree: this.#tree.clone() };
  }

  /** Returns the state at an earlier revision, if memory still has it. */
  snapshotAt(revision: Revision, applied: Revision): Snapshot | undefined {
    if (revision <= applied && revision >= this.#changedAt) return { revision, tree: this.#tree.clone() };
    return this.#snapshots.find((snapshot) => snapshot.revision === revision);
  }

  /** Everything that the cache holds now; it stays the same while it is read. */
  contents(): Iterable<StoredObject> {
    return storedObjects(this.resource, this.#tree.clone(), [...this.#unreadable.values()]);
  }

  /** The entries as they are at its beginning. */
  *entries(): Iterable<Entry> {
    for (const [, entry] of this.#tree.clone().entries()) yield entry;
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

function* storedObjects(
  { group, resource }: GroupResource,
  tree: EntryTree,
  unreadable: readonly UnreadableEntry[],
): Iterable<StoredObject> {
  for (const [, entry] of tree.entries()) {
    const { namespace, name, uid, revision } = entry;
    const { storedAs, packed } = entry instanceof CachedEntry ? entry : NOT_CACHED;
    const key = { group, resource, namespace, name };
    yield {
      ...{ key, uid, revision },
      ...(packed === undefined ? { json: entry.json } : { json: NOTHING, packed }),
      ...(storedAs === undefined ? {} : { storedAs }),
    };
  }
  for (const { key, uid, revision, reason } of unreadable)
    yield { ...{ key, uid, revision }, json: NOTHING, unreadable: reason };
}

const NOTHING = Buffer.alloc(0);
const NOT_CACHED = { storedAs: undefined, packed: undefined };

interface UnreadableEntry extends UnreadableObject {
  readonly last: Entry | undefined;
}
