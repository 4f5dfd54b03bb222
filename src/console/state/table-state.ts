import { signal } from '@preact/signals';
import { isAbort } from '../api/ask.ts';
import {
  type Column,
  readTable,
  type TableReader,
  type TableRow,
  type TableSource,
} from '../api/read-table.ts';
import type { WatchState } from '../api/stay-current.ts';
import { noteBegin } from './history-begin.ts';

/** Rows change in bursts, and are drawn together. */
const DRAW_EVERY_MS = 100;

export interface Shown {
  readonly columns: readonly Column[];
  readonly rows: readonly TableRow[];
}

/** A list on the page: it keeps old rows until all newer ones have come, so that nothing flickers or jumps. */
export class TableState {
  readonly shown = signal<Shown | undefined>(undefined);
  /** Undefined: no error. */
  readonly error = signal<unknown>(undefined);
  /** Whether the shown rows are outdated. */
  readonly isKept = signal(false);
  readonly isReading = signal(true);
  readonly watch = signal<WatchState>('ended');
  /** Times of changes by row key, since the list was read. */
  readonly changedAt = new Map<string, number>();
  #columns: readonly Column[] = [];
  #rows = new Map<string, TableRow>();
  #isComplete = false;
  #hasShown = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #reading = new AbortController();

  read(source: Omit<TableSource, 'signal'>): void {
    this.#reading.abort();
    this.#reading = new AbortController();
    const { signal } = this.#reading;
    this.isReading.value = true;
    this.isKept.value = false;
    this.watch.value = 'ended';
    const own: TableReader = {
      keeps: () => this.isKept.value,
      onTrouble: (error) => signal.aborted || this.#fail(error),
      begin: (columns) => signal.aborted || this.begin(columns),
      add: (rows) => signal.aborted || this.add(rows),
      complete: () => signal.aborted || this.complete(),
      change: (type, row) => signal.aborted || this.change(type, row),
      onState: (state) => signal.aborted || this.onState(state),
    };
    readTable({ ...source, signal }, own).catch((error: unknown) => {
      if (signal.aborted || isAbort(error)) return;
      noteBegin(error);
      this.#fail(error);
    });
  }

  #fail(error: unknown): void {
    this.error.value = error;
    this.isReading.value = false;
    this.watch.value = 'ended';
  }

  close(): void {
    this.#reading.abort();
    clearTimeout(this.#timer);
  }

  begin(columns: readonly Column[]): void {
    this.error.value = undefined;
    this.#columns = columns;
    this.#rows = new Map();
    this.#isComplete = false;
    this.changedAt.clear();
  }

  add(rows: readonly TableRow[]): void {
    for (const row of rows) this.#rows.set(keyOf(row), row);
    if (!this.#hasShown) this.#draw();
  }

  complete(): void {
    this.#isComplete = true;
    this.#hasShown = true;
    this.isReading.value = false;
    this.isKept.value = true;
    this.#draw();
  }

  change(type: 'set' | 'delete', row: TableRow): void {
    const key = keyOf(row);
    if (type === 'delete') this.#rows.delete(key);
    else {
      this.#rows.set(key, row);
      this.changedAt.set(key, Date.now());
    }
    this.#timer ??= setTimeout(() => this.#draw(), DRAW_EVERY_MS);
  }

  onState(state: WatchState): void {
    this.watch.value = state;
  }

  #draw(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.shown.value = { columns: this.#columns, rows: [...this.#rows.values()] };
    this.isReading.value = !this.#isComplete;
  }
}

export const keyOf = ({ object: { metadata } }: TableRow): string =>
  `${metadata.namespace ?? ''}/${metadata.name}`;
