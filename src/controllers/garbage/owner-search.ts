import type { Entry } from '../../storage/store.ts';
import { Pace } from '../../util/turns.ts';
import type { Client } from '../../verbs/client/client.ts';
import type { Stored } from './followed-kinds.ts';
import type { Graph, Node, Place } from './graph.ts';

interface OwnerSearchParts {
  readonly client: Client;
  readonly graph: Graph;
  /** Adds an object to the graph. */
  readonly observe: (resource: Stored, entry: Entry) => void;
}

/** Searches owners without owners, of which the graph knows only the uid. */
export class OwnerSearch {
  readonly #parts: OwnerSearchParts;
  /** The next search through a resource, not yet begun. */
  readonly #next = new Map<Stored, Promise<void>>();
  readonly #running = new Map<Stored, Promise<void>>();

  constructor(parts: OwnerSearchParts) {
    this.#parts = parts;
  }

  /** Searches an owner where a dependent places it. Confirms its absence in the database. @throws StorageError */
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
   * Searches an owner in all namespaces, to detect references to other ones. Concurrent searches share one pass through all
   * objects of the resource. @throws StorageError
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
