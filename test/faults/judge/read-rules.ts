import { Branches, type KnownRow } from './branches.ts';
import {
  describeOperation,
  type Finding,
  isInSplit,
  isWrite,
  type Operation,
  type Record,
} from './record.ts';

const NOTHING = -1;

/**
 * Reads are linearizable, each key by itself and lists also all together: a read sees a state that was the newest at some moment
 * between its begin and its end. The order of revisions is the order of writes (write-rules.ts), so that only the place of the
 * reads among them is to be found: not before what was acknowledged, or seen by another, before the read began; not of a write
 * that had not begun when it ended.
 */
export function* judgeReads(record: Record): Generator<Finding> {
  const branches = new Branches(record);
  for (const operation of record.operations) {
    const { outcome } = operation;
    if (outcome.kind !== 'listed') continue;
    const eras = branches.erasOf(operation.invokedMs, operation.completedMs);
    if (eras.some((era) => isStateAt(branches.inEra(era), outcome.revision, outcome.items))) continue;
    const rows = branches.inEra(eras.at(-1) ?? 0);
    yield {
      rule: 'a list is the state at its revision',
      facts: `${describeOperation(operation)}: ${differences(rows, outcome.revision, outcome.items)}`,
    };
  }
  const keys = new Set(record.operations.filter(({ key }) => key !== '').map(({ key }) => key));
  for (const key of keys) yield* judgeKey(record, branches, key);
}

const stateAt = (rows: readonly KnownRow[], revision: bigint): Map<string, bigint> => {
  const state = new Map<string, bigint>();
  for (const row of rows) {
    if (row.revision > revision) break;
    if (row.isDelete) state.delete(row.key);
    else state.set(row.key, row.revision);
  }
  return state;
};

type Items = readonly { readonly key: string; readonly revision: bigint }[];

export function isStateAt(rows: readonly KnownRow[], revision: bigint, items: Items): boolean {
  const state = stateAt(rows, revision);
  return state.size === items.length && items.every((item) => state.get(item.key) === item.revision);
}

export function differences(rows: readonly KnownRow[], revision: bigint, items: Items): string {
  const state = stateAt(rows, revision);
  const shown = new Map(items.map((item) => [item.key, item.revision]));
  return [...new Set([...state.keys(), ...shown.keys()])]
    .filter((key) => state.get(key) !== shown.get(key))
    .map((key) => `${key} is shown at ${shown.get(key) ?? 'nothing'}, was ${state.get(key) ?? 'nothing'}`)
    .join('; ');
}

/** A read of one key, or what a list says of it. */
interface Read {
  readonly operation: Operation;
  /** What it saw; undefined: nothing was there. */
  readonly revision: bigint | undefined;
}

function readsOf({ operations }: Record, key: string): Read[] {
  return operations.flatMap((operation): Read[] => {
    const { outcome } = operation;
    if (outcome.kind === 'listed') {
      const revision = outcome.items.find((item) => item.key === key)?.revision;
      return [{ operation, revision }];
    }
    if (operation.key !== key || operation.kind !== 'get') return [];
    if (outcome.kind === 'found') return [{ operation, revision: outcome.revision }];
    return outcome.kind === 'absent' ? [{ operation, revision: undefined }] : [];
  });
}

/** What was certain at the end of an operation: the newest place in the order that it has shown. */
interface Floor {
  readonly by: Operation;
  readonly row: KnownRow;
}

function* judgeKey(record: Record, branches: Branches, key: string): Generator<Finding> {
  const own = record.operations.filter((operation) => operation.key === key && isWrite(operation));
  const writers = new Map(own.map((operation) => [operation.id, operation]));
  const known = rowsByOp(branches, record, key);
  const traceless = own.filter(
    ({ id, kind, outcome }) =>
      kind === 'delete' && outcome.kind !== 'refused' && outcome.kind !== 'not sent' && !known.has(id),
  );
  const floors: Floor[] = own.flatMap((by) => {
    const row = known.get(by.id);
    return by.outcome.kind === 'written' && row !== undefined ? [{ by, row }] : [];
  });
  const reads = readsOf(record, key).sort((a, b) => a.operation.completedMs - b.operation.completedMs);
  for (const read of reads.filter(({ operation }) => !isInSplit(record, operation))) {
    const { invokedMs, completedMs } = read.operation;
    const eras = branches.erasOf(invokedMs, completedMs);
    const places = eras.map((era) => findPlace(branches.inEra(era), key, read, floors, writers));
    const place = places.find((one) => typeof one !== 'string');
    if (place === undefined) {
      if (read.revision === undefined && mayBeGone(traceless, read)) continue;
      const facts = `${describeOperation(read.operation)}: ${places.at(-1)}`;
      yield { rule: 'reads are linearizable', facts };
    } else if (place.row !== undefined) floors.push({ by: read.operation, row: place.row });
  }
}

function rowsByOp(branches: Branches, record: Record, key: string): Map<string, KnownRow> {
  const rows = Array.from({ length: record.promotions.length + 1 }, (_, era) => branches.inEra(era)).flat();
  return new Map(rows.filter((row) => row.key === key).map((row) => [row.op, row]));
}

/** A delete whose outcome nobody knows, and which a promotion has lost since, leaves no trace but this. */
const mayBeGone = (deletes: readonly Operation[], { operation }: Read): boolean =>
  deletes.some(({ invokedMs }) => invokedMs < operation.completedMs);

/** The earliest place among the rows of the key at which the read may have been; a text: why there is none. */
function findPlace(
  rows: readonly KnownRow[],
  key: string,
  read: Read,
  floors: readonly Floor[],
  writers: ReadonlyMap<string, Operation>,
): { readonly row: KnownRow | undefined } | string {
  const own = rows.filter((row) => row.key === key);
  const places = new Map(own.map((row, at) => [row.revision, at]));
  let lowest = NOTHING;
  let shownBy: Operation | undefined;
  for (const { by, row } of floors) {
    const place = places.get(row.revision) ?? NOTHING;
    if (by.completedMs >= read.operation.invokedMs || place <= lowest) continue;
    lowest = place;
    shownBy = by;
  }
  const sees = (at: number): boolean => {
    const row = own[at];
    return read.revision === undefined ? row === undefined || row.isDelete : row?.revision === read.revision;
  };
  for (let at = lowest; at < own.length; at += 1) {
    if (!sees(at)) continue;
    const row = own[at];
    const writer = row === undefined ? undefined : writers.get(row.op);
    if (writer !== undefined && writer.invokedMs > read.operation.completedMs)
      return `it ended before ${describeOperation(writer)} began`;
    return { row };
  }
  const floor = own[lowest];
  const shown = read.revision ?? 'nothing';
  return floor === undefined || shownBy === undefined
    ? `${shown} was never there`
    : `${shown} is older than ${floor.revision} (${floor.isDelete ? 'a delete, ' : ''}${floor.op}), which was known before it began by ${describeOperation(shownBy)}`;
}
