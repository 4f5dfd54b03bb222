import pg from 'pg';
import { sleep, until } from '../world/until.ts';
import type { World } from '../world/world.ts';
import type { Fault } from './fault.ts';

/** Between servers and databases, between databases, and before servers. */
export const NETWORK_FAULTS: readonly Fault[] = [
  {
    name: 'cut',
    run: async ({ world, random }) => {
      for (let times = random.between(1, 4); times > 0; times -= 1) {
        for (const network of random.pick(world.servers).databases) network.cut();
        await sleep(random.between(50, 700));
      }
    },
  },
  {
    // Commits are made, and their answers are lost; the other side does not hear that the connection is gone either.
    name: 'half-open',
    run: async ({ world, random }) => {
      const { databases } = random.pick(world.servers);
      for (const network of databases) network.flow('pass', 'drop');
      await sleep(random.between(300, 1500));
      for (const network of databases) network.cut('near');
      await sleep(random.between(0, 300));
      for (const network of databases) network.heal();
    },
  },
  {
    name: 'black-hole',
    run: async ({ world, random }) => {
      const { databases } = random.pick(world.servers);
      for (const network of databases) network.flow('drop', 'drop');
      await sleep(random.between(2000, 7000));
      for (const network of databases) network.heal();
    },
  },
  {
    name: 'delay',
    run: async ({ world, random }) => {
      const { databases } = random.pick(world.servers);
      const ms = random.between(20, 250);
      for (const network of databases) network.delay(ms);
      await sleep(random.between(1500, 3000));
      for (const network of databases) network.heal();
    },
  },
  {
    // A commit is in the log of the primary for that long before it may be shown: tails that begin meanwhile must not miss it.
    name: 'slow-standby',
    run: async ({ world, random }) => {
      const link = world.group.link('sync');
      link.delay(random.pick([5, 30, 120, 400]));
      for (let times = random.between(4, 10); times > 0; times -= 1) {
        await endTails(world);
        await sleep(random.between(400, 900));
      }
      link.delay(0);
    },
  },
  {
    // A slot is made in steps, each of which waits for those who write. What commits during the last is what it leaves out; here
    // such commits wait for their standby until the tail has caught up.
    name: 'slot-beside-commits',
    run: async ({ world }) => {
      const link = world.group.link('sync');
      await using one = await openTransaction(world);
      await endTails(world);
      await slotWaitsFor(world, one.xid);
      await using other = await openTransaction(world);
      await one.end();
      await slotWaitsFor(world, other.xid);
      link.delay(2000);
      await sleep(300);
      await other.end();
      await sleep(700);
      link.delay(0);
      await world.group.waitForStandby('sync');
    },
  },
  {
    name: 'client-cut',
    run: async ({ world, random }) => {
      for (let times = random.between(1, 6); times > 0; times -= 1) {
        random.pick(world.servers).front.cut(random.pick(['both', 'near'] as const));
        await sleep(random.between(20, 300));
      }
      for (const { front } of world.servers) front.heal();
    },
  },
  {
    name: 'client-half-open',
    run: async ({ world, random }) => {
      const { front } = random.pick(world.servers);
      front.flow('pass', 'drop');
      await sleep(random.between(200, 1500));
      front.heal();
    },
  },
];

/** One that the making of a slot waits for. */
async function openTransaction({ group }: World) {
  const client = new pg.Client({ connectionString: group.primary.url });
  client.on('error', () => {});
  await client.connect();
  await client.query('BEGIN');
  const { rows } = await client.query<{ xid: string }>('SELECT pg_current_xact_id()::text AS xid');
  const end = (): Promise<void> => client.end().catch(() => {});
  return { xid: rows[0]?.xid ?? '', end, [Symbol.asyncDispose]: end };
}

/** Servers that are slow to come back are left out. */
async function slotWaitsFor({ group }: World, xid: string): Promise<void> {
  const waiting = 'SELECT FROM pg_locks WHERE transactionid::text = $1 AND NOT granted';
  const waits = async (): Promise<boolean> => (await group.primary.query(waiting, [xid])).length > 0;
  await until('a slot waits', waits, 8000).catch(() => {});
}

export async function endTails({ group }: World): Promise<void> {
  await group.primary
    .query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_replication WHERE application_name LIKE 'pg-apiserver%'",
    )
    .catch(() => {});
}
