import { randomUUID } from 'node:crypto';
import type { WorkLease, WorkLeases } from '../storage/work-leases.ts';
import { aborted, repeat } from '../util/pause.ts';

interface LeaseTimes {
  /** Another server takes over after this time without a renewal. */
  readonly leaseMs: number;
  /** A holder that could not renew for this time stops its work within the rest of the lease. */
  readonly deadlineMs: number;
  /** The interval at which all servers check the lease. */
  readonly roundMs: number;
}

/** The figures of client-go's leader election. */
const USUAL_TIMES: LeaseTimes = { leaseMs: 15_000, deadlineMs: 10_000, roundMs: 2000 };
/** The interval of renewals in parts of the deadline; a failed one is repeated in the next round. */
const RENEW_AFTER = 0.35;

interface LeadershipOptions {
  readonly leases: WorkLeases;
  /** What the lease is for. */
  readonly work: string;
  readonly times?: LeaseTimes;
  /** The name of this server, for administrators who read the lease. */
  readonly server: string;
  /** Whether another program, such as a controller manager, does the work. Then this server does not. Called every round. */
  readonly isDoneElsewhere: () => Promise<boolean>;
  /** Milliseconds of a clock that never jumps. */
  readonly now: () => number;
  readonly onChange: (isLeader: boolean) => void;
  readonly onError: (error: unknown) => void;
}

/** The time from taking the lease until losing or leaving it. */
interface Tenure {
  /** Unique per tenure, so that a holder restored by a promotion of the database is never taken for this one. */
  readonly holder: string;
  readonly end: AbortController;
  deadline: NodeJS.Timeout;
  renewedAtMs: number;
}

/** The lease of another holder, and when this server first saw it in this state. */
interface Sighting {
  readonly lease: WorkLease;
  readonly atMs: number;
}

/**
 * Gives work to one server of the cluster at a time: the one with the lease. When it ends it leaves the lease, and another
 * takes over at once; when it dies, after the time of the lease. Clocks are never compared: a candidate measures by its own how long
 * the lease has not changed.
 *
 * The lease is a row of its own, not a Lease object, because each renewal of an object adds a revision every few seconds to a
 * history that is kept for months.
 *
 * The lease cannot exclude double work: a process that was suspended may still write one object. So repeated work must be
 * harmless, which preconditions on uid and resourceVersion ensure.
 */
export class Leadership {
  readonly #options: LeadershipOptions;
  readonly #times: LeaseTimes;
  readonly #working = new Set<Promise<void>>();
  #tenure: Tenure | undefined;
  #other: Sighting | undefined;
  /** Resolves with the next tenure, or the present one. */
  #turn = Promise.withResolvers<AbortSignal>();

  constructor(options: LeadershipOptions) {
    this.#options = options;
    this.#times = options.times ?? USUAL_TIMES;
  }

  /** Seeks the lease and keeps it. When the signal aborts, ends the current work before it leaves the lease. */
  async run(signal: AbortSignal): Promise<void> {
    const { onError } = this.#options;
    await repeat(() => this.#round(), signal, { everyMs: this.#times.roundMs, onError });
    await this.#leave().catch(onError);
  }

  /**
   * Does the work whenever this server has the lease, until the signal aborts. Work that returns is not repeated in the same
   * tenure.
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
    } else if (now() - tenure.renewedAtMs >= this.#times.deadlineMs * RENEW_AFTER) {
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
    return this.#options.now() - sighting.atMs < this.#times.leaseMs;
  }

  /** The lease counts from when its renewal was sent, because the time of its arrival is unknown. */
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
    const leftMs = sentAtMs + this.#times.deadlineMs - this.#options.now();
    return setTimeout(() => this.#end(end), leftMs).unref();
  }

  #end(end: AbortController): void {
    if (end.signal.aborted) return;
    end.abort();
    this.#turn = Promise.withResolvers();
    this.#options.onChange(false);
  }

  /** Ends the work, then frees the lease. */
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
