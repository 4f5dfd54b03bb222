export type Loop = (signal: AbortSignal, also: AlsoRun) => Promise<void>;

/** For a loop that finds out what else is to be run. */
export type AlsoRun = (loop: Loop) => void;

/**
 * Runs loops that are of no use without each other, until the signal aborts. When one of them fails, the others are stopped and
 * waited for, so that all can begin again. @throws what the first that failed threw
 */
export async function runTogether(loops: readonly Loop[], signal: AbortSignal): Promise<void> {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const running = new Set<Promise<void>>();
  const errors: unknown[] = [];
  const start = (loop: Loop): void => {
    const run = loop(either, start)
      .catch((error: unknown) => {
        errors.push(error);
        stop.abort();
      })
      .finally(() => running.delete(run));
    running.add(run);
  };
  for (const loop of loops) start(loop);
  while (running.size > 0) await Promise.all(running);
  if (errors.length > 0) throw errors[0];
}
