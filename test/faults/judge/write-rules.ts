import { sightings } from './branches.ts';
import {
  describeOperation,
  type Finding,
  isInSplit,
  isWrite,
  type LogRow,
  type Operation,
  type Record,
} from './record.ts';

/** What became of a write: in the log when it was acknowledged, not in it when it was refused, and never twice. */
export function* judgeOutcomes(record: Record): Generator<Finding> {
  const rows = Map.groupBy(record.log, ({ op }) => op);
  for (const operation of record.operations.filter(isWrite)) {
    const own = rows.get(operation.id) ?? [];
    const what = describeOperation(operation);
    const where = own.map(({ revision }) => revision).join(', ');
    if (own.length > 1) yield { rule: 'a write happens once', facts: `${what} is in the log at ${where}` };
    const { outcome } = operation;
    if ((outcome.kind === 'refused' || outcome.kind === 'not sent') && own.length > 0)
      yield { rule: 'what was refused has not happened', facts: `${what} is in the log at ${where}` };
    if (outcome.kind !== 'written') continue;
    const [row] = own;
    if (row === undefined) {
      if (!mayBeLost(record, operation))
        yield { rule: 'what was acknowledged is not lost', facts: `${what} is not in the log` };
    } else if (outcome.revision !== undefined && row.revision !== outcome.revision)
      yield { rule: 'a write is acknowledged with its revision', facts: `${what} is in the log at ${where}` };
  }
}

/** A standby that had not got everything was promoted after it was acknowledged, or while. */
function mayBeLost({ promotions }: Record, { outcome, invokedMs }: Operation): boolean {
  const revision = outcome.kind === 'written' ? outcome.revision : undefined;
  return promotions.some(
    ({ mayLose, doneMs, survived, epoch }) =>
      mayLose && invokedMs < doneMs && (revision === undefined || (revision > survived && revision < epoch)),
  );
}

/** Clients never see what only the primary has: a promotion of a standby that commits wait for loses nothing that was seen. */
export function* judgeShown(record: Record): Generator<Finding> {
  const surviving = new Set(record.log.map(({ revision }) => revision));
  // What was acknowledged has a rule of its own.
  const acknowledged = new Set(
    record.operations.map(({ outcome }) => (outcome.kind === 'written' ? outcome.revision : undefined)),
  );
  for (const { revision, op, key } of sightings(record)) {
    if (surviving.has(revision) || acknowledged.has(revision)) continue;
    const lostBy = record.promotions.find(({ epoch }) => revision < epoch);
    if (lostBy === undefined || lostBy.mayLoseShown || revision <= lostBy.survived) continue;
    acknowledged.add(revision);
    const facts = `${revision} (${key}, ${op}) was seen, and only ${lostBy.survived} was kept`;
    yield { rule: 'what was shown is not lost', facts };
  }
}

/** A number means one write, for everybody and for ever, also when the write was lost. */
export function* judgeUniqueness(record: Record): Generator<Finding> {
  const known = new Map<bigint, { op: string; key: string }>();
  const reported = new Set<bigint>();
  const rows = record.log.map((row) => ({ ...row, isDelete: row.verb === 'delete' }));
  for (const { revision, op, key, isDelete } of [...rows, ...sightings(record)]) {
    const own = { op: isDelete ? 'a delete' : op, key };
    const before = known.get(revision) ?? own;
    known.set(revision, before);
    if ((before.op === own.op && before.key === key) || reported.has(revision)) continue;
    reported.add(revision);
    const facts = `${revision} is ${before.op} of ${before.key} and ${own.op} of ${key}`;
    yield { rule: 'a revision is one write', facts };
  }
}

/** A write that was acknowledged before another began has the lower revision. */
export function* judgeOrder(record: Record): Generator<Finding> {
  const rows = new Map(record.log.map((row) => [row.op, row.revision]));
  const revisionOf = ({ id, outcome }: Operation): bigint | undefined =>
    rows.get(id) ?? (outcome.kind === 'written' ? outcome.revision : undefined);
  const writes = record.operations.filter((one) => isWrite(one) && !isInSplit(record, one));
  const acknowledged = writes
    .filter(({ outcome }) => outcome.kind === 'written')
    .sort((a, b) => a.completedMs - b.completedMs);
  let at = 0;
  let newest: { operation: Operation; revision: bigint } | undefined;
  for (const operation of writes.toSorted((a, b) => a.invokedMs - b.invokedMs)) {
    for (; (acknowledged[at]?.completedMs ?? Number.POSITIVE_INFINITY) < operation.invokedMs; at += 1) {
      const one = acknowledged[at];
      const revision = one === undefined ? undefined : revisionOf(one);
      if (one !== undefined && revision !== undefined && revision > (newest?.revision ?? 0n))
        newest = { operation: one, revision };
    }
    const own = revisionOf(operation);
    if (own !== undefined && newest !== undefined && own < newest.revision) {
      const facts = `${describeOperation(operation)} has ${own}, below that of ${describeOperation(newest.operation)}`;
      yield { rule: 'revisions rise with the order of commits', facts };
    }
  }
}

/** Each row goes on from the row before it of its key, and a guarded write from the one it was guarded with. */
export function* judgeLog(record: Record): Generator<Finding> {
  const operations = new Map(record.operations.map((operation) => [operation.id, operation]));
  const last = new Map<string, LogRow>();
  let before: LogRow | undefined;
  for (const row of record.log) {
    if (before !== undefined && row.committedAtMs < before.committedAtMs) {
      const facts = `${row.revision} is dated ${before.committedAtMs - row.committedAtMs} ms before ${before.revision}`;
      yield { rule: 'time in the log never runs backwards', facts };
    }
    before = row;
    const previous = last.get(row.key);
    last.set(row.key, row);
    const live = previous === undefined || previous.verb === 'delete' ? undefined : previous.revision;
    if (row.previous !== live && row.revision > record.compacted)
      yield {
        rule: 'a row goes on from the one before',
        facts: `${row.revision} of ${row.key} says ${row.previous ?? 'nothing'}, but there was ${live ?? 'nothing'}`,
      };
    const operation = operations.get(row.op);
    if (operation?.expected !== undefined && operation.expected !== row.previous)
      yield {
        rule: 'a guarded write replaces what it was guarded with',
        facts: `${describeOperation(operation)} replaced ${row.previous ?? 'nothing'}`,
      };
  }
}
