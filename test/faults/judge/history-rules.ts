import { Branches, type KnownRow } from './branches.ts';
import { differences, isStateAt } from './read-rules.ts';
import {
  type Blamed,
  type Finding,
  isWrite,
  type LogRow,
  type Operation,
  type Past,
  passes,
  type Record,
  type Told,
  type ToldRow,
} from './record.ts';

/** Between the two clocks, and from the moment that dates a commit until it is asked for. */
const CLOCKS_MS = 100;

/** What is told of the past: it is what the log says, all of it, and as new as what was acknowledged. */
export function* judgeHistory(record: Record): Generator<Finding> {
  const branches = new Branches(record);
  const rows = new Map(record.log.map((row) => [row.revision, row]));
  for (const one of record.told) {
    const say = (rule: string, facts: string): Finding => ({ rule, facts: `${describe(one)}: ${facts}` });
    for (const [rule, facts] of [
      ...judgeOrder(one),
      ...judgeTruth(record, one, rows),
      ...judgeCompleteness(record, branches, one, rows),
      ...judgeNewest(record, one),
      ...judgeGone(record, one),
    ])
      yield say(rule, facts);
  }
  for (const one of record.pasts) yield* judgePast(record, branches, one);
  for (const one of record.blames) yield* judgeBlame(record, one, rows);
}

type Broken = readonly [rule: string, facts: string];

const describe = ({ name, what, revision, filter, invokedMs, completedMs }: Told): string =>
  `${name}, ${what} at ${revision} ${JSON.stringify(filter)} (${timeOf(invokedMs, completedMs)})`;

const timeOf = (invokedMs: number, completedMs: number): string =>
  `${(invokedMs / 1000).toFixed(3)}–${(completedMs / 1000).toFixed(3)} s`;

function* judgeOrder({ what, rows }: Told): Generator<Broken> {
  const sign = what === 'revisions' ? -1n : 1n;
  for (const [at, { revision }] of rows.entries()) {
    const before = rows[at - 1]?.revision;
    if (before !== undefined && sign * (revision - before) <= 0n)
      yield ['history is told once, in order', `${revision} after ${before}`];
  }
}

const isLost = ({ promotions }: Record, revision: bigint): boolean =>
  promotions.some(({ survived, epoch }) => revision > survived && revision < epoch);

/** A row that is told is one of the log, in all that is told of it, or one that a promotion has lost. */
function* judgeTruth(record: Record, told: Told, rows: ReadonlyMap<bigint, LogRow>): Generator<Broken> {
  for (const one of told.rows) {
    const row = rows.get(one.revision);
    if (row === undefined) {
      if (!isLost(record, one.revision))
        yield ['history tells what was written', `${one.verb} ${one.key} ${one.revision} never was`];
      continue;
    }
    const wrong = wrongIn(one, row, told);
    if (wrong !== undefined) yield ['history tells what was written', `${one.revision}: ${wrong}`];
    if (!passes(told.filter, row)) yield ['history tells what was asked for', `${one.revision} was not`];
  }
}

function wrongIn(one: ToldRow, row: LogRow, { what }: Told): string | undefined {
  const same: readonly (keyof ToldRow)[] =
    what === 'timeline' ? ['key', 'verb', 'user'] : ['key', 'verb', 'user', 'op', 'previous'];
  const field = same.find((name) => one[name] !== row[name]);
  return field === undefined ? undefined : `${field} is told as ${one[field]}, and is ${row[field]}`;
}

/** Where history begins at the latest, for who asks as of a revision. */
const beginOf = ({ compacted, epochs }: Record, revision: bigint): bigint =>
  epochs.reduce((begin, { after }) => (after > begin && after <= revision ? after : begin), compacted);

/** Nothing is left out between the rows that were told, nor, when all were, between these and both ends. */
function* judgeCompleteness(
  record: Record,
  branches: Branches,
  told: Told,
  kept: ReadonlyMap<bigint, LogRow>,
): Generator<Broken> {
  const { rows, what, end, revision, filter, invokedMs, completedMs } = told;
  const revisions = rows.map((row) => row.revision).sort((a, b) => (a < b ? -1 : 1));
  const [oldest = revision + 1n] = revisions;
  const begin = beginOf(record, revision);
  const from = end === 'all' && begin + 1n < oldest ? begin + 1n : oldest;
  const to = what === 'revisions' || end === 'all' ? revision : (revisions.at(-1) ?? 0n);
  const seen = new Set(revisions);
  const missingIn = (era: number): KnownRow[] =>
    branches
      .inEra(era)
      // Of what was lost, nobody knows whether it made the object or changed it.
      .filter((row) => passes(filter, kept.get(row.revision) ?? { key: row.key, verb: '' }))
      .filter((row) => row.revision >= from && row.revision <= to && !seen.has(row.revision));
  const missing = branches.erasOf(invokedMs, completedMs).map(missingIn);
  if (missing.some((one) => one.length === 0)) return;
  const last = missing.at(-1) ?? [];
  const facts = `${last.length} left out of ${from} to ${to}, the first is ${last[0]?.revision}`;
  yield ['history leaves nothing out', facts];
}

/** What was acknowledged before somebody asked is in what is told. */
function* judgeNewest({ operations }: Record, { revision, invokedMs }: Told): Generator<Broken> {
  for (const { id, outcome, completedMs } of operations.filter(isWrite)) {
    if (outcome.kind !== 'written' || completedMs >= invokedMs) continue;
    if ((outcome.revision ?? 0n) <= revision) continue;
    yield [
      'history is as new as what was acknowledged',
      `${id} had been acknowledged at ${outcome.revision}`,
    ];
    return;
  }
}

function* judgeGone(record: Record, { end, rows, what, revision, completedMs }: Told): Generator<Broken> {
  if (end !== 'gone') return;
  const last = rows.at(-1)?.revision ?? (what === 'revisions' ? revision : 0n);
  if (last <= record.compacted || hasEpochBegun(record, last, completedMs)) return;
  yield ['410 has a reason', `it ended at ${last}, and history reaches further back`];
}

const hasEpochBegun = ({ epochs, originMs }: Record, revision: bigint, completedMs: number): boolean =>
  epochs.some(({ after, beganAtMs }) => revision < after && beganAtMs - originMs < completedMs + CLOCKS_MS);

/** As of a revision: the state there. As of a moment: one that was the newest some time around it. */
function* judgePast(record: Record, branches: Branches, past: Past): Generator<Finding> {
  const { asOf, invokedMs, completedMs, outcome } = past;
  const asked =
    'revision' in asOf ? `${asOf.revision}` : `${(toOurs(record, asOf.atMs) / 1000).toFixed(3)} s`;
  const what = `${past.name}, as of ${asked} (${timeOf(invokedMs, completedMs)})`;
  if (outcome.kind === 'gone') {
    if (!isJustlyGone(record, past))
      yield { rule: '410 has a reason', facts: `${what}: history reaches further back` };
    return;
  }
  const eras = branches.erasOf(invokedMs, completedMs);
  const { revision, items } = outcome;
  if (!eras.some((era) => isStateAt(branches.inEra(era), revision, items))) {
    const facts = `${what}: ${differences(branches.inEra(eras.at(-1) ?? 0), revision, items)}`;
    yield { rule: 'the past is told as it was', facts };
  } else if ('revision' in asOf) {
    if (revision !== asOf.revision)
      yield { rule: 'the past is told as it was', facts: `${what}: ${revision} was told of` };
  } else if (!record.wrongClocks.some(([from, to]) => isWithin(toOurs(record, asOf.atMs), from, to))) {
    const told = eras.map((era) => aroundMoment(record, branches.inEra(era), revision, asOf.atMs));
    if (!told.includes(undefined))
      yield { rule: 'a moment is told as it was', facts: `${what} is ${revision}: ${told.at(-1)}` };
  }
}

const toOurs = ({ originMs }: Record, atMs: number): number => atMs - originMs;

const isWithin = (atMs: number, from: number, to: number): boolean =>
  atMs >= from - CLOCKS_MS && atMs <= to + CLOCKS_MS;

function isJustlyGone(record: Record, { asOf, completedMs }: Past): boolean {
  const { compacted, compactedAtMs, epochs, originMs } = record;
  if ('revision' in asOf)
    return asOf.revision < compacted || hasEpochBegun(record, asOf.revision, completedMs);
  const moment = toOurs(record, asOf.atMs);
  return (
    asOf.atMs < compactedAtMs + CLOCKS_MS ||
    record.promotions.some(({ beganMs }) => moment < beganMs && beganMs < completedMs) ||
    epochs.some(
      ({ beganAtMs }) => asOf.atMs < beganAtMs + CLOCKS_MS && beganAtMs - originMs < completedMs + CLOCKS_MS,
    )
  );
}

/** What is wrong with a revision as the newest one at a moment; undefined: nothing. */
function aroundMoment(
  record: Record,
  rows: readonly KnownRow[],
  revision: bigint,
  atMs: number,
): string | undefined {
  const operations = new Map(record.operations.map((operation) => [operation.id, operation]));
  const writerOf = (row: KnownRow): Operation | undefined => operations.get(row.op);
  const moment = toOurs(record, atMs);
  const newest = rows.findLast((row) => row.revision <= revision);
  const writer = newest === undefined ? undefined : writerOf(newest);
  if (writer !== undefined && writer.invokedMs > moment + CLOCKS_MS) return `${writer.id} had not begun then`;
  const missed = rows.find((row) => {
    const of = writerOf(row);
    return row.revision > revision && of?.outcome.kind === 'written' && of.completedMs < moment - CLOCKS_MS;
  });
  return missed === undefined ? undefined : `${missed.op} had been acknowledged at ${missed.revision}`;
}

/** Each write sets the field, so that whoever wrote the state has set it. */
function* judgeBlame(
  record: Record,
  { name, revision, op, setBy }: Blamed,
  rows: ReadonlyMap<bigint, LogRow>,
): Generator<Finding> {
  const say = (facts: string): Finding => ({
    rule: 'a blame names who did it',
    facts: `${name}: ${op} at ${revision}: ${facts}`,
  });
  const row = rows.get(revision);
  if (row !== undefined && row.op !== op) yield say(`it was ${row.op}`);
  if (setBy === undefined) {
    const isGone = revision <= record.compacted || record.epochs.some(({ after }) => revision < after);
    if (!isGone) yield say('nobody is named');
    return;
  }
  if (setBy.revision !== revision) yield say(`${setBy.revision} is blamed`);
  if (row !== undefined && setBy.user !== row.user) yield say(`${setBy.user} is blamed, it was ${row.user}`);
}
