import { signal } from '@preact/signals';
import { isAbort } from '../api/ask.ts';
import {
  followRevisions,
  listRevisions,
  type Revision,
  type RevisionQuery,
} from '../api/history-requests.ts';
import { type PersistOptions, persist } from '../api/persist.ts';
import type { WatchState } from '../api/stay-current.ts';
import { moments, shownSince } from './density.ts';
import { noteBegin } from './history-begin.ts';
import { momentOfRevision } from './page-clock.ts';

const PAGE = 200;
const DRAW_EVERY_MS = 100;
/** Most revisions that a page keeps while it stays open; older ones are read again on demand. */
const MOST_KEPT = 20_000;

/** Revisions, newest first: existing ones, more on demand, and new ones as they are made. */
export class FeedState {
  readonly revisions = signal<readonly Revision[] | undefined>(undefined);
  readonly error = signal<unknown>(undefined);
  readonly isReading = signal(true);
  /** Whether the shown revisions are outdated. */
  readonly isKept = signal(false);
  readonly watch = signal<WatchState>('ended');
  #next = '';
  #fresh: Revision[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #query: RevisionQuery = { fields: {} };
  #reading = new AbortController();

  get hasMore(): boolean {
    return this.#next !== '';
  }

  read(query: RevisionQuery): void {
    this.close();
    this.#reading = new AbortController();
    this.#query = query;
    this.isReading.value = true;
    this.isKept.value = false;
    this.error.value = undefined;
    void this.#guard(this.#run(query, this.#reading.signal));
  }

  close(): void {
    this.#reading.abort();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#fresh = [];
    this.watch.value = 'ended';
  }

  more(): void {
    if (this.isReading.value || this.#next === '') return;
    this.isReading.value = true;
    void this.#guard(this.#readPage(this.#reading.signal));
  }

  #run(query: RevisionQuery, signal: AbortSignal): Promise<void> {
    return followRevisions(query, {
      ...this.#persisting(signal),
      read: async () => {
        const { revisions, from, next } = await listRevisions(query, { limit: PAGE, signal });
        signal.throwIfAborted();
        this.#next = next;
        this.#show(revisions);
        return query.until === undefined ? from : undefined;
      },
      deliver: (revision) => signal.aborted || this.#add(revision),
      onState: (state) => {
        if (!signal.aborted) this.watch.value = state;
      },
    });
  }

  #persisting(signal: AbortSignal): PersistOptions {
    return {
      signal,
      keeps: () => this.isKept.value,
      onTrouble: (error) => {
        this.error.value = error;
        this.isReading.value = false;
      },
    };
  }

  async #readPage(signal: AbortSignal): Promise<void> {
    const page = { limit: PAGE, next: this.#next, signal };
    const read = () => listRevisions(this.#query, page);
    const { revisions, next } = await persist(read, this.#persisting(signal));
    if (signal.aborted) return;
    this.#next = next;
    this.#show([...(this.revisions.value ?? []), ...revisions]);
  }

  #add(revision: Revision): void {
    this.#fresh.push(revision);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      const fresh = this.#fresh.toReversed();
      this.#fresh = [];
      this.#show([...fresh, ...(this.revisions.value ?? [])].slice(0, MOST_KEPT));
    }, DRAW_EVERY_MS);
  }

  #show(revisions: readonly Revision[]): void {
    this.isReading.value = false;
    this.isKept.value = true;
    this.error.value = undefined;
    this.revisions.value = revisions;
  }

  async #guard(work: Promise<void>): Promise<void> {
    const { signal } = this.#reading;
    try {
      await work;
    } catch (error) {
      if (signal.aborted || isAbort(error)) return;
      noteBegin(error);
      this.error.value = error;
      this.isReading.value = false;
      this.watch.value = 'ended';
    }
  }
}

/** Records the times of changes for the time bar. */
export function noteMoments(revisions: readonly Revision[]): void {
  momentOfRevision.value = new Map(revisions.map(({ metadata, at }) => [metadata.name, shownSince(at)]));
  moments.value = [...new Set(revisions.map(({ at }) => shownSince(at)))].sort((a, b) => a - b);
}
