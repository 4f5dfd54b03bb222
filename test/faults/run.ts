import { judge } from './judge/judge.ts';
import type { Finding, Record } from './judge/record.ts';
import type { Fault } from './nemesis/fault.ts';
import { Random } from './random.ts';
import { Client, type Pause, toItem } from './workload/client.ts';
import { Historian } from './workload/historian.ts';
import type { Caller } from './workload/http.ts';
import { keysOf, PATH } from './workload/keys.ts';
import { OBJECTS, revisionsOf, type WatchSource } from './workload/sources.ts';
import { TokenBearer } from './workload/token-bearer.ts';
import { Watcher } from './workload/watcher.ts';
import { sleep, until } from './world/until.ts';
import { World } from './world/world.ts';

export interface RunOptions {
  readonly seed: number;
  /** What happens, in this order; ends when it ends, or when the time is over. */
  readonly faults: Iterable<Fault>;
  readonly durationMs: number;
  /** How many ask about history; two, unless the machine has other work. */
  readonly historians?: number;
  /** Of each client between two operations; longer than usual where the machine has other work. */
  readonly pauseMs?: Pause;
  /** The program of an older version, as which servers begin. */
  readonly from?: string;
  readonly say: (line: string) => void;
}

export interface Verdict {
  readonly findings: readonly Finding[];
  readonly record: Record;
  /** What the servers have said, for who must find out why. */
  readonly outputs: readonly string[];
  readonly summary: string;
}

const CLIENTS = 6;
const WATCHERS = 6;
const HISTORIANS = 2;
const CLIENT_PAUSE_MS: Pause = [2, 25];
const KEYS = 5;
/** Who writes here. */
const USER = 'kubernetes-admin';
/** One each, the first of which stay with a server. */
const REVISION_WATCHES: readonly WatchSource[] = [
  revisionsOf({}),
  revisionsOf({ verb: 'update' }, USER),
  revisionsOf({}),
  revisionsOf({ key: 'key-1' }),
  revisionsOf({ verb: 'delete' }),
];
const PAUSE_MS = [200, 1500] as const;
/** After everything was put right. */
const RECOVERY_MS = 60_000;
/** A write is answered within its patience, and the time that its database takes to be found. */
const MAX_ANSWER_MS = 50_000;

/** Makes the world, does bad things to it while clients work, puts everything right, and judges what clients saw. */
export async function runFaults(options: RunOptions): Promise<Verdict> {
  const random = new Random(options.seed);
  const { say } = options;
  await using world = await World.start(options.from);
  say(`the world is made: ${world.group.nodes.length} PostgreSQLs, ${world.servers.length} servers`);
  const work = new Workload(world, random.fork(), options);
  await work.start();
  const findings: Finding[] = [];
  const begunMs = performance.now();
  const faultsRandom = random.fork();
  let count = 0;
  await sleep(1000);
  for (const fault of options.faults) {
    if (performance.now() - begunMs > options.durationMs) break;
    const ofMs = performance.now();
    const acknowledged = (server?: number): number => work.acknowledged(server);
    const found = (finding: Finding): void => void findings.push(finding);
    const failed = await fault.run({ world, random: faultsRandom.fork(), found, acknowledged }).then(
      () => false,
      (error: unknown) => {
        found({ rule: 'each fault is over in its time', facts: `${fault.name}: ${describe(error)}` });
        return true;
      },
    );
    // What clients saw until then is judged all the same.
    if (failed) break;
    count += 1;
    const at = `${(ofMs / 1000).toFixed(3).padStart(8)}–${(performance.now() / 1000).toFixed(3)} s`;
    say(`${at}  ${fault.name}`);
    await sleep(faultsRandom.between(...PAUSE_MS));
  }
  findings.push(...(await recover(world, work)));
  const record = await collect(world, work);
  findings.push(
    ...judgeCrashes(world),
    ...work.findings(),
    ...judge(record),
    ...(await judgeSettings(world)),
  );
  const summary = summarize(record, count, work);
  return { findings, record, summary, outputs: world.servers.map(({ output }) => output) };
}

/** Clients, watchers and the bearer of tokens, from start to stop. */
class Workload {
  readonly #clients: readonly Client[];
  readonly watchers: readonly Watcher[];
  readonly historians: readonly Historian[];
  readonly bearer: TokenBearer;
  readonly #world: World;
  readonly #writing = new AbortController();
  readonly #watching = new AbortController();
  #writers: Promise<unknown> = Promise.resolve();
  #readers: Promise<unknown> = Promise.resolve();

  constructor(
    world: World,
    random: Random,
    { historians = HISTORIANS, pauseMs = CLIENT_PAUSE_MS }: Pick<RunOptions, 'historians' | 'pauseMs'>,
  ) {
    this.#world = world;
    const keys = keysOf(KEYS);
    // Some stay with their server, as a controller does; the others go from one to the other.
    const callersOf = (n: number): Caller[] => {
      const callers = world.callers();
      const own = n % callers.length;
      return n < callers.length * 2 ? callers.slice(own, own + 1) : callers;
    };
    this.#clients = Array.from(
      { length: CLIENTS },
      (_, n) => new Client({ name: `c${n}`, callers: callersOf(n), keys, random: random.fork(), pauseMs }),
    );
    const watcherOf = (name: string, n: number, source: WatchSource): Watcher =>
      new Watcher({
        ...{ name, source, callers: callersOf(n), random: random.fork() },
        seconds: n < world.servers.length ? [3600, 3600] : [4, 12],
      });
    const sources = Array.from({ length: WATCHERS }, () => OBJECTS);
    const objects = sources.map((source, n) => watcherOf(`w${n}`, n, source));
    this.watchers = [...objects, ...REVISION_WATCHES.map((source, n) => watcherOf(`r${n}`, n, source))];
    this.historians = Array.from(
      { length: historians },
      (_, n) => new Historian({ name: `h${n}`, callers: world.callers(), keys, random: random.fork() }),
    );
    this.bearer = new TokenBearer({ callers: world.callers(), random: random.fork() });
  }

  get operations() {
    return [...this.#clients, ...this.historians].flatMap(({ operations }) => operations);
  }

  acknowledged(of?: number): number {
    return this.operations.filter(
      ({ outcome, server }) => outcome.kind === 'written' && (of === undefined || server === of),
    ).length;
  }

  async start(): Promise<void> {
    const [caller] = this.#world.callers();
    if (caller !== undefined) await TokenBearer.prepare(caller);
    const { signal } = this.#writing;
    this.#writers = Promise.all(
      [...this.#clients, ...this.historians, this.bearer].map((one) => one.run(signal)),
    );
    this.#readers = Promise.all(this.watchers.map((one) => one.run(this.#watching.signal)));
  }

  async stopWriting(): Promise<void> {
    this.#writing.abort();
    await this.#writers;
  }

  async stopWatching(): Promise<void> {
    this.#watching.abort();
    await this.#readers;
  }

  findings(): Finding[] {
    const slow = this.operations
      .filter(({ invokedMs, completedMs }) => completedMs - invokedMs > MAX_ANSWER_MS)
      .map(({ id, kind, invokedMs, completedMs }) => ({
        rule: 'answers come within their patience',
        facts: `${id} (${kind}) took ${Math.round(completedMs - invokedMs)} ms`,
      }));
    return [...this.bearer.findings, ...this.historians.flatMap(({ findings }) => findings), ...slow];
  }
}

/** All is put right; then servers become ready, and watches catch up by themselves. */
async function recover(world: World, work: Workload): Promise<Finding[]> {
  await world.heal();
  const findings: Finding[] = [];
  await world.ready(RECOVERY_MS).catch((error: unknown) => {
    findings.push({ rule: 'servers recover', facts: describe(error) });
  });
  // Long enough for another write on each server.
  await sleep(500);
  await work.stopWriting();
  const newest = (await world.log()).at(-1)?.revision ?? 0n;
  const caughtUp = async (): Promise<boolean> => work.watchers.every(({ position }) => position >= newest);
  // The judge reports a watcher that does not.
  await until('watches catch up', caughtUp, RECOVERY_MS).catch(() => {});
  await work.stopWatching();
  return findings;
}

const describe = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${describe(error.cause)}`;
};

async function collect(world: World, work: Workload): Promise<Record> {
  const finalLists = [];
  for (const caller of world.callers()) {
    const { text } = await caller.ask({ method: 'GET', path: PATH, headers: {} });
    finalLists.push({ server: caller.index, items: (JSON.parse(text).items ?? []).map(toItem) });
    caller.close();
  }
  const log = await world.log();
  const epochs = await world.epochs();
  const compaction = await world.compaction();
  const promotions = world.promotionsIn(epochs);
  return {
    ...{ log, epochs, promotions, finalLists },
    compacted: compaction.revision,
    compactedAtMs: compaction.committedAtMs,
    wrongClocks: world.wrongClocks,
    splits: world.splits,
    originMs: performance.timeOrigin,
    operations: work.operations,
    answers: work.historians.flatMap(({ answers }) => answers),
    pasts: work.historians.flatMap(({ pasts }) => pasts),
    blames: work.historians.flatMap(({ blames }) => blames),
    watches: work.watchers.flatMap(({ sessions }) => sessions),
    watchersMustReach: log.at(-1)?.revision ?? 0n,
  };
}

/** Nothing that happens around a server ends it. */
const judgeCrashes = ({ servers }: World): Finding[] =>
  servers.flatMap(({ index, crashes }) =>
    crashes.map((crash) => ({
      rule: 'a server does not end by itself',
      facts: `server ${index} ${crash}`,
    })),
  );

/** What the database must still say. */
async function judgeSettings(world: World): Promise<Finding[]> {
  const { window } = await world.compaction();
  if (window === '24:00:00') return [];
  return [{ rule: 'history is kept as far back as was asked for', facts: `24 hours have become ${window}` }];
}

function summarize(
  { operations, watches, answers, pasts, blames, log, epochs, promotions }: Record,
  faults: number,
  work: Workload,
): string {
  const outcomes = Map.groupBy(operations, ({ outcome }) => outcome.kind);
  const counts = [...outcomes].map(([kind, those]) => `${those.length} ${kind}`).join(', ');
  const reasons = Map.groupBy(operations, ({ outcome }) => (outcome.kind === 'unknown' ? outcome.why : ''));
  reasons.delete('');
  const unknown = [...reasons].map(([why, those]) => `${those.length} ${why}`).join(', ');
  const events = watches.reduce((sum, { seen }) => sum + seen.length, 0);
  const slowest = Math.max(0, ...operations.map(({ invokedMs, completedMs }) => completedMs - invokedMs));
  return [
    `${faults} faults, ${promotions.length} promotions, ${epochs.length} epochs`,
    `${operations.length} operations (${counts}), the slowest took ${Math.round(slowest)} ms`,
    ...(unknown === '' ? [] : [`unknown: ${unknown}`]),
    `${log.length} rows, ${watches.length} watches, ${events} events, ${work.bearer.checked} tokens shown`,
    `${answers.length} histories of ${answers.reduce((sum, { rows }) => sum + rows.length, 0)} rows, ${pasts.length} pasts, ${blames.length} blames`,
  ].join('; ');
}
