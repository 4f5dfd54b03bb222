import pg from 'pg';
import type { DatabaseGroup } from '../world/group.ts';
import type { PostgresNode } from '../world/postgres-node.ts';
import { sleep, until } from '../world/until.ts';
import type { Fault, Scene } from './fault.ts';
import { endTails } from './network-faults.ts';

/** A fast shutdown takes a fraction of a second, and longer only when a connection delays it. */
const SHUTDOWN_MS = 10_000;
const YEAR = "interval '1 year'";

export const DATABASE_FAULTS: readonly Fault[] = [
  {
    name: 'kill-postgres',
    run: async ({ world, random }) => {
      await world.group.primary.kill();
      await sleep(random.between(0, 1500));
      await world.group.primary.start();
      await world.group.waitForSync();
    },
  },
  {
    name: 'kill-backend',
    run: async ({ world }) => {
      await world.group.primary.killBackend().catch(() => {});
      await until('PostgreSQL is back', () => world.group.primary.query('SELECT 1').then(() => true));
      await world.group.waitForSync();
    },
  },
  {
    name: 'restart-postgres',
    run: async ({ world, random, found }) => {
      await stopDatabase({ world, found });
      await sleep(random.between(0, 1500));
      await world.group.primary.start();
      await world.group.waitForSync();
    },
  },
  {
    name: 'stall-postgres',
    run: async ({ world, random }) => {
      world.group.primary.suspend();
      await sleep(random.between(500, 4000));
      world.group.primary.resume();
    },
  },
  {
    name: 'read-only',
    run: async ({ world, random }) => {
      const { primary } = world.group;
      await primary.configure({ default_transaction_read_only: 'on' });
      await sleep(random.between(1000, 3000));
      await primary.configure({ default_transaction_read_only: 'off' });
    },
  },
  {
    // Others have all slots of the primary. A standby streams to the server that reads from standbys, until its network fails.
    name: 'no-slot',
    run: async ({ world, random }) => {
      const { group } = world;
      const { primary } = group;
      const link = group.link(random.pick(['sync', 'async']));
      try {
        await takeSlots(primary);
        await endTails(world);
        await takeSlots(primary);
        await until('a standby streams', () => doesStandbyStream(group), 8000).catch(() => {});
        await sleep(random.between(500, 2500));
        link.flow('drop', 'drop');
        await sleep(random.between(500, 3000));
      } finally {
        link.heal();
        link.cut();
        await primary.query(
          "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name LIKE 'taken_%'",
        );
      }
      for (const role of ['sync', 'async'] as const) await group.waitForStandby(role);
    },
  },
  {
    name: 'promotion',
    run: ({ world }) => world.failOver('sync'),
  },
  {
    // Everything that is acknowledged after the cut is lost, as after a restore to a moment before it.
    name: 'lossy-promotion',
    run: async ({ world, random }) => {
      await world.group.cutOff('async');
      await sleep(random.between(800, 2000));
      await world.failOver('async');
    },
  },
  {
    // The standby is gone, commits wait for it, and an operator ends their backends: what was not on two disks must not have been
    // acknowledged by that, because the standby without it becomes the primary.
    name: 'end-stalled',
    run: async ({ world, random }) => {
      const { group } = world;
      group.link('sync').flow('drop', 'drop');
      const ends = random.pick(['pg_cancel_backend', 'pg_terminate_backend']);
      for (let times = random.between(2, 5); times > 0; times -= 1) {
        await sleep(random.between(200, 500));
        await group.primary
          .query(`SELECT ${ends}(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`)
          .catch(() => {});
      }
      await sleep(random.between(100, 600));
      // What those showed whose wait was ended was shown to everybody who reads this PostgreSQL.
      await world.failOver('sync', true);
    },
  },
  {
    name: 'analyst',
    run: async (scene) => {
      await withAnalyst(scene, async (analyst) => {
        const { random, acknowledged, found } = scene;
        await analyst.query('BEGIN');
        await analyst.query(
          "SELECT pg_advisory_xact_lock(hashtext('pg-apiserver'), hashtext('commit_revisions'))",
        );
        await analyst.query('SELECT count(*) FROM revisions');
        const before = acknowledged();
        const lastsMs = random.between(5000, 6000);
        await sleep(lastsMs);
        if (acknowledged() === before)
          found({
            rule: 'who may read cannot stop writes',
            facts: `no write was acknowledged for ${lastsMs} ms`,
          });
        await analyst.query('ROLLBACK');
      });
    },
  },
  {
    // What a clock that was a year ahead has left.
    name: 'clock',
    run: async ({ world, found }) => {
      const { primary } = world.group;
      const fromMs = performance.now();
      // Beside a commit it would date the row before the newest, where no clock leaves one.
      await primary.query(
        `BEGIN; LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
        UPDATE revisions SET committed_at = committed_at + ${YEAR} WHERE revision = (SELECT max(revision) FROM revisions);
        COMMIT`,
      );
      const right = async (): Promise<boolean> => {
        const [row] = await primary.query<{ right: boolean }>(
          "SELECT max(committed_at) < now() + interval '10 minutes' AS right FROM revisions",
        );
        return row?.right === true;
      };
      await until('the log has the right time again', right, 20_000).catch(() => {
        const facts = 'rows of the log are still dated a year ahead after 20 s';
        found({ rule: 'a clock that was wrong does not stay wrong', facts });
      });
      world.wrongClocks.push([fromMs, performance.now()]);
    },
  },
  {
    // History is cut off closely behind those who read it.
    name: 'compact',
    run: async ({ world, random }) => {
      const { primary } = world.group;
      const before = (await world.compaction()).revision;
      // Of what comes later, nothing is in a partition that may go.
      await world.archive();
      try {
        await primary.query(`UPDATE compaction SET history_window = '${random.between(200, 3000)} ms'`);
        const isCut = async (): Promise<boolean> => (await world.compaction()).revision > before;
        await until('history is cut off', isCut);
        await sleep(random.between(0, 1500));
      } finally {
        await primary.query("UPDATE compaction SET history_window = '24 hours'");
      }
    },
  },
];

/** A fast shutdown, which no connection may delay. */
export async function stopDatabase({ world, found }: Pick<Scene, 'world' | 'found'>): Promise<void> {
  const tookMs = await world.group.primary.stop();
  if (tookMs <= SHUTDOWN_MS) return;
  found({ rule: 'PostgreSQL can shut down', facts: `a fast shutdown took ${Math.round(tookMs)} ms` });
}

/** A client that may connect and read everything, and nothing else. */
async function withAnalyst({ world }: Scene, use: (client: pg.Client) => Promise<void>): Promise<void> {
  const { primary } = world.group;
  const role = 'analyst';
  await primary.query(`DO $$ BEGIN CREATE ROLE ${role} LOGIN PASSWORD 'secret';
    EXCEPTION WHEN duplicate_object THEN NULL; END $$`);
  await primary.query(`GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${role}`);
  const url = new URL(primary.url);
  url.username = role;
  url.password = 'secret';
  const client = new pg.Client({ connectionString: url.href });
  client.on('error', () => {});
  await client.connect();
  await use(client).finally(() => client.end());
}

/** All that are free. */
async function takeSlots(primary: PostgresNode): Promise<void> {
  const take = `SELECT pg_create_physical_replication_slot('taken_' || coalesce(max(substring(slot_name, 7)::int), 0) + 1)
    FROM pg_replication_slots WHERE slot_name LIKE 'taken_%'`;
  for (;;) {
    const left = await primary.query(take).catch(() => []);
    if (left.length === 0) return;
  }
}

async function doesStandbyStream({ standbys }: DatabaseGroup): Promise<boolean> {
  const streams = "SELECT FROM pg_replication_slots WHERE slot_type = 'logical' AND temporary AND active";
  for (const node of standbys.values())
    if ((await node.query(streams).catch(() => [])).length > 0) return true;
  return false;
}
