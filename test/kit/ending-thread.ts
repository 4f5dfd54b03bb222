import { existsSync, rmSync } from 'node:fs';
import { isMainThread, workerData } from 'node:worker_threads';

/** Preloaded: a serving thread that finds this file beside its data takes it away, and ends as by an error of its own. */
export const END_A_THREAD = 'end-a-thread';

if (!isMainThread) {
  const { args = [] } = (workerData ?? {}) as { args?: readonly string[] };
  const folder = args.find((argument) => argument.startsWith('--data-dir='))?.slice('--data-dir='.length);
  const path = `${folder}/${END_A_THREAD}`;
  const looking = setInterval(() => {
    if (!existsSync(path)) return;
    rmSync(path);
    throw new Error('this thread was made to end');
  }, 50);
  looking.unref();
}
