import { workerData } from 'node:worker_threads';
import { parseOptions, type ServerOptions } from '../options/options.ts';
import { createEgress } from '../server/egress.ts';
import { startServingThread } from '../server/threads/serving-thread.ts';
import type { ThreadStart } from '../server/threads/thread-contract.ts';
import { giveBackMemory } from '../util/give-back-memory.ts';
import { openLog } from './open-log.ts';

/** Runs in a thread of a server. Resolves when it serves. */
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
