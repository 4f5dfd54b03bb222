import { type Backoff, pause, pauseAfter, Rest } from '../../../util/pause.ts';
import type { CommitBell } from './commit-bell.ts';

/** Interval where no commit rings: watches are that much slower, and the database gets four queries a second. */
const POLL_MS = 250;
/** Interval where commits ring, in case one was missed. */
const HEARD_POLL_MS = 1000;
/** Interval of polls that commits or waiting reads ask for: as long as a poll takes. */
const HURRIED_POLL_MS = 5;
const POLLS: Backoff = { firstMs: POLL_MS, longestMs: 2000 };

interface Polled {
  /** Reads what is new. */
  poll(): Promise<void>;
  /** Aborts when polling is to end. */
  readonly signal: AbortSignal;
}

/** Poller polls where nothing streams: at once when a read waits or a commit rings, else now and then. */
export class Poller {
  readonly #bell: Pick<CommitBell, 'isHeard' | 'run'>;
  readonly #untilPoll = new Rest();

  constructor(bell: Pick<CommitBell, 'isHeard' | 'run'>) {
    this.#bell = bell;
  }

  /** Polls soon, for a read that waits. */
  hurry(): void {
    this.#untilPoll.cutShort();
  }

  /** Never rejects. */
  async run({ poll, signal }: Polled): Promise<void> {
    // Mostly the stream is there before, and no poll is needed.
    await this.#untilPoll.take({ leastMs: 0, mostMs: POLL_MS }, signal);
    if (signal.aborted) return;
    const ringing = this.#bell.run(() => this.hurry(), signal);
    let failures = 0;
    while (!signal.aborted) {
      failures = await poll().then(
        () => 0,
        () => failures + 1,
      );
      if (failures > 0) await pause(pauseAfter(failures, POLLS), signal);
      else await this.#rest(signal);
    }
    await ringing;
  }

  #rest(signal: AbortSignal): Promise<void> {
    const mostMs = this.#bell.isHeard ? HEARD_POLL_MS : POLL_MS;
    return this.#untilPoll.take({ leastMs: HURRIED_POLL_MS, mostMs }, signal);
  }
}
