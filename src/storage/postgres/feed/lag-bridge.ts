import { pause } from '../../../util/pause.ts';
import type { KnownHistory } from '../fencing/known-history.ts';
import type { PostgresReader } from '../read/reader.ts';
import type { TailPosition } from './tail-position.ts';
import type { TailSource } from './tail-source.ts';

/** How long the stream may lack what the primary shows: fresh reads wait for it. */
const LAG_MS = 500;
/** Lags without a streamed change in between; then another host, or polling, may do better. */
const MAX_LAGS = 10;

interface Bridged {
  readonly reader: Pick<PostgresReader, 'findVisible'>;
  readonly history: Pick<KnownHistory, 'visible'>;
  readonly position: Pick<TailPosition, 'applied' | 'followed'>;
  readonly source: Pick<TailSource, 'isStandby'>;
  /** Whether the stream has begun. */
  streams(): boolean;
  /** Reads the primary's table. */
  catchUp(): Promise<void>;
}

/**
 * Reads from the primary's table what it shows and the stream has not brought: a standby may be late, and a stream of the primary
 * whose publication is gone says nothing at all.
 * @throws Error when the stream lags for long, and what `catchUp` throws
 */
export async function bridgeLags(
  { reader, history, position, source, streams, catchUp }: Bridged,
  signal: AbortSignal,
): Promise<void> {
  let lags = 0;
  let streamed = position.followed;
  while (!signal.aborted) {
    // While the primary does not answer, nothing is known to be missing.
    await reader.findVisible().catch(() => {});
    const shown = history.visible;
    await pause(LAG_MS, signal);
    if (signal.aborted) return;
    if (position.followed > streamed) lags = 0;
    streamed = position.followed;
    if (!streams() || position.applied >= shown) continue;
    lags += 1;
    if (lags > MAX_LAGS)
      throw new Error(`the ${source.isStandby ? 'standby' : 'primary'} streams nothing of what it commits`);
    await catchUp();
  }
}
