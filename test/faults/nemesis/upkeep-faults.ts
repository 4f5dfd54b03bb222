import pg from 'pg';
import type { PostgresNode } from '../world/postgres-node.ts';
import { sleep, until } from '../world/until.ts';
import type { World } from '../world/world.ts';
import type { Fault } from './fault.ts';

/** A partition is dropped some ten seconds after the window has left it, by a run that comes every two. */
const DROPPED_MS = 45_000;
/** One partition after the other is closed, faster than they may be dropped. */
const PARTITIONS = 10;
const CLOSED_EVERY_MS = 3000;
/** Those of the last 18 s. */
const MOST_BEHIND = 6;

/** More than two clocks may differ by. */
const JUMP_MS = 66_000;
const JUMP_LASTS_MS = 6000;

/** What keeps history from being cut off. */
export const UPKEEP_FAULTS: readonly Fault[] = [
  {
    // Upkeep never rests: each run finds another partition that the window has left.
    name: 'retention',
    run: ({ world, found }) =>
      withShortWindow(world, async (primary) => {
        for (let times = PARTITIONS; times > 0; times -= 1) {
          await closePartition(world);
          await sleep(CLOSED_EVERY_MS);
        }
        const behind = await partitionsBehind(primary);
        if (behind.length <= MOST_BEHIND) return;
        const facts = `${behind.length} of ${PARTITIONS} partitions are there, though the window was 1 s long`;
        found({ rule: 'history behind the window is dropped', facts });
      }),
  },
  {
    // An idle psql that has read the log, and holds a lock on each partition of it.
    name: 'forgotten-reader',
    run: async ({ world, random, found, acknowledged }) => {
      const { primary } = world.group;
      const reader = new pg.Client({ connectionString: primary.url, application_name: 'forgotten' });
      let lost: Error | undefined;
      reader.on('error', (error) => {
        lost ??= error;
      });
      await reader.connect();
      try {
        await reader.query('BEGIN; SELECT count(*) FROM revisions');
        await withShortWindow(world, async () => {
          await closePartition(world);
          const lastsMs = random.between(14_000, 20_000);
          const untilMs = performance.now() + lastsMs;
          while (performance.now() < untilMs) {
            const before = acknowledged();
            await sleep(1000);
            if (acknowledged() === before)
              found({ rule: 'a forgotten reader stops no write', facts: 'none was acknowledged for 1 s' });
          }
          await reader.query('ROLLBACK').catch((error: unknown) => {
            throw new Error('the reader was to stay', { cause: lost ?? error });
          });
          const isDropped = async (): Promise<boolean> => (await partitionsBehind(primary)).length === 0;
          await until('history is dropped', isDropped, DROPPED_MS).catch(() => {
            const facts = `a partition is there ${DROPPED_MS} ms after the reader has gone`;
            found({ rule: 'history behind the window is dropped', facts });
          });
        });
      } finally {
        await reader.end().catch(() => {});
      }
    },
  },
  {
    // Of two clocks that differ, none knows which is right: by the one ahead, all of history would lie behind the window.
    name: 'clock-jump',
    run: async ({ world, found }) => {
      const fromMs = performance.now();
      await setClocks(world, -JUMP_MS);
      try {
        await withShortWindow(world, async () => {
          const before = (await world.compaction()).revision;
          await sleep(JUMP_LASTS_MS);
          const { revision } = await world.compaction();
          if (revision > before)
            found({
              rule: 'a clock that jumps cuts off no history',
              facts: `it is kept from ${revision} on, before that from ${before}`,
            });
        });
      } finally {
        await setClocks(world, 0);
        world.wrongClocks.push([fromMs, performance.now()]);
      }
    },
  },
];

/** Of all servers, so that the database's is the one that is ahead. */
async function setClocks(world: World, ms: number): Promise<void> {
  await Promise.all(world.servers.map((server) => server.stop()));
  // So that the tokens of before are no more than a minute from the future, which is put up with.
  if (ms < 0) await sleep(-ms - 60_000);
  for (const server of world.servers) server.clockMs = ms;
  await Promise.all(world.servers.map((server) => server.start()));
}

async function withShortWindow(world: World, use: (primary: PostgresNode) => Promise<void>): Promise<void> {
  const { primary } = world.group;
  try {
    await primary.query("UPDATE compaction SET history_window = '1 s'");
    await use(primary);
  } finally {
    await primary.query("UPDATE compaction SET history_window = '24 hours'");
  }
}

/** What is written from now on is in the next partition. Beside a commit the sequence would go back. */
async function closePartition(world: World): Promise<void> {
  await world.group.primary.query(`
    BEGIN;
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    SELECT setval('revisions_revision_seq', (
      SELECT high - 1 FROM log_partitions() WHERE high > last_value ORDER BY high LIMIT 1
    )) FROM revisions_revision_seq;
    COMMIT`);
  // All that this partition will ever hold, before it may go.
  await world.archive();
}

/** Partitions that hold nothing which the window still needs. */
const partitionsBehind = (primary: PostgresNode): Promise<{ partition: string }[]> =>
  primary.query(
    'SELECT partition::text FROM log_partitions() WHERE high - 1 <= (SELECT revision FROM compaction)',
  );
