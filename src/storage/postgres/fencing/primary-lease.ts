import { StorageError } from '../../errors.ts';

/** Shorter than any failover that waits for a silent primary: Patroni's takes 30 s. */
export const LEASE_MS = 5000;

/**
 * Lease says for how long the primary is known to be the one that its standbys follow. Where commits wait for standbys, a confirmed
 * one shows that none of those had been promoted when it was sent. A primary cut off from them cannot confirm any; what it shows
 * may be of the past.
 *
 * Where commits wait for none, nothing is known, and nothing is required.
 */
export class Lease {
  readonly #now: () => number;
  #isNeeded = false;
  #confirmedMs = Number.NEGATIVE_INFINITY;

  /** `now`: in milliseconds, of a clock that is never set. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Notes whether commits wait for standbys. */
  learn(isNeeded: boolean): void {
    this.#isNeeded = isNeeded;
  }

  /** Notes that the standbys confirmed a commit sent at that time. */
  confirmed(sentMs: number): void {
    this.#confirmedMs = Math.max(this.#confirmedMs, sentMs);
  }

  get now(): number {
    return this.#now();
  }

  /** Why the primary may not be used; undefined when it may. */
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
