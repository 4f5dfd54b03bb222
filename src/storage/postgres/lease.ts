import { StorageError } from '../errors.ts';

/** Shorter than any failover takes that waits for a primary to be silent: Patroni's takes 30 s. */
export const LEASE_MS = 5000;

/**
 * For how long the primary is known to be the one that its standbys follow. Where commits wait for standbys, one that was confirmed
 * shows that none of those had been promoted when it was sent. A primary that is cut off from them cannot confirm any; what it
 * shows may be of the past.
 *
 * Where commits wait for none, nothing is known, and nothing is asked for.
 */
export class Lease {
  readonly #now: () => number;
  #isNeeded = false;
  #confirmedMs = Number.NEGATIVE_INFINITY;

  /** `now`: in milliseconds, of a clock that is never set. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Whether commits wait for standbys. */
  learn(isNeeded: boolean): void {
    this.#isNeeded = isNeeded;
  }

  /** A commit that was sent at that time was confirmed by the standbys. */
  confirmed(sentMs: number): void {
    this.#confirmedMs = Math.max(this.#confirmedMs, sentMs);
  }

  get now(): number {
    return this.#now();
  }

  /** Why nothing is known of the primary; undefined: it may be used. */
  get trouble(): string | undefined {
    if (!this.#isNeeded || this.#now() - this.#confirmedMs <= LEASE_MS) return undefined;
    return `the standbys that commits wait for have confirmed none for ${LEASE_MS / 1000} s: another host may have been promoted`;
  }

  /** @throws StorageError unavailable */
  assert(): void {
    const reason = this.trouble;
    if (reason !== undefined) throw new StorageError({ kind: 'unavailable', reason });
  }
}
