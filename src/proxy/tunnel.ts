import type { Duplex } from 'node:stream';

/** One side has ended; the other may finish what it has to say, but not sit there. */
const GRACE_MS = 10_000;

/**
 * Copies both ways, each no faster than its reader reads. Ends both when one ends, breaks or the signal aborts. Never rejects:
 * a broken connection is how most of these end.
 */
export function joinStreams(client: Duplex, backend: Duplex, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    let grace: NodeJS.Timeout | undefined;
    const destroy = (): void => {
      client.destroy();
      backend.destroy();
    };
    const done = (): void => {
      if (!client.closed || !backend.closed) return;
      clearTimeout(grace);
      signal.removeEventListener('abort', destroy);
      resolve();
    };
    const follow = (side: Duplex, other: Duplex): void => {
      side.on('error', () => {});
      side.once('end', () => {
        grace ??= setTimeout(destroy, GRACE_MS).unref();
      });
      side.once('close', () => {
        // What was read of it may still be on its way out.
        if (side.readableEnded) other.end(() => other.destroy());
        else other.destroy();
        done();
      });
    };
    follow(client, backend);
    follow(backend, client);
    signal.addEventListener('abort', destroy, { once: true });
    client.pipe(backend);
    backend.pipe(client);
    if (signal.aborted) destroy();
    else if (client.destroyed || backend.destroyed) destroy();
    done();
  });
}
