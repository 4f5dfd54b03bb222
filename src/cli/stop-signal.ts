/** The error of a start that a signal stopped. */
class Stopped extends Error {
  constructor(signal: NodeJS.Signals) {
    super(`stopped by ${signal}`);
    this.name = 'Stopped';
  }
}

/** Aborts at the first SIGINT or SIGTERM. A second one ends the process at once. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  const onSignal = (signal: NodeJS.Signals): void => {
    if (stop.signal.aborted) process.exit(130);
    stop.abort(new Stopped(signal));
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return stop.signal;
}
