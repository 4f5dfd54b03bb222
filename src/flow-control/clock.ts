/** Time as the queues see it; tests turn it by hand. */
export interface FlowClock {
  /** Monotonic, in milliseconds. */
  now(): number;
  /** When `now` was, on the calendar. */
  toDate(now: number): Date;
  /** Calls back once after `ms` milliseconds. What it returns calls that off. */
  after(ms: number, callback: () => void): () => void;
  /** Calls back when everything has had its turn that arrived meanwhile: in the next round of the event loop. */
  soon(callback: () => void): void;
}

export const systemClock: FlowClock = {
  now: () => performance.now(),
  toDate: (now) => new Date(performance.timeOrigin + now),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
  soon: (callback) => void setImmediate(callback),
};
