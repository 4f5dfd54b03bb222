import { sleep, until } from '../world/until.ts';
import type { Fault } from './fault.ts';

/** Within which a server finds out that another host has become the primary, while its own goes on. */
const NOTICED_MS = 6000;

/** What makes it doubtful which history the database has. */
export const HISTORY_FAULTS: readonly Fault[] = [
  {
    // Nothing is lost, so that all watches go on: an epoch would make every client list everything again.
    name: 'switchover',
    run: async ({ world, found }) => {
      const before = (await world.epochs()).length;
      await world.group.switchOver();
      await world.ready();
      const epochs = (await world.epochs()).slice(before);
      for (const { after, reason } of epochs)
        found({
          rule: 'a switchover that loses nothing begins no epoch',
          facts: `one began after ${after}: ${reason}`,
        });
    },
  },
  {
    name: 'not-fenced',
    run: ({ world, random }) =>
      world.promoteBeside(random.pick(['sync', 'async'] as const), {
        lastsMs: NOTICED_MS + random.between(1000, 4000),
        noticedMs: NOTICED_MS,
      }),
  },
  {
    // The servers remember what the volume has forgotten.
    name: 'volume-back',
    run: ({ world, random }) => world.goBack(() => sleep(random.between(1500, 4000))),
  },
  {
    // None of them runs when the volume goes back: only what is written outside of the database knows.
    name: 'cold-volume-back',
    run: async ({ world, random }) => {
      await world.goBack(async () => {
        await sleep(random.between(1500, 4000));
        for (const server of world.servers) await server.stop(random.pick(['SIGTERM', 'SIGKILL'] as const));
      });
      for (const server of world.servers) await server.start();
    },
  },
  {
    // As after a restore of a dump that left it out. PostgreSQL 18 streams nothing then, and only warns.
    name: 'lost-publication',
    run: async ({ world, random, found }) => {
      const { primary } = world.group;
      await primary.query('DROP PUBLICATION pg_apiserver_revisions');
      if (random.next() < 0.5) for (const server of world.servers) await server.stop('SIGKILL');
      for (const server of world.servers) {
        if (!server.isRunning) server.launch();
        for (const network of server.databases) network.cut();
      }
      await world.ready(30_000).catch((error: unknown) => {
        const facts = error instanceof Error ? error.message : String(error);
        found({ rule: 'servers see changes without their publication', facts });
      });
      const isThere = async (): Promise<boolean> =>
        (await primary.query("SELECT FROM pg_publication WHERE pubname = 'pg_apiserver_revisions'")).length >
        0;
      await until('the publication is there again', isThere, 30_000).catch(async () => {
        found({ rule: 'servers make their publication again', facts: 'it is not there after 30 s' });
        await primary.query(
          "CREATE PUBLICATION pg_apiserver_revisions FOR TABLE revisions WITH (publish = 'insert', publish_via_partition_root = true)",
        );
      });
    },
  },
];
