import { pause } from '../../../util/pause.ts';
import type { KnownHistory } from '../fencing/known-history.ts';
import type { PostgresReader } from '../read/reader.ts';
import type { TailPosition } from './tail-position.ts';
import type { TailSource } from './tail-source.ts';

/** How long a stream may lack what the primary shows: fresh reads wait for it. The primary's own lacks something only where it is broken. */
const LAG_MS = { primary: 1000, standby: 500 };
/** How long lags may follow one another without a streamed change; after that another host, or polling, may do better. */
const LONGEST_MS = 5000;

interface Bridged {
  readonly reader: Pick<PostgresReader, 'findVisible'>;
  readonly history: Pick<KnownHistory, 'visible'>;
  readonly position: Pick<TailPosition, 'applied' | 'followed'>;
  readonly source: Pick<TailSource, 'isStandby'>;
  /** Whether the stream has begun. */
  streams(): boolean;
  /** Reads the primary's table. */
  catchUp(): Promise<void>;
  /** Called whenever the primary has been asked; `waits`: its commits wait for standbys. */
  onShown(waits: boolean): void;
}

/**
 * Reads from the primary's table what it shows and the stream has not brought: a standby may be late, and a stream of the primary
 * whose publication is gone says nothing at all.
 * @throws Error when the stream lags for long, and what `catchUp` throws
 */
export async function bridgeLags(
  { reader, history, position, source, streams, catchUp, onShown }: Bridged,
  signal: AbortSignal,
): Promise<void> {
  const lagMs = source.isStandby ? LAG_MS.standby : LAG_MS.primary;
  let lags = 0;
  let streamed = position.followed;
  while (!signal.aborted) {
    // While the primary does not answer, nothing is known to be missing, and commits wait as they did.
    await reader.findVisible().then(onShown, () => {});
    const shown = history.visible;
    await pause(lagMs, signal);
    if (signal.aborted) return;
    if (position.followed > streamed) lags = 0;
    streamed = position.followed;
    if (!streams() || position.applied >= shown) continue;
    lags += 1;
    if (lags * lagMs > LONGEST_MS)
      throw new Error(`the ${source.isStandby ? 'standby' : 'primary'} streams nothing of what it commits`);
    await catchUp();
  }
}
