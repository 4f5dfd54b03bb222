/**
 * A browser has six connections to a server that speaks HTTP/1.1, as `kubectl proxy` does, and all its tabs and windows share them. A
 * stream keeps one of them for itself, and a seventh page would never load. So there are fewer places for streams than connections;
 * a page that finds none asks now and then instead. Over HTTP/2 there is room for all.
 */
const PLACES = 3;

/** What a page without a place asks for: what happened since it last asked, and a second of what happens. */
export const BRIEF_SECONDS = 1;
export const BRIEF_PAUSE_MS = 3000;

const hasRoomForAll = (): boolean => {
  const [entry] = performance.getEntriesByType('navigation');
  const protocol = entry instanceof PerformanceNavigationTiming ? entry.nextHopProtocol : '';
  // The browser's locks are what pages find each other by; without them each is on its own.
  return /^h[23]/.test(protocol) || navigator.locks === undefined;
};

/** Answers how to give the place back; undefined: there is none. */
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
    // A browser that knows no locks here lets everybody in.
    navigator.locks.request(name, { ifAvailable: true }, hold).catch(() => resolve(() => {}));
  });
