import type { GroupResource } from '../../api/names.ts';
import { runTogether } from '../../util/concurrency.ts';
import { aborted } from '../../util/pause.ts';
import type { PortCalls } from '../../util/port-calls.ts';
import type { Allocations } from '../allocations.ts';
import { StorageError } from '../errors.ts';
import type { History } from '../history.ts';
import type { Revision } from '../revision.ts';
import type {
  Change,
  ChangeFeed,
  ChangeSink,
  Committer,
  PackedObjects,
  RevisionLog,
  RevisionReader,
  StoredObject,
} from '../revision-log.ts';
import type { LogHearing, LogService } from './log-contract.ts';

interface Loading {
  readonly begin: (revision: Revision) => void;
  readonly batch: (objects: readonly StoredObject[]) => void;
  /** What the caller threw. */
  failure: unknown;
}

interface Following {
  readonly sink: ChangeSink;
  /** Rejects the run of the feed. */
  readonly fail: (error: unknown) => void;
  floor: Revision;
  isResetting: boolean;
}

/**
 * LogClient is the log in a serving thread: another thread follows the database, and sends the state and its changes (LogHost). Changes
 * carry the number of the load that they follow, and wait here while that load arrives. A load whose history ends before it has arrived is
 * begun again.
 */
export class LogClient implements RevisionLog {
  readonly committer: Committer;
  readonly feed: ChangeFeed;
  readonly reader: RevisionReader;
  readonly history: History;
  readonly allocations: Pick<Allocations, 'held' | 'holder'>;
  readonly #calls: () => PortCalls<LogHearing, LogService>;
  #load = 0;
  #loading: Loading | undefined;
  #following: Following | undefined;
  /** Changes that came before they can be applied. */
  #waiting: (readonly Change[] | PackedObjects)[] = [];
  /** Why the history of the load is over, until the sink hears of it. */
  #over: 'compacted' | 'rewound' | undefined;

  constructor(calls: () => PortCalls<LogHearing, LogService>) {
    this.#calls = calls;
    this.committer = {
      commit: async ({ caller, ...write }) => {
        if (caller?.aborted === true) throw new StorageError({ kind: 'abandoned' });
        return calls().call('commit', write, caller);
      },
    };
    this.feed = {
      run: (from, sink, signal) => this.#run(from, sink, signal),
      hurry: () => calls().tell('hurry', undefined),
    };
    this.reader = {
      currentRevision: (reads = 1) => calls().call('currentRevision', reads),
      compactedRevision: (resource) => calls().call('compactedRevision', resource),
      get: (key) => calls().call('get', key),
      listAt: (query) => calls().call('listAt', query),
      changesBetween: (query) => calls().call('changesBetween', query),
      loadCurrent: (begin, batch) => this.#loadCurrent(begin, batch),
    };
    this.history = {
      revisionAt: (moment) => calls().call('revisionAt', moment),
      begin: () => calls().call('begin', undefined),
      newest: () => calls().call('newest', undefined),
      rows: (query) => calls().call('rows', query),
    };
    this.allocations = {
      held: (pool) => calls().call('held', pool),
      holder: (value) => calls().call('holder', value),
    };
  }

  isOutdated(resource: GroupResource, storedAs: string | undefined): Promise<boolean> {
    return this.#calls().call('isOutdated', { resource, storedAs });
  }

  /** What this thread hears of the log. */
  get answers(): LogHearing {
    const ifLoading = (load: number, take: (loading: Loading) => void): void => {
      const loading = this.#loading;
      if (load !== this.#load || loading === undefined || loading.failure !== undefined) return;
      try {
        take(loading);
      } catch (error) {
        loading.failure = error;
      }
    };
    return {
      began: ({ load, revision }) => ifLoading(load, ({ begin }) => begin(revision)),
      objects: ({ load, objects }) => ifLoading(load, ({ batch }) => batch(objects)),
      changes: ({ load, changes }) => {
        if (load !== this.#load) return;
        this.#waiting.push(changes);
        this.#apply();
      },
      packed: ({ load, packed }) => {
        if (load !== this.#load) return;
        this.#waiting.push(packed);
        this.#apply();
      },
      over: ({ load, reason }) => {
        if (load !== this.#load) return;
        this.#over = reason;
        if (this.#loading === undefined) this.#reset();
      },
    };
  }

  /** The state is that of the other thread, which keeps the same resources. */
  async #loadCurrent(begin: Loading['begin'], batch: Loading['batch']): Promise<void> {
    const loading: Loading = { begin, batch, failure: undefined };
    this.#loading = loading;
    try {
      do {
        this.#load += 1;
        this.#waiting = [];
        this.#over = undefined;
        await this.#calls().call('load', this.#load);
        if (loading.failure !== undefined) throw loading.failure;
      } while (this.#over !== undefined);
    } finally {
      this.#loading = undefined;
    }
  }

  async #run(from: Revision, sink: ChangeSink, signal: AbortSignal): Promise<void> {
    const broken = Promise.withResolvers<never>();
    broken.promise.catch(() => {});
    this.#following = { sink, fail: broken.reject, floor: from, isResetting: false };
    try {
      if (this.#over === undefined) this.#apply();
      else this.#reset();
      await runTogether([(either) => Promise.race([aborted(either), broken.promise])], signal);
    } finally {
      this.#following = undefined;
    }
  }

  #apply(): void {
    const following = this.#following;
    if (following === undefined || following.isResetting) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    try {
      for (const changes of waiting) {
        if (!isChanges(changes)) {
          following.sink.pack?.(changes);
          continue;
        }
        const fresh = changes.filter(({ revision }) => revision > following.floor);
        if (fresh.length > 0) following.sink.apply(fresh);
      }
    } catch (error) {
      following.fail(error);
    }
  }

  #reset(): void {
    const following = this.#following;
    const reason = this.#over;
    if (following === undefined || following.isResetting || reason === undefined) return;
    following.isResetting = true;
    following.sink.reset(reason).then((floor) => {
      following.floor = floor;
      following.isResetting = false;
      if (this.#over === undefined) this.#apply();
      else this.#reset();
    }, following.fail);
  }
}

const isChanges = (some: readonly Change[] | PackedObjects): some is readonly Change[] => Array.isArray(some);
