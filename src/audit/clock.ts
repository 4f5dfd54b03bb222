/** Time, so that tests need not wait for it. */
export interface Clock {
  /** Milliseconds since any moment. */
  now(): number;
  /** Calls once, after `ms` milliseconds. Answers how to call it off. */
  after(ms: number, call: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after: (ms, call) => {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
};
