import { toQualifiedResource } from '../../api/names.ts';
import type { Registry } from '../../registry/registry.ts';
import type { UserInfo } from '../../request/api-request.ts';
import { followAnew } from '../../storage/follower.ts';
import type { Entry, WatchEvent } from '../../storage/store.ts';
import { type AlsoRun, runTogether } from '../../util/concurrency.ts';
import type { Backoff } from '../../util/pause.ts';
import type { Client } from '../../verbs/client/client.ts';
import { Collection } from './collection.ts';
import { Kinds, type Stored } from './followed-kinds.ts';
import { ForeignOwners } from './foreign-owners.ts';
import { Graph, type Node } from './graph.ts';
import { OwnerSearch } from './owner-search.ts';
import { type Reference, readOwnership } from './ownership.ts';
import { WorkQueue } from './work-queue.ts';

const NAME = 'generic-garbage-collector';
const ACCOUNTS = 'system:serviceaccounts';

/** The user that admission sees: Kubernetes' policies permit this account deletions that they deny to all others. */
const COLLECTOR: UserInfo = {
  username: `system:serviceaccount:kube-system:${NAME}`,
  uid: '',
  groups: [ACCOUNTS, `${ACCOUNTS}:kube-system`, 'system:authenticated'],
  extra: {},
};

/**
 * Concurrent deletions. They share commits, so that more are faster, up to the size of a committer's batch; but all that share
 * a commit continue in one turn of the event loop.
 */
const AT_ONCE = 128;

/** Many objects own events, and no event owns anything that outlives it: the graph tracks only events that are owners. */
const EVENTS = 'events';

/** A refusal, for example by a webhook, may last. */
const REFUSED: Backoff = { firstMs: 100, longestMs: 300_000 };
/** A database outage ends soon: short pauses let the collector resume without delay. */
const OUTAGE: Backoff = { firstMs: 100, longestMs: 10_000 };

interface GarbageCollectorOptions {
  readonly client: Client;
  readonly registry: Registry;
  readonly now: () => Date;
  /** Whether an error is temporary. */
  readonly isOutage: (error: unknown) => boolean;
  /** `object`: the object that failed. */
  readonly onError: (error: unknown, object: string) => void;
}

/** What metrics show. */
export interface GarbageCollectorState {
  /** The graph is complete, and objects are collected. */
  readonly isFollowing: boolean;
  /** Objects that have owners, or are owners. */
  readonly nodes: number;
  /** Objects in the queue. */
  readonly depth: number;
  /** Includes active objects, and those that wait for another attempt. */
  readonly unfinished: number;
  readonly added: number;
  readonly retried: number;
  readonly failed: number;
}

const NOTHING = { isFollowing: false, nodes: 0, depth: 0, unfinished: 0, added: 0, retried: 0 };

/**
 * Deletes objects whose owners are gone, and removes the finalizers of owners whose dependents were deleted or orphaned
 * (Kubernetes: pkg/controller/garbagecollector). It follows the watch cache, and rebuilds its state from it when it begins, so
 * that it can be stopped at any moment. Several may run at the same time, also that of a controller manager: each deletes an
 * object only in the state that it has seen, and the later ones find nothing left to do.
 */
export class GarbageCollector {
  readonly #options: GarbageCollectorOptions;
  readonly #client: Client;
  #failed = 0;
  #run: Run | undefined;

  constructor(options: GarbageCollectorOptions) {
    this.#options = options;
    this.#client = options.client.as(NAME, { user: COLLECTOR });
  }

  get state(): GarbageCollectorState {
    return { ...(this.#run?.state ?? NOTHING), failed: this.#failed };
  }

  /** Runs until the signal aborts. @throws StorageError when following fails; may be called again */
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

/** Collects from one complete read of the cluster to the next. */
class Run {
  readonly #client: Client;
  readonly #registry: Registry;
  readonly #kinds: Kinds;
  readonly #graph: Graph;
  readonly #queue: WorkQueue<Node>;
  readonly #collection: Collection;
  readonly #foreign: ForeignOwners;
  #isFollowing = false;
  /** Ends the following of each resource. */
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
        // Until its objects are followed, their deletions would go unnoticed.
        return { ...target, isServed: false };
      },
      due,
      onForeign: (dependent, reference) => this.#tell(dependent, reference),
    });
    this.#foreign = new ForeignOwners({ ...options, onError: (error) => onError(error, 'an event') });
    const observe = (resource: Stored, entry: Entry): void => this.#observe(resource, entry);
    const search = new OwnerSearch({ client, graph: this.#graph, observe });
    this.#collection = new Collection({
      ...{ client, graph: this.#graph, kinds: this.#kinds, search, due },
      isCurrent: () => this.#isFollowing,
    });
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

  /** @throws StorageError compacted when everything must be read again */
  async until(signal: AbortSignal): Promise<void> {
    await runTogether([(either, also) => this.#followAll(either, also)], signal);
  }

  /** Decides nothing before all resources are known: the owner of the first object may come last. */
  async #followAll(signal: AbortSignal, also: AlsoRun): Promise<void> {
    let changed = Promise.withResolvers<void>();
    const stop = this.#registry.onChange(() => changed.resolve());
    const end = (): void => {
      this.#isFollowing = false;
      changed.resolve();
    };
    signal.addEventListener('abort', end, { once: true });
    try {
      await this.#followNew(signal, also);
      this.#isFollowing = !signal.aborted;
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

  /** Follows one resource after the other, because each reads all of its objects. */
  async #followNew(signal: AbortSignal, also: AlsoRun): Promise<void> {
    for (const resource of this.#kinds.collected()) {
      if (!signal.aborted && !this.#followed.has(resource)) await this.#follow(resource, also);
    }
  }

  /** Resolves when the existing objects are known, or following has ended. */
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

  /** Stops following resources that are not served any more and have no objects. */
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
