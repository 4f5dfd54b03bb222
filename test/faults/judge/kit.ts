import type {
  Blamed,
  Filter,
  HistoryAnswer,
  HistoryRow,
  LogRow,
  Operation,
  Outcome,
  Past,
  Promotion,
  Record,
  Seen,
  WatchSession,
} from './record.ts';

/** Small records to be judged, made by hand. All is well in what these make until something else is said. */

export const emptyRecord: Record = {
  ...{ operations: [], watches: [], log: [], epochs: [], promotions: [], finalLists: [] },
  ...{ answers: [], pasts: [], blames: [], wrongClocks: [], splits: [], originMs: 0 },
  ...{ compacted: 0n, compactedAtMs: 0, watchersMustReach: 0n },
};

export const row = (
  revision: number,
  op: string,
  verb: LogRow['verb'] = 'update',
  previous?: number,
): LogRow => ({
  ...{ revision: BigInt(revision), op, verb, key: 'k', committedAtMs: revision, user: 'admin' },
  previous: previous === undefined ? undefined : BigInt(previous),
});

/** The history of one object: a create, then updates, each from the one before. */
export function rowsOf(...steps: readonly (readonly [revision: number, op: string])[]): LogRow[] {
  return steps.map(([revision, op], at) =>
    at === 0 ? row(revision, op, 'create') : row(revision, op, 'update', steps[at - 1]?.[0]),
  );
}

export const operation = (
  id: string,
  kind: Operation['kind'],
  [invokedMs, completedMs]: readonly [number, number],
  outcome: Outcome,
  expected?: number,
): Operation => ({
  ...{ id, kind, server: 0, key: kind === 'list' ? '' : 'k', invokedMs, completedMs, outcome },
  ...(expected === undefined ? {} : { expected: BigInt(expected) }),
});

export const written = (revision?: number): Outcome => ({
  kind: 'written',
  revision: revision === undefined ? undefined : BigInt(revision),
});
export const found = (revision: number, op: string): Outcome => ({
  ...{ kind: 'found', revision: BigInt(revision), op },
});
export const listed = (revision: number, item?: number, op = ''): Extract<Outcome, { kind: 'listed' }> => ({
  ...{ kind: 'listed', revision: BigInt(revision) },
  items: item === undefined ? [] : [{ key: 'k', revision: BigInt(item), op }],
});
export const absent: Outcome = { kind: 'absent' };
export const refused: Outcome = { kind: 'refused', why: '409' };
export const notSent: Outcome = { kind: 'not sent', why: 'ECONNREFUSED' };
export const unknown: Outcome = { kind: 'unknown', why: 'ECONNRESET' };

export const event = (type: 'added' | 'modified' | 'deleted', revision: number, op: string): Seen => ({
  ...{ type, revision: BigInt(revision), op, key: 'k', atMs: revision },
});
export const bookmark = (revision: number): Seen => ({
  ...{ type: 'bookmark', revision: BigInt(revision), atMs: revision },
});

export const session = (
  from: number,
  seen: readonly Seen[],
  end: WatchSession['end'] = 'stopped',
  filter: Filter = {},
): WatchSession => ({
  ...{ watcher: 'w', filter, server: 0, from: BigInt(from), openedMs: 0, seen, end, endedMs: 1000 },
});

export const promotion = (
  [beganMs, doneMs]: readonly [number, number],
  survived: number,
  epoch: number,
  mayLose = true,
  mayLoseShown = mayLose,
): Promotion => ({
  ...{ beganMs, doneMs, mayLose, mayLoseShown, survived: BigInt(survived), epoch: BigInt(epoch) },
});

export const historyRow = ({ revision, key, verb, op, previous, user }: LogRow): HistoryRow => ({
  ...{ revision, key, verb, op, user },
  ...(previous === undefined ? {} : { previous }),
});

/** The newest first. */
export const answered = (
  revision: number,
  rows: readonly HistoryRow[],
  rest: Partial<Pick<HistoryAnswer, 'end' | 'filter' | 'what' | 'invokedMs' | 'completedMs'>> = {},
): HistoryAnswer => ({
  ...{ what: 'revisions', name: 'h', filter: {}, invokedMs: 60, completedMs: 70, end: 'all' },
  ...{ revision: BigInt(revision), rows, ...rest },
});

export const past = (
  asOf: Past['asOf'],
  outcome: Past['outcome'],
  [invokedMs, completedMs]: readonly [number, number] = [60, 70],
): Past => ({ name: 'h', asOf, invokedMs, completedMs, outcome });

export const blamed = (revision: number, op: string, setBy?: number, user = 'admin'): Blamed => ({
  ...{ name: 'h', revision: BigInt(revision), op },
  setBy: setBy === undefined ? undefined : { revision: BigInt(setBy), user },
});
