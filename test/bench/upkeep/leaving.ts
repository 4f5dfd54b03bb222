import type { Figures, Stage } from '../bench.ts';
import { RowWriter } from '../limit/rows.ts';
import { summarize } from '../measure/percentile.ts';
import { configMapOf } from './config-maps.ts';
import { fillPartition, replaceFirst } from './fill-log.ts';
import { UpkeepDatabase } from './upkeep-database.ts';

/** A thousand replacements a second. */
const BATCH = 10;
const EVERY_MS = 10;
const QUIET_MS = 20_000;
const WRITES_OF_EACH = 5;
/** Of the objects, those whose states have to be kept when it begins. Others are replaced meanwhile. */
const REPLACED = 0.8;
const HOUR_S = 3600;

/** How long commits wait while a large partition, whose states the window still needs, is left and dropped. */
export async function leaving(stage: Stage): Promise<Figures> {
  const objects = stage.settings.objects ?? stage.scale(1_000_000, 10_000);
  await using database = await UpkeepDatabase.start();
  await database.keepHistory(HOUR_S);
  const template = configMapOf(500);
  await using writer = await RowWriter.connect(database.url, template);
  const before = await fillPartition(database, writer, { template, objects, rounds: WRITES_OF_EACH });
  const behind = before + objects;
  await database.passTime(HOUR_S);
  // History is cut off here, behind the partition, and before its states are replaced.
  await writer.write('update', [objects - 1]);
  await database.passTime(60);
  const replaced = Math.floor(objects * REPLACED);
  await replaceFirst(database, { template, count: replaced, before });
  await database.passTime(HOUR_S - 1);
  let done = 0;
  const replace = async (isOver: () => boolean): Promise<number[]> => {
    const waits: number[] = [];
    while (!isOver()) {
      const batch = Array.from({ length: BATCH }, (_, n) => replaced + ((done + n) % (objects - replaced)));
      done += BATCH;
      const startedAt = performance.now();
      await writer.write('update', batch);
      const ms = performance.now() - startedAt;
      waits.push(ms);
      if (ms < EVERY_MS) await new Promise((resolve) => setTimeout(resolve, EVERY_MS - ms));
    }
    return waits;
  };
  await database.query('CHECKPOINT');
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
  if ((await database.number('(SELECT min(low) FROM log_bounds)')) < behind)
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
      rows: objects * WRITES_OF_EACH,
    },
  };
}
