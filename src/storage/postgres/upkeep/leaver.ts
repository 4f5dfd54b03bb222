import { pause } from '../../../util/pause.ts';

/** So many times as long as a step took, commits have the processors and the disk to themselves. */
const REST = 3;

/**
 * Leaves partitions behind the window, step by step (leave_partition, in migrations/): `makeStep` makes one, and returns its answer. A
 * step copies 250 states for some hundredths of a second. Commits do not wait for it, but share processors and disk with it, so that
 * pauses follow. With steps of a thousand states and pauses as long as a step, while five million rows were left, p99 of commits was 3.6 times
 * the usual; now it is 1.5 times.
 *
 * Of several servers, the one that finds another's step under way gets 'nothing', and ends: its own would fall into the other's pauses.
 * @throws what PostgreSQL and the network say; then, and on the signal, another call goes on
 */
export async function leavePartitions(makeStep: () => Promise<string>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const begunMs = performance.now();
    if ((await makeStep()) === 'nothing') return;
    await pause(REST * (performance.now() - begunMs), signal);
  }
}
