import { sleep } from '../world/until.ts';
import type { Fault, Scene } from './fault.ts';

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
    // Commits are made, and nobody hears of them; the other side does not hear that the connection is gone either.
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
    // A commit is in the log of the primary for that long before anybody may see it: tails that begin meanwhile must not miss it.
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

async function endTails({ group }: Scene['world']): Promise<void> {
  await group.primary
    .query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_replication WHERE application_name LIKE 'pg-apiserver%'",
    )
    .catch(() => {});
}
