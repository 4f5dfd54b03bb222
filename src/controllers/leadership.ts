import { randomUUID } from 'node:crypto';
import type { WorkLease, WorkLeases } from '../storage/work-leases.ts';
import { aborted, pause } from '../util/pause.ts';

/** The figures of client-go's leader election: another takes over after this time without a renewal, */
const LEASE_MS = 15_000;
/** a holder that could not renew for this time stops, and has the rest of the lease to do so, */
const DEADLINE_MS = 10_000;
/** and everybody looks this often. */
const ROUND_MS = 2000;
/** Of a holder; what fails is tried again in the next round. */
const RENEW_AFTER_MS = 3500;

export interface LeadershipOptions {
  readonly leases: WorkLeases;
  /** What the lease is for. */
  readonly work: string;
  /** This server, for people who look at the lease. */
  readonly server: string;
  /** Whether somebody who is no server of ours does the work already: then none of ours does. Asked every round. */
  readonly isDoneElsewhere: () => Promise<boolean>;
  /** Milliseconds of a clock that never jumps. */
  readonly now: () => number;
  readonly onChange: (isLeader: boolean) => void;
  readonly onError: (error: unknown) => void;
}

/** From taking the lease until it is lost or left. */
interface Tenure {
  /** Of its own, so that what a promotion of the database brings back is never taken for this one. */
  readonly holder: string;
  readonly end: AbortController;
  deadline: NodeJS.Timeout;
  renewedAtMs: number;
}

/** A lease of somebody else, as it was when this server first saw it so. */
interface Sighting {
  readonly lease: WorkLease;
  readonly atMs: number;
}

/**
 * Work that one server of the cluster does at a time: the one with the lease. When it ends it leaves the lease, and another takes over
 * at once; when it dies, after {@link LEASE_MS}. Clocks are never compared: a candidate measures by its own how long the lease
 * has not changed.
 *
 * The lease is a row of its own and no Lease object, because each renewal of an object is a revision: one every few
 * seconds, for ever, in a history that people keep for months.
 *
 * The lease keeps two servers from doing the same work, but cannot make it impossible: a process that stood still may still
 * write one object. So the work must do no harm when it is done twice, which preconditions on uid and resourceVersion see to.
 */
export class Leadership {
  readonly #options: LeadershipOptions;
  readonly #working = new Set<Promise<void>>();
  #tenure: Tenure | undefined;
  #other: Sighting | undefined;
  /** Resolves with the next tenure, or the present one. */
  #turn = Promise.withResolvers<AbortSignal>();

  constructor(options: LeadershipOptions) {
    this.#options = options;
  }

  /** Seeks the lease and keeps it. When the signal aborts, work under way is ended before the lease is left. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#round().catch(this.#options.onError);
      await pause(ROUND_MS, signal);
    }
    await this.#leave().catch(this.#options.onError);
  }

  /**
   * Does the work whenever this server has the lease, until the signal aborts. Work that ends by itself is done for this time.
   * @throws what the work throws
   */
  async whileLeading(signal: AbortSignal, work: (turn: AbortSignal) => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      const tenure = await Promise.race([this.#turn.promise, aborted(signal)]);
      if (tenure === undefined) return;
      const turn = AbortSignal.any([signal, tenure]);
      if (!turn.aborted) await this.#follow(work(turn));
      await aborted(turn);
    }
  }

  async #follow(work: Promise<void>): Promise<void> {
    this.#working.add(work);
    try {
      await work;
    } finally {
      this.#working.delete(work);
    }
  }

  async #round(): Promise<void> {
    const { isDoneElsewhere, now } = this.#options;
    const tenure = this.#tenure;
    const isElsewhere = await isDoneElsewhere();
    if (tenure === undefined) {
      if (!isElsewhere) await this.#seek();
    } else if (isElsewhere || tenure.end.signal.aborted) {
      await this.#leave();
    } else if (now() - tenure.renewedAtMs >= RENEW_AFTER_MS) {
      await this.#renew(tenure);
    }
  }

  async #seek(): Promise<void> {
    const { leases, work, now } = this.#options;
    const lease = await leases.read(work);
    if (lease !== undefined && lease.holder !== '' && this.#mayLive(lease)) return;
    const holder = `${this.#options.server}_${randomUUID()}`;
    const sentAtMs = now();
    if (!(await leases.take(work, holder, lease))) return;
    const end = new AbortController();
    this.#tenure = { holder, end, renewedAtMs: sentAtMs, deadline: this.#endAfter(end, sentAtMs) };
    this.#options.onChange(true);
    this.#turn.resolve(end.signal);
  }

  #mayLive(lease: WorkLease): boolean {
    const known = this.#other;
    const isSame = known?.lease.holder === lease.holder && known.lease.renewals === lease.renewals;
    const sighting = isSame ? known : { lease, atMs: this.#options.now() };
    this.#other = sighting;
    return this.#options.now() - sighting.atMs < LEASE_MS;
  }

  /** The lease counts from when its renewal was sent: nobody knows when it arrived. */
  async #renew(tenure: Tenure): Promise<void> {
    const { leases, work, now } = this.#options;
    const sentAtMs = now();
    const isHeld = await leases.renew(work, tenure.holder);
    if (!isHeld) return this.#leave();
    if (tenure.end.signal.aborted) return;
    clearTimeout(tenure.deadline);
    tenure.renewedAtMs = sentAtMs;
    tenure.deadline = this.#endAfter(tenure.end, sentAtMs);
  }

  #endAfter(end: AbortController, sentAtMs: number): NodeJS.Timeout {
    const leftMs = sentAtMs + DEADLINE_MS - this.#options.now();
    return setTimeout(() => this.#end(end), leftMs).unref();
  }

  #end(end: AbortController): void {
    if (end.signal.aborted) return;
    end.abort();
    this.#turn = Promise.withResolvers();
    this.#options.onChange(false);
  }

  /** Ends the work, then lets others have it. */
  async #leave(): Promise<void> {
    const tenure = this.#tenure;
    if (tenure === undefined) return;
    clearTimeout(tenure.deadline);
    this.#end(tenure.end);
    await Promise.allSettled(this.#working);
    this.#tenure = undefined;
    await this.#options.leases.release(this.#options.work, tenure.holder);
  }
}
