import type { Figures, Stage } from '../bench.ts';
import { RowWriter, slices } from '../limit/rows.ts';
import { summarize } from '../measure/percentile.ts';
import { configMapOf } from './config-maps.ts';
import { UpkeepDatabase } from './upkeep-database.ts';

const LOAD_BATCH = 500;
/** A thousand replacements a second. */
const BATCH = 10;
const EVERY_MS = 10;
const QUIET_MS = 5000;
const WRITES_OF_EACH = 5;
const HOUR_S = 3600;

/** How long commits wait while a large partition, whose states the window still needs, is left and dropped. */
export async function leaving(stage: Stage): Promise<Figures> {
  const objects = stage.settings.objects ?? stage.scale(1_000_000, 4000);
  const rows = objects * WRITES_OF_EACH;
  await using database = await UpkeepDatabase.start();
  await database.keepHistory(HOUR_S);
  await using writer = await RowWriter.connect(database.url, configMapOf(500));
  // What is written at first belongs into one partition.
  await database.query(
    `CREATE OR REPLACE FUNCTION next_partition_size() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT ${rows}::bigint + 10000'`,
  );
  await database.endPartition();
  for (let time = 0; time < WRITES_OF_EACH; time += 1)
    for (const slice of slices(0, objects, LOAD_BATCH))
      await writer.write(time === 0 ? 'create' : 'update', slice);
  const [partition] = await database.query<{ high: string }>(
    'SELECT high FROM log_partitions() ORDER BY high DESC LIMIT 1',
  );
  await database.endPartition();
  await database.passTime(HOUR_S);
  await writer.write('update', [0]);
  await database.passTime(HOUR_S + 60);
  await database.fill();
  let at = 1;
  const replace = async (isOver: () => boolean): Promise<number[]> => {
    const waits: number[] = [];
    while (!isOver()) {
      const batch = Array.from({ length: BATCH }, (_, n) => (at + n) % objects);
      at += BATCH;
      const startedAt = performance.now();
      await writer.write('update', batch);
      const ms = performance.now() - startedAt;
      waits.push(ms);
      if (ms < EVERY_MS) await new Promise((resolve) => setTimeout(resolve, EVERY_MS - ms));
    }
    return waits;
  };
  const until = performance.now() + stage.scale(QUIET_MS, 500);
  const quiet = summarize(await replace(() => performance.now() > until));
  let isOver = false;
  const startedAt = performance.now();
  const work = database.compact().finally(() => {
    isOver = true;
  });
  const waits = await replace(() => isOver);
  await work;
  const busy = summarize(waits);
  if ((await database.number('(SELECT min(low) FROM log_bounds)')) < Number(partition?.high ?? 0))
    throw new Error('the partition was not left');
  return {
    unit: 'commits of ten',
    count: waits.length,
    p50Ms: busy.p50,
    p99Ms: busy.p99,
    facts: {
      'longest ms': busy.max,
      'p50 ms before': quiet.p50,
      'p99 ms before': quiet.p99,
      'longest ms before': quiet.max,
      'states kept': await database.number('SELECT count(*) FROM superseded'),
      'leaving s': (performance.now() - startedAt) / 1000,
      rows,
    },
  };
}
