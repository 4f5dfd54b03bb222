import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type ApiServer, MAIN } from '../world/api-server.ts';
import { sleep } from '../world/until.ts';
import { stopDatabase } from './database-faults.ts';
import type { Fault } from './fault.ts';

const run = promisify(execFile);

/** One server after the other becomes the newest version, and is killed on the way now and then: it migrates while others serve. */
export const UPGRADE: Fault = {
  name: 'upgrade',
  run: async ({ world, random }) => {
    const isOlder = ({ main }: ApiServer): boolean => main !== MAIN;
    const server = world.servers.find(isOlder);
    if (server === undefined) return;
    await server.stop('SIGTERM');
    server.main = MAIN;
    for (let kills = random.between(0, 2); kills > 0; kills -= 1) {
      server.launch();
      await sleep(random.between(500, 4000));
      await server.stop('SIGKILL');
    }
    await server.start();
  },
};

export const SERVER_FAULTS: readonly Fault[] = [
  {
    name: 'kill-server',
    run: async ({ world, random }) => {
      const server = random.pick(world.servers);
      await server.stop('SIGKILL');
      await sleep(random.between(0, 800));
      await server.start();
    },
  },
  {
    name: 'restart-server',
    run: async ({ world, random, found }) => {
      const server = random.pick(world.servers);
      const tookMs = await server.stop('SIGTERM');
      if (tookMs > 45_000)
        found({
          rule: 'a server ends on SIGTERM',
          facts: `server ${server.index} took ${Math.round(tookMs)} ms`,
        });
      await server.start();
    },
  },
  {
    name: 'stall-server',
    run: async ({ world, random, found, acknowledged }) => {
      const server = random.pick(world.servers);
      const other = world.servers.find((one) => one !== server)?.index;
      server.signal('SIGSTOP');
      // Its clients wait for it, so that the other has fewer of them.
      await sleep(500);
      const before = acknowledged(other);
      const lastsMs = random.between(1500, 5000);
      await sleep(lastsMs);
      if (acknowledged(other) === before) {
        const facts = `server ${other} acknowledged nothing for ${lastsMs} ms while server ${server.index} stood still`;
        found({ rule: 'one server cannot stop another', facts });
      }
      server.signal('SIGCONT');
    },
  },
  {
    // Commits that wait for a standby, the loss of their answers, and a server that must say what became of them before it ends.
    name: 'stop-stalled',
    run: async ({ world, random }) => {
      const server = random.pick(world.servers);
      const link = world.group.link('sync');
      link.flow('drop', 'drop');
      await sleep(random.between(400, 800));
      for (const network of server.databases) network.cut('near');
      await sleep(random.between(100, 600));
      await server.stop('SIGTERM');
      link.heal();
      // Until it hears that its peers are gone, PostgreSQL does not shut down.
      for (const network of server.databases) network.heal();
      await world.group.waitForSync();
      await server.start();
    },
  },
  {
    name: 'late-database',
    run: async ({ world, random, found }) => {
      const server = random.pick(world.servers);
      await server.stop('SIGKILL');
      await stopDatabase({ world, found });
      server.launch();
      await sleep(random.between(500, 3000));
      if (!server.isRunning) {
        const facts = `server ${server.index} has ended: ${server.output.slice(-300)}`;
        found({ rule: 'a server waits for its database', facts });
        server.launch();
      }
      await world.group.primary.start();
      await server.serves();
    },
  },
  {
    name: 'rotate-key',
    run: async ({ world, random, found }) => {
      const args = [MAIN, 'rotate-signing-key', `--kvstore-servers=${world.group.primary.url}`];
      await run(process.execPath, args).catch((error: unknown) => {
        found({
          rule: 'a signing key can be changed',
          facts: error instanceof Error ? error.message : String(error),
        });
      });
      await sleep(random.between(200, 1500));
      const server = random.pick(world.servers);
      if (random.next() < 0.5) for (const network of server.databases) network.cut();
    },
  },
];
