import type { GroupResource } from '../../api/names.ts';
import type { PortCalls } from '../../util/port-calls.ts';
import { endTurn } from '../../util/turns.ts';
import type { Allocations } from '../allocations.ts';
import type { StorageError } from '../errors.ts';
import type { History } from '../history.ts';
import type { LogFollower } from '../log-progress.ts';
import type { Revision } from '../revision.ts';
import type { Change, PackedObjects, RevisionLog, StoredObject } from '../revision-log.ts';
import type { SharedState } from '../shared-state.ts';
import type { LogHearing, LogService } from './log-contract.ts';

/** A log, and its state in the memory of the thread that follows it. */
export interface HostedLog {
  readonly log: RevisionLog;
  readonly history: History;
  readonly allocations: Pick<Allocations, 'held' | 'holder'>;
  readonly state: SharedState;
  /** One query for all threads that ask at the same moment, each for so many reads. */
  currentRevision(reads: number): Promise<Revision>;
  /** Whether an object stored as this media type (undefined: JSON) would now be stored as another. */
  isOutdated(resource: GroupResource, storedAs: string | undefined): boolean;
}

/** Objects of a message: a millisecond of work for the thread that takes it. */
const OBJECTS_AT_ONCE = 500;

/**
 * LogHost serves one log to one serving thread: it answers the thread's questions to the database, and sends it the state in memory and
 * every change after it, in the turn in which this thread applies it. The thread begins with what is in memory here, so that starting one
 * reads nothing from the database.
 */
export class LogHost implements LogFollower {
  readonly #hosted: HostedLog;
  readonly #calls: () => PortCalls<LogService, LogHearing>;
  #load = 0;
  #stopFollowing: () => void = () => {};

  /** `calls`: those to the thread, which answer with {@link answers}. */
  constructor(hosted: HostedLog, calls: () => PortCalls<LogService, LogHearing>) {
    this.#hosted = hosted;
    this.#calls = calls;
  }

  get answers(): LogService {
    const { log, history, allocations, currentRevision, isOutdated } = this.#hosted;
    const { committer, reader, feed } = log;
    return {
      commit: (write, caller) => committer.commit({ ...write, caller }),
      currentRevision: (reads) => currentRevision(reads),
      compactedRevision: (resource) => reader.compactedRevision(resource),
      get: (key) => reader.get(key),
      listAt: (query) => reader.listAt(query),
      changesBetween: (query) => reader.changesBetween(query),
      hurry: () => feed.hurry(),
      load: (load) => this.#send(load),
      revisionAt: (moment) => history.revisionAt(moment),
      begin: () => history.begin(),
      newest: () => history.newest(),
      rows: (query) => history.rows(query),
      held: (pool) => allocations.held(pool),
      holder: (value) => allocations.holder(value),
      isOutdated: ({ resource, storedAs }) => isOutdated(resource, storedAs),
    };
  }

  /** The thread has ended. */
  end(): void {
    this.#load = 0;
    this.#stopFollowing();
  }

  applied(changes: readonly Change[]): void {
    this.#calls().tell('changes', { load: this.#load, changes });
  }

  packed(packed: PackedObjects): void {
    this.#calls().tell('packed', { load: this.#load, packed });
  }

  ended(_error: StorageError): void {
    this.#over('rewound');
  }

  loaded(): void {
    this.#over('compacted');
  }

  #over(reason: 'compacted' | 'rewound'): void {
    this.#stopFollowing();
    this.#calls().tell('over', { load: this.#load, reason });
  }

  async #send(load: number): Promise<void> {
    this.#stopFollowing();
    this.#load = load;
    const { state } = this.#hosted;
    let contents = state.contents();
    for (; contents === undefined; contents = state.contents()) await state.ready();
    if (this.#load !== load) return;
    this.#stopFollowing = state.follow(this);
    this.#calls().tell('began', { load, revision: contents.revision });
    for (const objects of inBatches(contents.parts)) {
      this.#calls().tell('objects', { load, objects });
      await endTurn();
      if (this.#load !== load) return;
    }
  }
}

function* inBatches(parts: readonly Iterable<StoredObject>[]): Iterable<readonly StoredObject[]> {
  let batch: StoredObject[] = [];
  for (const objects of parts)
    for (const object of objects) {
      batch.push(object);
      if (batch.length < OBJECTS_AT_ONCE) continue;
      yield batch;
      batch = [];
    }
  if (batch.length > 0) yield batch;
}
