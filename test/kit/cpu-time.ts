import { threadMs } from './thread-time.ts';

/** What the work costs this thread, in milliseconds: helpers of V8 and of files that share the process do not count. */
export function cpuMsOf(work: () => void): number {
  const begun = threadMs();
  work();
  return threadMs() - begun;
}
