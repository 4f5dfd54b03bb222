import { type Finding, type LogRow, passes, type Record, type Seen, type WatchSession } from './record.ts';
import { countWhile } from './search.ts';

const VERBS: Readonly<{ [kind: string]: LogRow['verb'] }> = {
  ...{ create: 'create', update: 'update', patch: 'update', delete: 'delete' },
};
const TYPES = { create: 'added', update: 'modified', delete: 'deleted' } as const;

/** What watches promise, each session by itself: one that is resumed begins where the one before it ended. */
export function* judgeWatches(record: Record): Generator<Finding> {
  const byRevision = new Map(record.log.map((row) => [row.revision, row]));
  const known = knownRows(record);
  for (const session of record.watches) {
    const name = `${session.watcher} from ${session.from} (server ${session.server}, ${(session.openedMs / 1000).toFixed(3)} s)`;
    const say = (rule: string, facts: string): Finding => ({ rule, facts: `${name}: ${facts}` });
    const found = [
      judgeSequence(session),
      judgeTruth(record, session, byRevision),
      judgeCompleteness(known, session),
      judgeEpochs(record, session),
      judgeEnd(record, session),
    ];
    for (const [rule, facts] of found.flatMap((one) => [...one])) yield say(rule, facts);
  }
  yield* judgeProgress(record);
}

type Broken = readonly [rule: string, facts: string];

const lastOf = ({ from, seen }: WatchSession): bigint => seen.at(-1)?.revision ?? from;

function* judgeSequence({ from, seen }: WatchSession): Generator<Broken> {
  let before = from;
  for (const one of seen) {
    const goesOn = one.type === 'bookmark' ? one.revision >= before : one.revision > before;
    if (!goesOn) yield ['events come once, in order', `${one.type} ${one.revision} after ${before}`];
    before = one.revision;
  }
}

/** An event is a row of the log, or of what a promotion has lost. */
function* judgeTruth(
  { promotions }: Record,
  { seen, filter }: WatchSession,
  rows: ReadonlyMap<bigint, LogRow>,
): Generator<Broken> {
  for (const one of seen) {
    if (one.type === 'bookmark') continue;
    const row = rows.get(one.revision);
    if (row !== undefined && !passes(filter, row))
      yield ['a watch shows what it asked for', `${one.type} ${one.key} ${one.revision} was not`];
    const isLost = promotions.some(({ survived, epoch }) => one.revision > survived && one.revision < epoch);
    if (row === undefined && !isLost)
      yield ['an event is a row of the log', `${one.type} ${one.key} ${one.revision} is not in it`];
    else if (row !== undefined && (row.key !== one.key || TYPES[row.verb] !== one.type))
      yield [
        'an event is a row of the log',
        `${one.type} ${one.key} ${one.revision} is ${row.verb} ${row.key}`,
      ];
  }
}

interface Row {
  readonly revision: bigint;
  readonly key: string;
  readonly verb: string;
}

/** What is in the log, or was acknowledged; oldest first. */
function knownRows({ log, operations }: Record): readonly Row[] {
  const acknowledged = operations.flatMap(({ key, kind, outcome }) =>
    outcome.kind === 'written' && outcome.revision !== undefined
      ? [{ key, verb: VERBS[kind] ?? '', revision: outcome.revision }]
      : [],
  );
  return [...log, ...acknowledged].sort((a, b) => Number(a.revision - b.revision));
}

/** Nothing is left out up to the newest thing that was received, bookmarks included. */
function* judgeCompleteness(known: readonly Row[], session: WatchSession): Generator<Broken> {
  const last = lastOf(session);
  const seen = new Set(session.seen.filter(isEvent).map(({ revision }) => revision));
  const due = known.slice(
    countWhile(known, ({ revision }) => revision <= session.from),
    countWhile(known, ({ revision }) => revision <= last),
  );
  const all = new Set(due.filter((row) => passes(session.filter, row)).map(({ revision }) => revision));
  // The 410 in between stands for what lies between two histories (judgeEpochs).
  const missing = [...all].filter((one) => !seen.has(one));
  const [first] = missing;
  if (first === undefined) return;
  const by = session.seen.find(({ revision }) => revision > first) ?? session.seen.at(-1);
  const facts = `${missing.length} left out, the first is ${first}, then came ${by?.type} ${by?.revision}`;
  yield ['a watch leaves nothing out', facts];
}

const isEvent = (one: Seen): one is Exclude<Seen, { type: 'bookmark' }> => one.type !== 'bookmark';

/** Who has begun in one history hears of the next by 410, not by its events. */
function* judgeEpochs({ epochs }: Record, session: WatchSession): Generator<Broken> {
  for (const { after, reason } of epochs) {
    if (session.from >= after) continue;
    const beyond = session.seen.find(({ revision }) => revision > after);
    if (beyond !== undefined)
      yield [
        'a watch ends with its history',
        `it got ${beyond.type} ${beyond.revision} across ${after} (${reason})`,
      ];
  }
}

/** History reaches as far back as it was asked for, unless it was compacted or has an end. */
function* judgeEnd({ compacted, promotions }: Record, session: WatchSession): Generator<Broken> {
  if (session.end !== 'gone') return;
  const last = lastOf(session);
  const isJustified =
    session.from < compacted ||
    promotions.some(({ epoch, beganMs }) => last < epoch && beganMs < session.endedMs);
  if (!isJustified) yield ['410 has a reason', `it ended at ${last}, and history reaches further back`];
}

/** When all is over and well, every watcher has caught up. */
function* judgeProgress({ watches, watchersMustReach }: Record): Generator<Finding> {
  for (const [watcher, sessions] of Map.groupBy(watches, (session) => session.watcher)) {
    const last = sessions.at(-1);
    if (last === undefined || lastOf(last) >= watchersMustReach) continue;
    const facts = `${watcher} (server ${last.server}) has got to ${lastOf(last)}, the log to ${watchersMustReach}; it has waited since ${(last.openedMs / 1000).toFixed(3)} s`;
    yield { rule: 'a watch goes on', facts };
  }
}
