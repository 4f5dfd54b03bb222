import { type Backoff, pause, pauseAfter, Rest } from '../../util/pause.ts';
import type { CommitBell } from './commit-bell.ts';

/** Between polls where no commit rings: watches are that much slower, and the database hears from us four times a second. */
const POLL_MS = 250;
/** Where commits ring, in case that one was not heard. */
const HEARD_POLL_MS = 1000;
/** Between polls that commits or waiting reads ask for: as long as a poll takes. */
const HURRIED_POLL_MS = 5;
const POLLS: Backoff = { firstMs: POLL_MS, longestMs: 2000 };

interface Polled {
  /** Reads what is new. */
  poll(): Promise<void>;
  /** Aborts when there is nothing to be polled for any more. */
  readonly signal: AbortSignal;
}

/** Polls where nothing streams: at once where a read waits or a commit rings, and else now and then. */
export class Poller {
  readonly #bell: Pick<CommitBell, 'isHeard' | 'run'>;
  readonly #untilPoll = new Rest();

  constructor(bell: Pick<CommitBell, 'isHeard' | 'run'>) {
    this.#bell = bell;
  }

  /** A read waits for what a poll may bring. */
  hurry(): void {
    this.#untilPoll.cutShort();
  }

  /** Never rejects. */
  async run({ poll, signal }: Polled): Promise<void> {
    // Mostly the stream is there before that, and nothing needs to be asked.
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
