import type { ResourceSet } from '../resource-set.ts';
import type { Revision } from '../revision.ts';
import type {
  ChangeFeed,
  ChangeSink,
  Committer,
  RevisionLog,
  RevisionReader,
  StoredObject,
} from '../revision-log.ts';
import { Slabs } from '../slabs.ts';

/** SharingLog is a log whose current objects are in memory that all threads see; history is not, because few read it. */
export class SharingLog implements RevisionLog {
  readonly committer: Committer;
  readonly feed: ChangeFeed;
  readonly reader: RevisionReader;
  readonly #slabs = new Slabs();

  constructor({ committer, feed, reader }: RevisionLog) {
    this.committer = committer;
    this.feed = {
      run: (from, sink, signal) => feed.run(from, this.#sharing(sink), signal),
      hurry: () => feed.hurry(),
    };
    this.reader = {
      currentRevision: () => reader.currentRevision(),
      compactedRevision: (resource) => reader.compactedRevision(resource),
      get: (key) => reader.get(key),
      listAt: (query) => reader.listAt(query),
      changesBetween: (query) => reader.changesBetween(query),
      loadCurrent: (begin, batch, which) => this.#load(reader, { begin, batch, which }),
    };
  }

  #load(
    reader: RevisionReader,
    {
      begin,
      batch,
      which,
    }: {
      begin: (revision: Revision) => void;
      batch: (objects: readonly StoredObject[]) => void;
      which: ResourceSet | undefined;
    },
  ): Promise<void> {
    return reader.loadCurrent(begin, (objects) => batch(objects.map((one) => this.#share(one))), which);
  }

  #sharing(sink: ChangeSink): ChangeSink {
    return {
      apply: (changes) => sink.apply(changes.map((change) => this.#share(change))),
      reset: (reason) => sink.reset(reason),
    };
  }

  #share<One extends StoredObject>(one: One): One {
    const { json } = one;
    return json.buffer instanceof SharedArrayBuffer ? one : { ...one, json: this.#slabs.keep(json) };
  }
}
