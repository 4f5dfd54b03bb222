import { Branches, type Era, type KnownRow } from './branches.ts';
import { differences, isStateAt } from './read-rules.ts';
import {
  type Blamed,
  type Finding,
  type HistoryAnswer,
  type HistoryRow,
  isWrite,
  type LogRow,
  type Operation,
  type Past,
  passes,
  type Record,
} from './record.ts';
import { countWhile } from './search.ts';

/** Between the two clocks, and from the moment that dates a commit until it is asked for. */
const CLOCKS_MS = 100;

/** What history shows of the past: it is what the log says, all of it, and as new as what was acknowledged. */
export function* judgeHistory(record: Record): Generator<Finding> {
  const branches = new Branches(record);
  const rows = new Map(record.log.map((row) => [row.revision, row]));
  const acknowledged = new Acknowledged(record);
  const moments = new Moments(record);
  for (const one of record.answers) {
    const say = (rule: string, facts: string): Finding => ({ rule, facts: `${describe(one)}: ${facts}` });
    for (const [rule, facts] of [
      ...judgeOrder(one),
      ...judgeTruth(record, one, rows),
      ...judgeCompleteness(record, branches, one, rows),
      ...judgeNewest(acknowledged, one),
      ...judgeGone(record, one),
    ])
      yield say(rule, facts);
  }
  for (const one of record.pasts) yield* judgePast(record, { branches, moments }, one);
  for (const one of record.blames) yield* judgeBlame(record, one, rows);
}

type Broken = readonly [rule: string, facts: string];

const describe = ({ name, what, revision, filter, invokedMs, completedMs }: HistoryAnswer): string =>
  `${name}, ${what} at ${revision} ${JSON.stringify(filter)} (${timeOf(invokedMs, completedMs)})`;

const timeOf = (invokedMs: number, completedMs: number): string =>
  `${(invokedMs / 1000).toFixed(3)}–${(completedMs / 1000).toFixed(3)} s`;

function* judgeOrder({ what, rows }: HistoryAnswer): Generator<Broken> {
  const sign = what === 'revisions' ? -1n : 1n;
  for (const [at, { revision }] of rows.entries()) {
    const before = rows[at - 1]?.revision;
    if (before !== undefined && sign * (revision - before) <= 0n)
      yield ['history is listed once, in order', `${revision} after ${before}`];
  }
}

const isLost = ({ promotions }: Record, revision: bigint): boolean =>
  promotions.some(({ survived, epoch }) => revision > survived && revision < epoch);

/** A row that is listed is one of the log, in all of its fields, or one that a promotion has lost. */
function* judgeTruth(
  record: Record,
  answer: HistoryAnswer,
  rows: ReadonlyMap<bigint, LogRow>,
): Generator<Broken> {
  for (const one of answer.rows) {
    const row = rows.get(one.revision);
    if (row === undefined) {
      if (!isLost(record, one.revision))
        yield ['history tells what was written', `${one.verb} ${one.key} ${one.revision} never was`];
      continue;
    }
    const wrong = wrongIn(one, row, answer);
    if (wrong !== undefined) yield ['history tells what was written', `${one.revision}: ${wrong}`];
    if (!passes(answer.filter, row)) yield ['history tells what was asked for', `${one.revision} was not`];
  }
}

function wrongIn(one: HistoryRow, row: LogRow, { what }: HistoryAnswer): string | undefined {
  const same: readonly (keyof HistoryRow)[] =
    what === 'timeline' ? ['key', 'verb', 'user'] : ['key', 'verb', 'user', 'op', 'previous'];
  const field = same.find((name) => one[name] !== row[name]);
  return field === undefined ? undefined : `${field} is shown as ${one[field]}, and is ${row[field]}`;
}

/** Where history begins at the latest, for who asks as of a revision. */
const beginOf = ({ compacted, epochs }: Record, revision: bigint): bigint =>
  epochs.reduce((begin, { after }) => (after > begin && after <= revision ? after : begin), compacted);

/** Nothing is left out between the listed rows, nor, when all were listed, between these and both ends. */
function* judgeCompleteness(
  record: Record,
  branches: Branches,
  answer: HistoryAnswer,
  kept: ReadonlyMap<bigint, LogRow>,
): Generator<Broken> {
  const { rows, what, end, revision, filter, invokedMs, completedMs } = answer;
  const revisions = rows.map((row) => row.revision).sort((a, b) => (a < b ? -1 : 1));
  const [oldest = revision + 1n] = revisions;
  const begin = beginOf(record, revision);
  const from = end === 'all' && begin + 1n < oldest ? begin + 1n : oldest;
  const to = what === 'revisions' || end === 'all' ? revision : (revisions.at(-1) ?? 0n);
  const seen = new Set(revisions);
  const missingIn = (era: number): KnownRow[] =>
    branches
      .inEra(era)
      .between(from, to)
      // Whether a lost write made the object or changed it is unknown.
      .filter((row) => passes(filter, kept.get(row.revision) ?? { key: row.key, verb: '' }))
      .filter((row) => !seen.has(row.revision));
  const missing = branches.erasOf(invokedMs, completedMs).map(missingIn);
  if (missing.some((one) => one.length === 0)) return;
  const last = missing.at(-1) ?? [];
  const facts = `${last.length} left out of ${from} to ${to}, the first is ${last[0]?.revision}`;
  yield ['history leaves nothing out', facts];
}

/** Writes that were acknowledged, in the order in which they were. */
class Acknowledged {
  readonly #ends: readonly Operation[];
  /** The write with the highest revision, up to each of these. */
  readonly #newest: { readonly id: string; readonly revision: bigint }[] = [];

  constructor({ operations }: Record) {
    this.#ends = operations
      .filter((one) => isWrite(one) && one.outcome.kind === 'written')
      .sort((a, b) => a.completedMs - b.completedMs);
    let newest = { id: '', revision: 0n };
    for (const { id, outcome } of this.#ends) {
      const revision = outcome.kind === 'written' ? (outcome.revision ?? 0n) : 0n;
      if (revision > newest.revision) newest = { id, revision };
      this.#newest.push(newest);
    }
  }

  newestBefore(atMs: number): { readonly id: string; readonly revision: bigint } | undefined {
    return this.#newest[countWhile(this.#ends, ({ completedMs }) => completedMs < atMs) - 1];
  }
}

/** What was acknowledged before a question is in its answer. */
function* judgeNewest(acknowledged: Acknowledged, { revision, invokedMs }: HistoryAnswer): Generator<Broken> {
  const newest = acknowledged.newestBefore(invokedMs);
  if (newest === undefined || newest.revision <= revision) return;
  const facts = `${newest.id} had been acknowledged at ${newest.revision}`;
  yield ['history is as new as what was acknowledged', facts];
}

function* judgeGone(
  record: Record,
  { end, rows, what, revision, completedMs }: HistoryAnswer,
): Generator<Broken> {
  if (end !== 'gone') return;
  const last = rows.at(-1)?.revision ?? (what === 'revisions' ? revision : 0n);
  if (last <= record.compacted || hasEpochBegun(record, last, completedMs)) return;
  yield ['410 has a reason', `it ended at ${last}, and history reaches further back`];
}

const hasEpochBegun = ({ epochs, originMs }: Record, revision: bigint, completedMs: number): boolean =>
  epochs.some(({ after, beganAtMs }) => revision < after && beganAtMs - originMs < completedMs + CLOCKS_MS);

/** As of a revision: the state there. As of a moment: one that was the newest some time around it. */
function* judgePast(
  record: Record,
  { branches, moments }: { readonly branches: Branches; readonly moments: Moments },
  past: Past,
): Generator<Finding> {
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
    yield { rule: 'the past is shown as it was', facts };
  } else if ('revision' in asOf) {
    if (revision !== asOf.revision)
      yield { rule: 'the past is shown as it was', facts: `${what}: ${revision} was shown` };
  } else if (!record.wrongClocks.some(([from, to]) => isWithin(toOurs(record, asOf.atMs), from, to))) {
    const errors = eras.map((era) => moments.wrongIn(branches.inEra(era), revision, asOf.atMs));
    if (!errors.includes(undefined))
      yield { rule: 'a moment is shown as it was', facts: `${what} is ${revision}: ${errors.at(-1)}` };
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

/** Which revision was the newest at a moment. */
class Moments {
  readonly #record: Record;
  readonly #operations: ReadonlyMap<string, Operation>;
  readonly #firstEnds = new Map<Era, readonly (Operation | undefined)[]>();

  constructor(record: Record) {
    this.#record = record;
    this.#operations = new Map(record.operations.map((operation) => [operation.id, operation]));
  }

  /** What is wrong with a revision as the newest one at a moment; undefined: nothing. */
  wrongIn(era: Era, revision: bigint, atMs: number): string | undefined {
    const moment = toOurs(this.#record, atMs);
    const older = era.countUpTo(revision);
    const newest = era.rows[older - 1];
    const writer = newest === undefined ? undefined : this.#operations.get(newest.op);
    if (writer !== undefined && writer.invokedMs > moment + CLOCKS_MS)
      return `${writer.id} had not begun then`;
    const first = this.#firstEndsOf(era)[older];
    if (first === undefined || first.completedMs >= moment - CLOCKS_MS) return undefined;
    return `${first.id} had been acknowledged ${Math.round(moment - first.completedMs)} ms before`;
  }

  /** Of each row and all after it, the write that was acknowledged first. */
  #firstEndsOf(era: Era): readonly (Operation | undefined)[] {
    const known = this.#firstEnds.get(era);
    if (known !== undefined) return known;
    let first: Operation | undefined;
    const ends = era.rows.toReversed().map(({ op }) => {
      const one = this.#operations.get(op);
      if (
        one?.outcome.kind === 'written' &&
        !(one.completedMs >= (first?.completedMs ?? Number.POSITIVE_INFINITY))
      )
        first = one;
      return first;
    });
    this.#firstEnds.set(era, ends.reverse());
    return ends;
  }
}

/** Each write sets the field, so that the author of the state has set it. */
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
    if (!isGone) yield say('no author is named');
    return;
  }
  if (setBy.revision !== revision) yield say(`${setBy.revision} is blamed`);
  if (row !== undefined && setBy.user !== row.user) yield say(`${setBy.user} is blamed, it was ${row.user}`);
}
