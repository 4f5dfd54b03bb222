/** The error of a start that a signal stopped. */
class Stopped extends Error {
  constructor(cause: string) {
    super(`stopped by ${cause}`);
    this.name = 'Stopped';
  }
}

/** How often the parent is looked for, which costs a system call. */
const PARENT_MS = 200;

interface StopWishes {
  /** The end of the parent process counts as a signal. */
  readonly exitsWithParent: boolean;
}

/** Aborts at the first SIGINT or SIGTERM. A second one ends the process at once. */
export function stopSignal({ exitsWithParent }: StopWishes = { exitsWithParent: false }): AbortSignal {
  const stop = new AbortController();
  const onSignal = (signal: NodeJS.Signals): void => {
    if (stop.signal.aborted) process.exit(130);
    stop.abort(new Stopped(signal));
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  if (exitsWithParent) onParentsEnd(() => stop.abort(new Stopped('the end of the parent process')));
  return stop.signal;
}

/** Another process adopts the children of one that ended, however that ended. */
function onParentsEnd(act: () => void): void {
  const parent = process.ppid;
  const looking = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(looking);
    act();
  }, PARENT_MS).unref();
}
