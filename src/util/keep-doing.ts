import { pause } from './pause.ts';

/** Does it again and again until the signal aborts, and waits for a while after each time that it failed. Never rejects. */
export async function keepDoing(
  work: () => Promise<void>,
  signal: AbortSignal,
  { retryMs, onError }: { readonly retryMs: number; onError(error: unknown): void },
): Promise<void> {
  while (!signal.aborted) {
    try {
      await work();
    } catch (error) {
      onError(error);
      await pause(retryMs, signal);
    }
  }
}
