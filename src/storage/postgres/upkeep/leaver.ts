import { pause } from '../../../util/pause.ts';

/**
 * Leaves partitions behind the window, step by step (leave_partition, in migrations/): `makeStep` makes one, and returns its answer. A
 * step copies a thousand states for some tenths of a second. Commits do not wait for it, but share processors and disk with it; for
 * as long as it took, the next one leaves these to them. Where several servers leave the same partition, steps of others fall into the pause.
 * @throws what PostgreSQL and the network say; then, and on the signal, another call goes on
 */
export async function leavePartitions(makeStep: () => Promise<string>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const begunMs = performance.now();
    if ((await makeStep()) === 'nothing') return;
    await pause(performance.now() - begunMs, signal);
  }
}
