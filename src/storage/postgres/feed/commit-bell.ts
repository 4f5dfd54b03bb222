import { type Backoff, pause, pauseAfter } from '../../../util/pause.ts';
import { type Connection, type ConnectionOptions, connectWritable } from '../connection/connection.ts';
import { isUnknownFunction } from '../connection/statements.ts';

const RETRIES: Backoff = { firstMs: 500, longestMs: 10_000 };

/**
 * CommitBell rings at a commit, for a poller: by NOTIFY, which commits send while such a session is there (migrations/0077). It
 * needs a session of its own, so it is silent behind a pooler in transaction mode, and on an older schema.
 */
export class CommitBell {
  readonly #connect: () => Promise<Connection>;
  #isHeard = false;

  constructor(options: ConnectionOptions) {
    this.#connect = () => connectWritable(options, 'polls');
  }

  /** Whether commits ring now. */
  get isHeard(): boolean {
    return this.#isHeard;
  }

  /** Listens until the signal aborts or nothing can ring. Never rejects. */
  async run(ring: () => void, signal: AbortSignal): Promise<void> {
    for (let failures = 1; !signal.aborted; failures += 1) {
      const outcome = await this.#listen(ring, signal).catch((error: unknown) =>
        isUnknownFunction(error) ? 'silent' : 'lost',
      );
      if (outcome === 'silent') return;
      if (outcome === 'heard') failures = 0;
      await pause(pauseAfter(failures + 1, RETRIES), signal);
    }
  }

  async #listen(ring: () => void, signal: AbortSignal): Promise<'silent' | 'heard'> {
    const { client, prepares, close } = await this.#connect();
    try {
      if (!prepares) return 'silent';
      const over = new Promise<void>((resolve) => {
        client.once('end', () => resolve());
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      client.on('notification', ring);
      const { rows } = await client.query<{ channel: string }>('SELECT await_commit_bell() AS channel');
      await client.query(`LISTEN ${rows[0]?.channel}`);
      this.#isHeard = true;
      // For commits from before it listened.
      ring();
      if (!signal.aborted) await over;
      return 'heard';
    } finally {
      this.#isHeard = false;
      await close();
    }
  }
}
