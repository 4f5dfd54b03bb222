import type { Figures, Stage } from '../bench.ts';
import { RowWriter, slices } from '../limit/rows.ts';
import { configMapOf } from './config-maps.ts';
import { fillPartition } from './fill-log.ts';
import { UpkeepDatabase } from './upkeep-database.ts';

const BATCH = 500;
const MEGABYTE = 1024 * 1024;
const OBJECT_BYTES = 5000;
const STEP_S = 60;
/** As --kvstore-compaction-interval. */
const COMPACTION_S = 300;
/** Neighbours in time are no neighbours in the table. */
const STRIDE = 7919;
const FILLED = 'SELECT filled FROM filling';

/** What upkeep reads and writes in an hour in which so much is written a second, to objects that are there. */
export async function pages(stage: Stage, perSecond: number): Promise<Figures> {
  const objects = stage.settings.objects ?? stage.scale(1_000_000, 5000);
  const isBusy = perSecond > 100;
  // A busy hour is as its ten minutes between two walks of filling, the first of which has come eleven minutes after the fill.
  const leadInS = isBusy ? stage.scale(660, 120) : 0;
  const simulatedS = stage.scale(isBusy ? 600 : 3600, isBusy ? 240 : 3600);
  await using database = await UpkeepDatabase.start();
  await database.keepHistory(86_400);
  const template = configMapOf(OBJECT_BYTES);
  await using writer = await RowWriter.connect(database.url, template);
  await fillPartition(database, writer, { template, objects, rounds: 1 });
  await database.passTime(COMPACTION_S);
  // The index of what the fill has put into the log is not of this hour.
  await database.compact();
  const batch = Math.min(BATCH, perSecond);
  let written = 0;
  const live = async (fromS: number, toS: number): Promise<void> => {
    for (let second = fromS; second < toS; second += STEP_S) {
      for (const slice of slices(written, perSecond * STEP_S, batch))
        await writer.write('update', [...new Set(slice.map((n) => (n * STRIDE) % objects))]);
      written += perSecond * STEP_S;
      await database.passTime(STEP_S);
      await ((second + STEP_S) % COMPACTION_S === 0 ? database.compact() : database.fill());
    }
  };
  await live(0, leadInS);
  database.forgetCosts();
  const before = { written, filled: await database.number(FILLED) };
  const { cpuSeconds } = await database.spend(() => live(leadInS, leadInS + simulatedS));
  const count = written - before.written;
  return {
    unit: 'writes',
    count,
    facts: {
      ...describeCosts(database, simulatedS),
      'filled a write': ((await database.number(FILLED)) - before.filled) / count,
      'of updates, HOT': await database.number(
        "SELECT n_tup_hot_upd / n_tup_upd::float8 FROM pg_stat_user_tables WHERE relname = 'objects'",
      ),
      'database CPU s an hour, with the writes': (cpuSeconds * 3600) / simulatedS,
      objects,
      'simulated s': simulatedS,
    },
  };
}

function describeCosts({ costs }: UpkeepDatabase, simulatedS: number): Record<string, number> {
  const all = [...costs.values()];
  const anHour = (of: (cost: (typeof all)[number]) => number): number =>
    (all.reduce((sum, cost) => sum + of(cost), 0) * 3600) / simulatedS;
  return {
    'pages looked at an hour': anHour(({ pagesHit, pagesRead }) => pagesHit + pagesRead),
    'of which from disk': anHour(({ pagesRead }) => pagesRead),
    'pages dirtied an hour': anHour(({ pagesDirtied }) => pagesDirtied),
    'WAL MB an hour': anHour(({ walBytes }) => walBytes) / MEGABYTE,
    ...Object.fromEntries(
      [...costs].map(([kind, { pagesHit, pagesRead }]) => [
        `pages to ${kind}`,
        ((pagesHit + pagesRead) * 3600) / simulatedS,
      ]),
    ),
  };
}
