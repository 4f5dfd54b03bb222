import { toQualifiedResource } from '../../api/names.ts';
import type { Registry } from '../../registry/registry.ts';
import type { UserInfo } from '../../request/api-request.ts';
import { followAnew } from '../../storage/follower.ts';
import type { Entry, WatchEvent } from '../../storage/store.ts';
import { type AlsoRun, runTogether } from '../../util/concurrency.ts';
import type { Backoff } from '../../util/pause.ts';
import type { Client } from '../../verbs/client/client.ts';
import { Collection } from './collection.ts';
import { ForeignOwners } from './foreign-owners.ts';
import { Graph, type Node } from './graph.ts';
import { Kinds, type Stored } from './kinds.ts';
import { OwnerSearch } from './owner-search.ts';
import { type Reference, readOwnership } from './ownership.ts';
import { WorkQueue } from './work-queue.ts';

const NAME = 'generic-garbage-collector';
const ACCOUNTS = 'system:serviceaccounts';

/** Whom admission sees: policies of Kubernetes let this account delete what they let no one else. */
const COLLECTOR: UserInfo = {
  username: `system:serviceaccount:kube-system:${NAME}`,
  uid: '',
  groups: [ACCOUNTS, `${ACCOUNTS}:kube-system`, 'system:authenticated'],
  extra: {},
};

/**
 * Deletions under way at a time. They are committed together, so that more of them are faster, up to what a batch of the
 * committer takes; but all that were committed together go on in one turn of the event loop.
 */
const AT_ONCE = 128;

/** Many objects own events, and no event owns anything that outlives it: as owners they are known, and never collected. */
const EVENTS = 'events';

/** A refusal, for example by a webhook, may last. */
const REFUSED: Backoff = { firstMs: 100, longestMs: 300_000 };
/** The database comes back, and then nobody waits for long. */
const OUTAGE: Backoff = { firstMs: 100, longestMs: 10_000 };

export interface GarbageCollectorOptions {
  readonly client: Client;
  readonly registry: Registry;
  readonly now: () => Date;
  /** Whether an error passes by itself. */
  readonly isOutage: (error: unknown) => boolean;
  /** `object`: which one it was about. */
  readonly onError: (error: unknown, object: string) => void;
}

/** What metrics show. */
export interface GarbageCollectorState {
  /** It knows all objects, and collects. */
  readonly isFollowing: boolean;
  /** Objects that have owners, or are owners. */
  readonly nodes: number;
  /** Objects that wait to be looked at. */
  readonly depth: number;
  /** Also those that are looked at, or wait for another attempt. */
  readonly unfinished: number;
  readonly added: number;
  readonly retried: number;
  readonly failed: number;
}

const NOTHING = { isFollowing: false, nodes: 0, depth: 0, unfinished: 0, added: 0, retried: 0 };

/**
 * Deletes objects whose owners are gone, and lets owners go whose dependents were deleted before them, or left to themselves
 * (Kubernetes: pkg/controller/garbagecollector). It follows the watch cache, and everything it knows is made anew from it when
 * it begins, so that it can be stopped at any moment. Several may run at the same time, also that of a controller manager:
 * each deletes an object only as it has seen it, and the later ones find nothing left to do.
 */
export class GarbageCollector {
  readonly #options: GarbageCollectorOptions;
  readonly #client: Client;
  #failed = 0;
  #run: Run | undefined;

  constructor(options: GarbageCollectorOptions) {
    this.#options = options;
    this.#client = options.client.as(NAME, 'track', COLLECTOR);
  }

  get state(): GarbageCollectorState {
    return { ...(this.#run?.state ?? NOTHING), failed: this.#failed };
  }

  /** Until the signal aborts. @throws StorageError when nothing can be followed; may be called again */
  async run(signal: AbortSignal): Promise<void> {
    await followAnew(async () => {
      this.#run = new Run({
        ...this.#options,
        client: this.#client,
        onError: (error, object) => {
          this.#failed += 1;
          this.#options.onError(error, object);
        },
      });
      await this.#run.until(signal).finally(() => {
        this.#run = undefined;
      });
    }, signal);
  }
}

/** From one state of the cluster that was read to the next. */
class Run {
  readonly #client: Client;
  readonly #registry: Registry;
  readonly #kinds: Kinds;
  readonly #graph: Graph;
  readonly #queue: WorkQueue<Node>;
  readonly #collection: Collection;
  readonly #foreign: ForeignOwners;
  #isFollowing = false;
  /** What ends the following of each resource. */
  readonly #followed = new Map<Stored, AbortController>();

  constructor(options: GarbageCollectorOptions) {
    const { client, registry, isOutage, onError } = options;
    this.#client = client;
    this.#registry = registry;
    this.#kinds = new Kinds(registry);
    const due = (node: Node): void => this.#queue.add(node);
    this.#graph = new Graph({
      find: (reference) => {
        const target = this.#kinds.find(reference);
        if (target === undefined || this.#followed.has(target.resource)) return target;
        // Before its objects are followed nobody would say that one is gone.
        return { ...target, isServed: false };
      },
      due,
      onForeign: (dependent, reference) => this.#tell(dependent, reference),
    });
    this.#foreign = new ForeignOwners({ ...options, onError: (error) => onError(error, 'an event') });
    const observe = (resource: Stored, entry: Entry): void => this.#observe(resource, entry);
    const search = new OwnerSearch({ client, graph: this.#graph, observe });
    this.#collection = new Collection({ client, graph: this.#graph, kinds: this.#kinds, search, due });
    this.#queue = new WorkQueue({
      atOnce: AT_ONCE,
      work: (node) => this.#collection.work(node),
      onError: (error, node) => {
        onError(error, describe(node));
        return isOutage(error) ? OUTAGE : REFUSED;
      },
    });
  }

  get state(): Omit<GarbageCollectorState, 'failed'> {
    const { depth, unfinished, counts } = this.#queue;
    return { isFollowing: this.#isFollowing, nodes: this.#graph.size, depth, unfinished, ...counts };
  }

  /** @throws StorageError compacted when everything is to be read again */
  async until(signal: AbortSignal): Promise<void> {
    await runTogether([(either, also) => this.#followAll(either, also)], signal);
  }

  /** Nothing is decided before all resources are known: the owner of what came first may come last. */
  async #followAll(signal: AbortSignal, also: AlsoRun): Promise<void> {
    let changed = Promise.withResolvers<void>();
    const stop = this.#registry.onChange(() => changed.resolve());
    signal.addEventListener('abort', () => changed.resolve(), { once: true });
    try {
      await this.#followNew(signal, also);
      this.#isFollowing = true;
      also((either) => this.#queue.run(either));
      also((either) => this.#foreign.run(either));
      while (!signal.aborted) {
        await changed.promise;
        changed = Promise.withResolvers();
        await this.#leaveOld();
        await this.#followNew(signal, also);
        this.#collection.reconsider();
      }
    } finally {
      stop();
    }
  }

  /** One after the other, because each reads all of its objects in turns of its own. */
  async #followNew(signal: AbortSignal, also: AlsoRun): Promise<void> {
    for (const resource of this.#kinds.collected()) {
      if (!signal.aborted && !this.#followed.has(resource)) await this.#follow(resource, also);
    }
  }

  /** Resolves when the present objects are known, or nothing more will be. */
  async #follow(resource: Stored, also: AlsoRun): Promise<void> {
    const known = Promise.withResolvers<void>();
    const end = new AbortController();
    const take = (event: WatchEvent): undefined => {
      if (event.type === 'INITIAL_EVENTS_END') known.resolve();
      else if (event.type === 'DELETED') this.#forget(resource, event.entry);
      else if (event.type !== 'BOOKMARK') this.#observe(resource, event.entry);
    };
    also((either) =>
      this.#client.follow(resource, AbortSignal.any([either, end.signal]), take).finally(known.resolve),
    );
    await known.promise;
    this.#followed.set(resource, end);
  }

  /** A resource that is not served any more and has no objects will get none. */
  async #leaveOld(): Promise<void> {
    for (const [resource, end] of this.#followed) {
      if (this.#kinds.isServed(resource)) continue;
      if ((await this.#client.entries(resource, {}, 'cached')).length > 0) continue;
      this.#followed.delete(resource);
      end.abort();
    }
  }

  #observe(resource: Stored, entry: Entry): void {
    if (resource.resource === EVENTS && resource.group === '') {
      if (this.#graph.find(entry.uid) === undefined) return;
    }
    const { namespace, name } = entry;
    this.#graph.observe(entry.uid, { resource, namespace, name }, readOwnership(entry.json));
  }

  #forget(resource: Stored, { uid, namespace, name }: Entry): void {
    this.#graph.remove(uid, { resource, namespace, name });
  }

  #tell({ uid, place }: Node, reference: Reference): void {
    if (place === undefined) return;
    this.#foreign.add({ dependent: { ...place, ...this.#kinds.headOf(place.resource), uid }, reference });
  }
}

function describe({ uid, place }: Node): string {
  if (place === undefined) return `the owner ${uid}`;
  const { resource, namespace, name } = place;
  return [toQualifiedResource(resource), namespace, name].filter((part) => part !== '').join(' ');
}
