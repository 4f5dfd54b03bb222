/** Whether the page is visible: a tab in the background is not. */

const isVisible = (): boolean => document.visibilityState !== 'hidden';

/** Resolves when the page becomes visible, or the signal aborts. */
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

/** Returns a signal that aborts when the page is hidden, or `signal` aborts. Call `end` when it is no longer needed. */
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
