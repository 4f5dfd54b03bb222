/**
 * Browsers limit HTTP/1.1, which `kubectl proxy` speaks, to six connections per server, shared by all tabs and windows. A
 * stream occupies one, and a seventh page would never load. So fewer streams are allowed than connections; a page without one
 * polls instead. HTTP/2 has no such limit.
 */
const PLACES = 3;

/** A poll of a page without a stream: changes since the last poll, and those of one second. */
export const BRIEF_SECONDS = 1;
export const BRIEF_PAUSE_MS = 3000;

const hasRoomForAll = (): boolean => {
  const [entry] = performance.getEntriesByType('navigation');
  const protocol = entry instanceof PerformanceNavigationTiming ? entry.nextHopProtocol : '';
  // Pages coordinate by the browser's locks; without locks each is on its own.
  return /^h[23]/.test(protocol) || navigator.locks === undefined;
};

/** Returns a function that frees the place; undefined: none is free. */
export async function takePlace(): Promise<(() => void) | undefined> {
  if (hasRoomForAll()) return () => {};
  for (let place = 0; place < PLACES; place++) {
    const leave = await tryPlace(`pg-apiserver-stream-${place}`);
    if (leave !== undefined) return leave;
  }
  return undefined;
}

const tryPlace = (name: string): Promise<(() => void) | undefined> =>
  new Promise((resolve) => {
    const hold = (lock: Lock | null): Promise<void> | undefined => {
      if (lock !== null) return new Promise((leave) => resolve(leave));
      resolve(undefined);
      return undefined;
    };
    // Without working locks, every page gets a place.
    navigator.locks.request(name, { ifAvailable: true }, hold).catch(() => resolve(() => {}));
  });
