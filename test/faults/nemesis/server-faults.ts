import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { MAIN } from '../world/api-server.ts';
import { sleep, until } from '../world/until.ts';
import type { Fault } from './fault.ts';

const run = promisify(execFile);

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
          rule: 'a server ends when it is told to',
          facts: `server ${server.index} took ${Math.round(tookMs)} ms`,
        });
      await server.start();
    },
  },
  {
    name: 'stall-server',
    run: async ({ world, random }) => {
      const server = random.pick(world.servers);
      server.signal('SIGSTOP');
      await sleep(random.between(1000, 5000));
      server.signal('SIGCONT');
    },
  },
  {
    name: 'late-database',
    run: async ({ world, random, found }) => {
      const server = random.pick(world.servers);
      await server.stop('SIGKILL');
      await world.group.primary.stop();
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
      await until('the new key signs', () => Promise.resolve(true));
    },
  },
];
