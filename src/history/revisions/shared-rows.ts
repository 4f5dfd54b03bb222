import { AddedEvent } from '../../storage/added-event.ts';
import type { History, HistoryBegin, LoggedRevision } from '../../storage/history.ts';
import type { Revision } from '../../storage/revision.ts';
import type { Encoding, Entry, SharedEvent } from '../../storage/store.ts';
import { endTurn } from '../../util/turns.ts';

/** Decoded bytes of states kept for watches that ask a moment later, with the events made of them. */
const KEPT_BYTES = 4 * 1024 * 1024;
const KEPT_ROWS = 1000;
/** Most rows per read. */
const ASKED_ROWS = 100;

/**
 * Shares the new rows of one log among all watches of it. Watches that see a change at the same time join one read, and
 * later ones find the row here. The event that all clients may see is made once too.
 */
export class SharedRows {
  readonly #history: History;
  /** Oldest first. */
  readonly #known = new Map<Revision, LoggedRevision>();
  readonly #wanted = new Map<Revision, PromiseWithResolvers<LoggedRevision | undefined>>();
  readonly #events = new WeakMap<LoggedRevision, Promise<SharedEvent>>();
  #sizeBytes = 0;
  #isReading = false;
  #begin: Promise<HistoryBegin> | undefined;

  constructor(history: History) {
    this.#history = history;
  }

  /** Reads where the log begins, once for watches that begin at the same time. @throws StorageError */
  begin(): Promise<HistoryBegin> {
    this.#begin ??= this.#history.begin().finally(() => {
      this.#begin = undefined;
    });
    return this.#begin;
  }

  /** Reads rows, in this order; undefined: the log lacks some of them. @throws StorageError */
  async read(revisions: readonly Revision[]): Promise<readonly LoggedRevision[] | undefined> {
    const rows = await Promise.all(
      revisions.map((revision) => this.#known.get(revision) ?? this.#want(revision)),
    );
    const found = rows.filter((row) => row !== undefined);
    return found.length === rows.length ? found : undefined;
  }

  /** The event of a row that all clients may see. */
  event(row: LoggedRevision, makeEntry: () => Promise<Entry>): Promise<SharedEvent> {
    const known = this.#events.get(row);
    if (known !== undefined) return known;
    const event = makeEntry().then((entry) => new KeptEvent(entry));
    this.#events.set(row, event);
    event.catch(() => this.#events.delete(row));
    return event;
  }

  #want(revision: Revision): Promise<LoggedRevision | undefined> {
    const before = this.#wanted.get(revision);
    if (before !== undefined) return before.promise;
    const wanted = Promise.withResolvers<LoggedRevision | undefined>();
    this.#wanted.set(revision, wanted);
    if (!this.#isReading) void this.#readAll();
    return wanted.promise;
  }

  async #readAll(): Promise<void> {
    this.#isReading = true;
    // Other watches ask for the same row in this turn.
    await endTurn();
    while (this.#wanted.size > 0) await this.#readSome();
    this.#isReading = false;
  }

  async #readSome(): Promise<void> {
    const asked = [...this.#wanted.keys()].sort((a, b) => (a < b ? -1 : 1)).slice(0, ASKED_ROWS);
    const settle = (
      revision: Revision,
      how: (wanted: PromiseWithResolvers<LoggedRevision | undefined>) => void,
    ) => {
      const wanted = this.#wanted.get(revision);
      this.#wanted.delete(revision);
      if (wanted !== undefined) how(wanted);
    };
    try {
      const { rows, next } = await this.#history.rows({
        revisions: asked,
        upTo: asked.at(-1) as Revision,
        order: 'oldest first',
        limit: asked.length,
        states: 'both',
      });
      const found = new Map(rows.map((row) => [row.revision, row]));
      for (const row of rows) this.#keep(row);
      // A page may end before it has all of them.
      const read = next === undefined ? asked : asked.filter((revision) => revision <= next);
      for (const revision of read) settle(revision, ({ resolve }) => resolve(found.get(revision)));
    } catch (error) {
      for (const revision of asked) settle(revision, ({ reject }) => reject(error));
    }
  }

  #keep(row: LoggedRevision): void {
    this.#known.set(row.revision, row);
    this.#sizeBytes += sizeOf(row);
    for (const [revision, oldest] of this.#known) {
      if (this.#sizeBytes <= KEPT_BYTES && this.#known.size <= KEPT_ROWS) return;
      this.#known.delete(revision);
      this.#sizeBytes -= sizeOf(oldest);
    }
  }
}

export const sizeOf = ({ json, previousJson }: LoggedRevision): number =>
  json.length + (previousJson?.length ?? 0);

/** Keeps its encodings: watches of the same form share the bytes. */
class KeptEvent extends AddedEvent {
  readonly #encodings = new Map<string, Buffer>();

  override encoded(encoding: Encoding): Buffer {
    const known = this.#encodings.get(encoding.id);
    if (known !== undefined) return known;
    const bytes = encoding.encode(this);
    this.#encodings.set(encoding.id, bytes);
    return bytes;
  }
}
