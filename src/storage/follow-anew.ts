import { StorageError } from './errors.ts';

/**
 * Follows until the signal aborts, and begins anew when the history that was followed is gone (410): that is how a history
 * ends, and no failure. @throws what else `follow` throws
 */
export async function followAnew(follow: () => Promise<void>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await follow();
    } catch (error) {
      if (!(error instanceof StorageError) || error.failure.kind !== 'compacted') throw error;
    }
  }
}
