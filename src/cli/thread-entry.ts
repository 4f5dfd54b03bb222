import { existsSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { workerData } from 'node:worker_threads';
import { parseOptions, type ServerOptions } from '../options/options.ts';
import { createEgress } from '../server/egress.ts';
import { startServingThread } from '../server/threads/serving-thread.ts';
import type { ThreadStart } from '../server/threads/thread-contract.ts';
import { giveBackMemory } from '../util/give-back-memory.ts';
import { openLog } from './open-log.ts';

/** Runs in a thread that {@link threadEntry} began. Resolves when it serves. */
export async function serveThread(): Promise<void> {
  const { args, port, ...start } = workerData as ThreadStart;
  const options = withPort(parseOptions(args), port);
  const egress = createEgress(options.observability.egress);
  await startServingThread({ ...start, port, options, egress, logger: openLog(options.observability) });
  giveBackMemory();
}

const withPort = (options: ServerOptions, securePort: number): ServerOptions => ({
  ...options,
  serving: { ...options.serving, securePort },
});

/** The module of a thread: the command line's own entry, beside this module or below the bundle that this module is part of. */
export function threadEntry(): string {
  const here = fileURLToPath(import.meta.url);
  const beside = join(dirname(here), `entry${extname(here)}`);
  return existsSync(beside) ? beside : join(dirname(here), 'cli', 'entry.js');
}
