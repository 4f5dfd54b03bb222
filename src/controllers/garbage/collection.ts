import type { ApiObject, OwnerReference } from '../../api/object-meta.ts';
import { toResourceVersion } from '../../storage/revision.ts';
import { Pace } from '../../util/turns.ts';
import type { Client, RemoveOptions } from '../../verbs/client/client.ts';
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from '../../verbs/writing/deletion.ts';
import type { Kinds, Stored } from './followed-kinds.ts';
import type { Graph, Node, Place } from './graph.ts';
import type { OwnerSearch } from './owner-search.ts';
import { type Reference, readFinalizers } from './ownership.ts';

interface CollectionParts {
  readonly client: Client;
  readonly graph: Graph;
  readonly kinds: Kinds;
  readonly search: OwnerSearch;
  /** Reports that a node may need work. */
  readonly due: (node: Node) => void;
  /** Whether the graph is as new as the cache. */
  readonly isCurrent: () => boolean;
}

type Outcome = 'done' | 'again';

const SWEEP_FROM = 1000;

/**
 * Decides about one due object (Kubernetes: pkg/controller/garbagecollector, attemptToDeleteItem and attemptToOrphanWorker).
 * The graph proposes the step; the commit checks it, because it expects the object in the state that was examined. A gone owner
 * never returns, so a deletion for lack of owners is right whenever it is committed, and two collectors at once do no harm.
 */
export class Collection {
  readonly #parts: CollectionParts;
  /** Objects that must wait until other kinds are served. */
  readonly #undecided = new Set<Node>();
  /** The size at which nodes that are gone are removed from it. */
  #sweepAt = SWEEP_FROM;

  constructor(parts: CollectionParts) {
    this.#parts = parts;
  }

  /** Re-examines waiting objects: other kinds are served now. */
  reconsider(): void {
    const nodes = [...this.#undecided];
    this.#undecided.clear();
    for (const node of nodes) {
      node.isPostponed = false;
      this.#parts.due(node);
    }
  }

  /** @throws StatusError, StorageError */
  async work(node: Node): Promise<Outcome> {
    const { graph, due } = this.#parts;
    if (graph.find(node.uid) !== node) return 'done';
    if (node.spreads) {
      node.spreads = false;
      await eachInTurns(node.dependents ?? [], due);
    }
    if (node.isGone) return 'done';
    if (node.place === undefined) return this.#locate(node);
    switch (node.ending) {
      case 'no':
        return this.#collect(node, node.place);
      case 'yes':
        return 'done';
      case 'orphan':
        return this.#orphan(node, node.place);
      case 'foreground':
        return this.#finish(node, node.place);
      default:
        return node.ending satisfies never;
    }
  }

  /** Searches an unseen owner where its dependents place it. */
  async #locate(owner: Node): Promise<Outcome> {
    const { search, graph } = this.#parts;
    const pace = new Pace();
    const searched = new Set<Stored>();
    for (const [dependent, reference] of referencesTo(owner)) {
      if (pace.isOver()) await pace.rest();
      if (owner.place !== undefined || owner.isGone) break;
      if (graph.standingOf(dependent, reference) === 'dangling') continue;
      const where = graph.whereIs(dependent, reference);
      if (where?.place !== undefined) {
        await search.lookFor(owner, where.place);
        continue;
      }
      this.#postpone(owner);
      if (where === undefined || searched.has(where.resource)) continue;
      searched.add(where.resource);
      await search.everywhere(owner, where.resource);
    }
    return 'done';
  }

  /** Deletes an object when all of its owners are gone. */
  async #collect(node: Node, place: Place): Promise<Outcome> {
    const { client, graph } = this.#parts;
    for (const reference of node.references) {
      if (graph.standingOf(node, reference) !== 'unknown') continue;
      const owner = graph.find(reference.uid);
      if (owner !== undefined) await this.#locate(owner);
    }
    const entry = await client.entry(place.resource, place, 'cached');
    if (entry?.uid !== node.uid || node.ending !== 'no' || node.references.length === 0) return 'done';
    const standings = node.references.map((reference) => graph.standingOf(node, reference));
    if (standings.includes('undecided') || !this.#canWrite(node)) {
      this.#postpone(node);
      return 'done';
    }
    if (standings.includes('unknown')) return 'again';
    if (standings.includes('solid')) return this.#leaveOthers(node, place);
    return this.#remove(node, place, {
      resourceVersion: toResourceVersion(entry.revision),
      propagationPolicy: policyOf(entry.json, standings.includes('waiting') && node.dependents !== undefined),
    });
  }

  async #remove(node: Node, place: Place, options: RemoveOptions): Promise<Outcome> {
    const { resource, ...name } = place;
    const removed = await this.#parts.client.remove(resource, name, { ...options, uid: node.uid });
    return removed === 'conflict' ? 'again' : 'done';
  }

  /** Keeps an object that has an owner. Removes references to owners that are gone or wait for it. */
  async #leaveOthers(node: Node, place: Place): Promise<Outcome> {
    const { graph } = this.#parts;
    const left = node.references.filter((reference) => graph.standingOf(node, reference) !== 'solid');
    if (left.length > 0) await this.#forget(node, place, (owner) => left.some((one) => isIt(one, owner)));
    return 'done';
  }

  /** Removes references from an object. */
  async #forget({ uid }: Node, place: Place, isLost: (owner: OwnerReference) => boolean): Promise<void> {
    await this.#change(uid, place, (object) => {
      const { ownerReferences, ...metadata } = object.metadata;
      const kept = (ownerReferences ?? []).filter((owner) => !isLost(owner));
      return { ...object, metadata: { ...metadata, ...(kept.length > 0 ? { ownerReferences: kept } : {}) } };
    });
  }

  /** Removes an owner from its dependents, then removes its finalizer. */
  async #orphan(owner: Node, place: Place): Promise<Outcome> {
    if (!this.#canWrite(owner)) return 'done';
    // Writes reach the graph later. New dependents are released in the next round.
    const released = new Set<Node>();
    for (let count = -1; count !== released.size; ) {
      count = released.size;
      await this.#releaseAll(owner, released);
    }
    return this.#removeFinalizer(owner, place, ORPHAN_FINALIZER);
  }

  async #releaseAll(owner: Node, released: Set<Node>): Promise<void> {
    const dependents = new Set(owner.dependents).values();
    const workers = Array.from({ length: RELEASED_TOGETHER }, async () => {
      for (const dependent of dependents) {
        if (released.has(dependent) || dependent.place === undefined) continue;
        await this.#forget(dependent, dependent.place, ({ uid }) => uid === owner.uid);
        released.add(dependent);
      }
    });
    await allSettled(workers);
  }

  /** Removes the finalizer of a foreground deletion, once nothing blocks it. */
  async #finish(node: Node, place: Place): Promise<Outcome> {
    if (!this.#canWrite(node)) return 'done';
    if (node.blockers === 0) return this.#removeFinalizer(node, place, FOREGROUND_FINALIZER);
    if (await this.#parts.graph.waitsForItself(node)) await this.#unblock(node.uid, place);
    return 'done';
  }

  /** Makes a dependent block none of its owners. */
  async #unblock(uid: string, place: Place): Promise<void> {
    await this.#change(uid, place, (object) => {
      const references = object.metadata.ownerReferences ?? [];
      const ownerReferences = references.map((reference) => ({ ...reference, blockOwnerDeletion: false }));
      return { ...object, metadata: { ...object.metadata, ownerReferences } };
    });
  }

  async #removeFinalizer(node: Node, place: Place, finalizer: string): Promise<Outcome> {
    await this.#change(node.uid, place, (object) => {
      const { finalizers, ...metadata } = object.metadata;
      const kept = (finalizers ?? []).filter((name) => name !== finalizer);
      return { ...object, metadata: { ...metadata, ...(kept.length > 0 ? { finalizers: kept } : {}) } };
    });
    return 'done';
  }

  /** Changes only the object with this uid. One that is gone needs no change. */
  async #change(uid: string, place: Place, change: (object: ApiObject) => ApiObject): Promise<void> {
    const { resource, ...name } = place;
    await this.#parts.client.update<ApiObject>(resource, name, (copy) => {
      // A graph that is no longer updated may lack new dependents: it must not release an owner.
      return copy.metadata.uid === uid && this.#parts.isCurrent() ? change(copy) : copy;
    });
  }

  /** Waits until other kinds are served. */
  #postpone(node: Node): void {
    node.isPostponed = true;
    this.#undecided.add(node);
    if (this.#undecided.size < this.#sweepAt) return;
    const { graph } = this.#parts;
    for (const one of this.#undecided) if (graph.find(one.uid) !== one) this.#undecided.delete(one);
    this.#sweepAt = Math.max(SWEEP_FROM, 2 * this.#undecided.size);
  }

  /** Whether the object can be written: only those of served kinds can. */
  #canWrite(node: Node): boolean {
    const { kinds } = this.#parts;
    if (node.place === undefined || kinds.isServed(node.place.resource)) return true;
    this.#postpone(node);
    return false;
  }
}

/** Dependents written and committed together. All dependents of an owner are one item in the queue. */
const RELEASED_TOGETHER = 128;

/** The propagation policy, as the object's own finalizers demand. */
function policyOf(json: Buffer, inForeground: boolean): NonNullable<RemoveOptions['propagationPolicy']> {
  if (inForeground) return 'Foreground';
  const finalizers = readFinalizers(json);
  if (finalizers.includes(ORPHAN_FINALIZER)) return 'Orphan';
  return finalizers.includes(FOREGROUND_FINALIZER) ? 'Foreground' : 'Background';
}

function* referencesTo(owner: Node): Iterable<[Node, Reference]> {
  for (const dependent of owner.dependents ?? []) {
    for (const reference of dependent.references)
      if (reference.uid === owner.uid) yield [dependent, reference];
  }
}

/** Whether the references are equal: two with the same uid may name different objects, and one be wrong. */
const isIt = (reference: Reference, { uid, apiVersion, kind, name }: OwnerReference): boolean =>
  reference.uid === uid &&
  reference.apiVersion === apiVersion &&
  reference.kind === kind &&
  reference.name === name;

async function eachInTurns<Item>(items: Iterable<Item>, take: (item: Item) => void): Promise<void> {
  const pace = new Pace();
  for (const item of items) {
    if (pace.isOver()) await pace.rest();
    take(item);
  }
}

/** Waits for all promises. @throws the first failure */
async function allSettled(work: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(work)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}
