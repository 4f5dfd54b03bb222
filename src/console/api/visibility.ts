/** Whether somebody can see the page: in a tab in the background nobody does. */

const isVisible = (): boolean => document.visibilityState !== 'hidden';

/** Resolves when the page is seen, or the signal aborts. */
export function whenVisible(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (!isVisible() && !signal.aborted) return;
      document.removeEventListener('visibilitychange', look);
      signal.removeEventListener('abort', look);
      resolve();
    };
    document.addEventListener('visibilitychange', look);
    signal.addEventListener('abort', look);
    look();
  });
}

/** A signal that aborts when nobody sees the page any more, or when `signal` does. `end` when it is no longer needed. */
export function whileVisible(signal: AbortSignal): { readonly signal: AbortSignal; end(): void } {
  const hidden = new AbortController();
  const look = (): void => {
    if (!isVisible()) hidden.abort();
  };
  document.addEventListener('visibilitychange', look);
  look();
  return {
    signal: AbortSignal.any([signal, hidden.signal]),
    end: () => document.removeEventListener('visibilitychange', look),
  };
}
