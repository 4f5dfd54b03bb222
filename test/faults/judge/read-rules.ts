import { Branches, type Era, isOf, type KnownRow } from './branches.ts';
import {
  describeOperation,
  type Finding,
  isInSplit,
  isWrite,
  type Operation,
  type Record,
} from './record.ts';
import { countWhile } from './search.ts';

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
    const era = branches.inEra(eras.at(-1) ?? 0);
    yield {
      rule: 'a list is the state at its revision',
      facts: `${describeOperation(operation)}: ${differences(era, outcome.revision, outcome.items)}`,
    };
  }
  const keys = new Set(record.operations.filter(({ key }) => key !== '').map(({ key }) => key));
  for (const key of keys) yield* judgeKey(record, branches, key);
}

type Items = readonly { readonly key: string; readonly revision: bigint }[];

export function isStateAt(era: Era, revision: bigint, items: Items): boolean {
  const state = era.stateAt(revision);
  return state.size === items.length && items.every((item) => state.get(item.key) === item.revision);
}

export function differences(era: Era, revision: bigint, items: Items): string {
  const state = era.stateAt(revision);
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

/** What is certain of a key, noted in the order of time. */
class Floors {
  readonly #noted: Floor[] = [];
  /** By era: the newest of the floors up to each of those noted. */
  readonly #newest: (Floor | undefined)[][];

  constructor(eras: number) {
    this.#newest = Array.from({ length: eras }, () => []);
  }

  note(floor: Floor): void {
    this.#noted.push(floor);
    for (const [era, newest] of this.#newest.entries()) {
      const before = newest.at(-1);
      const isNewer =
        isOf(era, floor.row) && (before === undefined || floor.row.revision > before.row.revision);
      newest.push(isNewer ? floor : before);
    }
  }

  /** The newest row of an era that was certain before a moment. */
  before(atMs: number, era: number): Floor | undefined {
    return this.#newest[era]?.[countWhile(this.#noted, ({ by }) => by.completedMs < atMs) - 1];
  }
}

function* judgeKey(record: Record, branches: Branches, key: string): Generator<Finding> {
  const own = record.operations.filter((operation) => operation.key === key && isWrite(operation));
  const writers = new Map(own.map((operation) => [operation.id, operation]));
  const known = new Map(branches.all.filter((row) => row.key === key).map((row) => [row.op, row]));
  const traceless = own.filter(
    ({ id, kind, outcome }) =>
      kind === 'delete' && outcome.kind !== 'refused' && outcome.kind !== 'not sent' && !known.has(id),
  );
  const acknowledged = own.flatMap((by) => {
    const row = known.get(by.id);
    return by.outcome.kind === 'written' && row !== undefined ? [{ operation: by, row }] : [];
  });
  const reads = readsOf(record, key).filter(({ operation }) => !isInSplit(record, operation));
  const floors = new Floors(record.promotions.length + 1);
  for (const one of [...acknowledged, ...reads].sort(byEnd)) {
    if ('row' in one) {
      floors.note({ by: one.operation, row: one.row });
      continue;
    }
    const { invokedMs, completedMs } = one.operation;
    const eras = branches.erasOf(invokedMs, completedMs);
    const places = eras.map((era) =>
      findPlace(branches.inEra(era).ofKey(key), one, floors.before(invokedMs, era), writers),
    );
    const place = places.find((found) => typeof found !== 'string');
    if (place === undefined) {
      if (one.revision === undefined && mayBeGone(traceless, one)) continue;
      const facts = `${describeOperation(one.operation)}: ${places.at(-1)}`;
      yield { rule: 'reads are linearizable', facts };
    } else if (place.row !== undefined) floors.note({ by: one.operation, row: place.row });
  }
}

const byEnd = (a: { readonly operation: Operation }, b: { readonly operation: Operation }): number =>
  a.operation.completedMs - b.operation.completedMs;

/** A delete of unknown outcome that a promotion has lost since leaves no other trace than this. */
const mayBeGone = (deletes: readonly Operation[], { operation }: Read): boolean =>
  deletes.some(({ invokedMs }) => invokedMs < operation.completedMs);

/** The earliest place among the rows of the key at which the read may have been; a text: why there is none. */
function findPlace(
  own: readonly KnownRow[],
  read: Read,
  floor: Floor | undefined,
  writers: ReadonlyMap<string, Operation>,
): { readonly row: KnownRow | undefined } | string {
  const placeOf = (revision: bigint): number => countWhile(own, (row) => row.revision < revision);
  const lowest = floor === undefined ? NOTHING : placeOf(floor.row.revision);
  const sees = (at: number): boolean => {
    const row = own[at];
    return read.revision === undefined ? row === undefined || row.isDelete : row?.revision === read.revision;
  };
  const first = read.revision === undefined ? lowest : Math.max(lowest, placeOf(read.revision));
  for (let at = first; at < own.length; at += 1) {
    if (!sees(at)) {
      if (read.revision === undefined) continue;
      break;
    }
    const row = own[at];
    const writer = row === undefined ? undefined : writers.get(row.op);
    if (writer !== undefined && writer.invokedMs > read.operation.completedMs)
      return `it ended before ${describeOperation(writer)} began`;
    return { row };
  }
  const shown = read.revision ?? 'nothing';
  return floor === undefined
    ? `${shown} was never there`
    : `${shown} is older than ${floor.row.revision} (${floor.row.isDelete ? 'a delete, ' : ''}${floor.row.op}), which was known before it began by ${describeOperation(floor.by)}`;
}
