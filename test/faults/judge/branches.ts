import type { Item, LogRow, Promotion, Record } from './record.ts';
import { countWhile } from './search.ts';

/** A row that a client saw or that was acknowledged to it; `lostBy` says which promotion lost it. */
export interface KnownRow extends Item {
  readonly isDelete: boolean;
  /** Index of the promotion; undefined: it is in the log at the end. */
  readonly lostBy: number | undefined;
}

/**
 * All rows that are known to have been in the log at some time. A promotion may lose the newest ones, so what the log was
 * depends on when it was read: in era `n` it was that after the `n`th promotion and before the next.
 */
export class Branches {
  readonly #promotions: readonly Promotion[];
  readonly #rows: readonly KnownRow[];
  readonly #eras = new Map<number, Era>();

  constructor(record: Record) {
    this.#promotions = record.promotions;
    const surviving = new Set(record.log.map(({ revision }) => revision));
    const lost = new Map<bigint, KnownRow>();
    for (const item of sightings(record)) {
      if (surviving.has(item.revision)) continue;
      const lostBy = this.#promotions.findIndex(({ epoch }) => item.revision < epoch);
      lost.set(item.revision, { ...item, lostBy: lostBy < 0 ? undefined : lostBy });
    }
    const kept = record.log.map((row): KnownRow => ({ ...toItem(row), lostBy: undefined }));
    this.#rows = [...kept, ...lost.values()].sort(byRevision);
  }

  /** All of them, lost or not, oldest first. */
  get all(): readonly KnownRow[] {
    return this.#rows;
  }

  inEra(era: number): Era {
    const known = this.#eras.get(era) ?? new Era(this.#rows.filter((row) => isOf(era, row)));
    this.#eras.set(era, known);
    return known;
  }

  /** The eras in which something that took so long may have read the log. */
  erasOf(invokedMs: number, completedMs: number): number[] {
    const first = this.#promotions.filter(({ doneMs }) => doneMs <= invokedMs).length;
    const last = this.#promotions.filter(({ beganMs }) => beganMs < completedMs).length;
    return Array.from({ length: last - first + 1 }, (_, n) => first + n);
  }
}

/** Whether a row was in the log in an era. */
export const isOf = (era: number, { lostBy }: KnownRow): boolean => lostBy === undefined || lostBy >= era;

/** What the log was between two promotions. A run of an hour asks a hundred thousand times. */
export class Era {
  /** Oldest first. */
  readonly rows: readonly KnownRow[];
  readonly #byKey: ReadonlyMap<string, readonly KnownRow[]>;

  constructor(rows: readonly KnownRow[]) {
    this.rows = rows;
    this.#byKey = Map.groupBy(rows, ({ key }) => key);
  }

  ofKey(key: string): readonly KnownRow[] {
    return this.#byKey.get(key) ?? [];
  }

  /** From one revision to another, both included. */
  between(from: bigint, to: bigint): readonly KnownRow[] {
    const first = countWhile(this.rows, (row) => row.revision < from);
    return this.rows.slice(first, countUpTo(this.rows, to));
  }

  /** How many rows have this revision or a lower one. */
  countUpTo(revision: bigint): number {
    return countUpTo(this.rows, revision);
  }

  /** The revision of each key that was there. */
  stateAt(revision: bigint): Map<string, bigint> {
    const state = new Map<string, bigint>();
    for (const [key, rows] of this.#byKey) {
      const last = rows[countUpTo(rows, revision) - 1];
      if (last !== undefined && !last.isDelete) state.set(key, last.revision);
    }
    return state;
  }
}

const countUpTo = (rows: readonly KnownRow[], revision: bigint): number =>
  countWhile(rows, (row) => row.revision <= revision);

const byRevision = (a: Item, b: Item): number => (a.revision < b.revision ? -1 : 1);

const toItem = ({ key, revision, op, verb }: LogRow): Item & { isDelete: boolean } => ({
  ...{ key, revision, op },
  isDelete: verb === 'delete',
});

/** Every time that a client saw that a revision is a certain write. */
export function* sightings(record: Record): Generator<Item & { isDelete: boolean }> {
  for (const { id, key, kind, outcome } of record.operations) {
    if (outcome.kind === 'written' && outcome.revision !== undefined)
      yield { key, revision: outcome.revision, op: id, isDelete: kind === 'delete' };
    if (outcome.kind === 'found') yield { ...outcome, key, isDelete: false };
    if (outcome.kind === 'listed') for (const item of outcome.items) yield { ...item, isDelete: false };
  }
  for (const { rows } of record.answers)
    for (const { op, verb, ...row } of rows)
      if (op !== undefined) yield { ...row, op: verb === 'delete' ? '' : op, isDelete: verb === 'delete' };
  // A deleted object has the `op` of its last writer.
  for (const { seen } of record.watches)
    for (const one of seen)
      if (one.type === 'added' || one.type === 'modified') yield { ...one, isDelete: false };
      else if (one.type === 'deleted') yield { ...one, op: '', isDelete: true };
}
