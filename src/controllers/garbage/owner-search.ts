import type { Entry } from '../../storage/store.ts';
import { Pace } from '../../util/concurrency.ts';
import type { Client } from '../../verbs/client/client.ts';
import type { Graph, Node, Place } from './graph.ts';
import type { Stored } from './kinds.ts';

export interface OwnerSearchParts {
  readonly client: Client;
  readonly graph: Graph;
  /** Tells the graph of an object. */
  readonly observe: (resource: Stored, entry: Entry) => void;
}

/** Finds owners that have no owners themselves, and so came to the graph as nothing but a uid. */
export class OwnerSearch {
  readonly #parts: OwnerSearchParts;
  /** The look through a resource that has not begun yet. */
  readonly #next = new Map<Stored, Promise<void>>();
  readonly #running = new Map<Stored, Promise<void>>();

  constructor(parts: OwnerSearchParts) {
    this.#parts = parts;
  }

  /** Where a dependent says that it is. That it is not there is asked of the database. @throws StorageError */
  async lookFor(owner: Node, place: Place): Promise<void> {
    const { client, graph, observe } = this.#parts;
    const entry = await client.entry(place.resource, place, { uid: owner.uid });
    if (isSeen(owner) || graph.find(owner.uid) !== owner) return;
    if (entry?.uid === owner.uid) {
      observe(place.resource, entry);
      return;
    }
    if (place.namespace !== '') await this.everywhere(owner, place.resource);
    if (!isSeen(owner) && graph.find(owner.uid) === owner) graph.noteAbsence(owner, place);
  }

  /**
   * In all namespaces, so that it can be said that the reference is to an object of another one. All who look for
   * something at a time look together: this passes through all objects of the resource. @throws StorageError
   */
  async everywhere(owner: Node, resource: Stored): Promise<void> {
    if (isSeen(owner)) return;
    let next = this.#next.get(resource);
    if (next === undefined) {
      const before = this.#running.get(resource) ?? Promise.resolve();
      next = before.catch(() => {}).then(() => this.#lookThrough(resource));
      this.#next.set(resource, next);
    }
    await next;
  }

  #lookThrough(resource: Stored): Promise<void> {
    const looking = this.#observeAll(resource).finally(() => this.#running.delete(resource));
    this.#next.delete(resource);
    this.#running.set(resource, looking);
    return looking;
  }

  async #observeAll(resource: Stored): Promise<void> {
    const { client, graph, observe } = this.#parts;
    const pace = new Pace();
    for (const entry of await client.entries(resource, {}, 'cached')) {
      if (pace.isOver()) await pace.rest();
      const node = graph.find(entry.uid);
      if (node !== undefined && !isSeen(node)) observe(resource, entry);
    }
  }
}

const isSeen = ({ place, isGone }: Node): boolean => place !== undefined || isGone;
