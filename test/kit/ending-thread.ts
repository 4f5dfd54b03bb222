import { existsSync, rmSync } from 'node:fs';
import { isMainThread, workerData } from 'node:worker_threads';

/** Preloaded: a serving thread that finds this file beside its data takes it away, and ends as by an error of its own. */
export const END_A_THREAD = 'end-a-thread';
/** The same for one that then does nothing but count. */
export const HANG_A_THREAD = 'hang-a-thread';

if (!isMainThread) {
  const { args = [] } = (workerData ?? {}) as { args?: readonly string[] };
  const folder = args.find((argument) => argument.startsWith('--data-dir='))?.slice('--data-dir='.length);
  const isAsked = (name: string): boolean => {
    const path = `${folder}/${name}`;
    if (!existsSync(path)) return false;
    rmSync(path);
    return true;
  };
  const looking = setInterval(() => {
    if (isAsked(END_A_THREAD)) throw new Error('this thread was made to end');
    if (isAsked(HANG_A_THREAD)) for (;;);
  }, 50);
  looking.unref();
}
