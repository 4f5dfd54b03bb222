import { type Backoff, pause, pauseAfter } from '../util/pause.ts';

/** The result of a run: repeat it after the usual time, or soon. */
export type Outcome = 'well' | 'failed';

interface Pace {
  readonly everyMs: number;
  /** Pauses after failures. */
  readonly backoff: Backoff;
}

/** Repeats work until it is ended. Never rejects, and stops when its signal aborts. */
export class Repeated {
  readonly #work: (signal: AbortSignal) => Promise<Outcome>;
  readonly #pace: Pace;
  readonly #stop = new AbortController();
  #isDue = false;
  #wake = new AbortController();

  constructor(work: (signal: AbortSignal) => Promise<Outcome>, pace: Pace) {
    this.#work = work;
    this.#pace = pace;
  }

  /** Starts repeating. */
  begin(): void {
    void this.#run();
  }

  end(): void {
    this.#stop.abort();
    this.#wake.abort();
  }

  /** Runs the work now, or after the current run, because something has changed. */
  hurry(): void {
    this.#isDue = true;
    this.#wake.abort();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    for (let failures = 0; !signal.aborted; ) {
      this.#isDue = false;
      const outcome = await this.#work(signal);
      failures = outcome === 'failed' ? failures + 1 : 0;
      if (this.#isDue || signal.aborted) continue;
      this.#wake = new AbortController();
      const { everyMs, backoff } = this.#pace;
      await pause(failures > 0 ? pauseAfter(failures, backoff) : everyMs, this.#wake.signal);
    }
  }
}
