import { AnswerTimeout } from '../../outbound/webhook-client.ts';

/** A refused call, so that a slow or failing webhook affects only requests that need it. */
export class CallRefused extends Error {
  /** Busy is temporary. */
  readonly webhook: 'busy' | 'silent';

  constructor(message: string, webhook: CallRefused['webhook']) {
    super(message);
    this.webhook = webhook;
  }
}

export interface GateLimits {
  /** Concurrent calls. */
  readonly maxCalls: number;
  /** Calls that wait for one of those to end. */
  readonly maxWaiting: number;
  /** A call that waits longer is refused. */
  readonly maxWaitMs: number;
  /** The pause after a call without an answer. Then one call is tried, whose answer reopens the gate. */
  readonly restMs: number;
}

/**
 * A request that waits for a webhook occupies one of the server's request slots, up to 30 seconds. With these bounds a hanging
 * webhook occupies few slots for a short time, however many callers it has.
 */
const LIMITS: GateLimits = { maxCalls: 16, maxWaiting: 1000, maxWaitMs: 5000, restMs: 5000 };

/** The limits of each of several serving threads, which together make up those of the server. */
export const limitsAmong = (threads: number): GateLimits => ({
  ...LIMITS,
  maxCalls: Math.ceil(LIMITS.maxCalls / threads),
  maxWaiting: Math.ceil(LIMITS.maxWaiting / threads),
});

interface Waiting {
  begin(): void;
  refuse(error: CallRefused): void;
}

/** Bounds the calls of one webhook. */
export class CallGate {
  readonly #limits: GateLimits;
  readonly #now: () => number;
  readonly #waiting = new Set<Waiting>();
  #underWay = 0;
  /** Set while the webhook does not answer. */
  #silence: { readonly since: number; readonly trouble: string; isTried: boolean } | undefined;

  /** `now`: in milliseconds. */
  constructor(limits: GateLimits = LIMITS, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  /** @throws CallRefused, and errors of `call` */
  async run<Result>(call: () => Promise<Result>): Promise<Result> {
    this.#assertAnswering();
    if (this.#underWay < this.#limits.maxCalls) this.#underWay += 1;
    else await this.#wait();
    try {
      const result = await call();
      this.#silence = undefined;
      return result;
    } catch (error) {
      this.#failed(error);
      throw error;
    } finally {
      this.#leave();
    }
  }

  #assertAnswering(): void {
    const silence = this.#silence;
    if (silence === undefined) return;
    const isResting = this.#now() < silence.since + this.#limits.restMs;
    const isFull = this.#underWay >= this.#limits.maxCalls;
    if (isResting || isFull || silence.isTried)
      throw new CallRefused(`it does not answer: ${silence.trouble}`, 'silent');
    silence.isTried = true;
  }

  /** Other failures are quick, and need no pause. */
  #failed(error: unknown): void {
    if (!(error instanceof AnswerTimeout)) {
      this.#silence = undefined;
      return;
    }
    this.#silence = { since: this.#now(), trouble: error.message, isTried: false };
    const refusal = new CallRefused(`it does not answer: ${error.message}`, 'silent');
    for (const waiting of [...this.#waiting]) waiting.refuse(refusal);
  }

  /** Passes the slot of an ended call to the first in the queue. */
  #leave(): void {
    const [first] = this.#waiting;
    if (first === undefined) this.#underWay -= 1;
    else first.begin();
  }

  #wait(): Promise<void> {
    const { maxWaiting, maxWaitMs } = this.#limits;
    const busy = new CallRefused('too many calls are under way', 'busy');
    if (this.#waiting.size >= maxWaiting) throw busy;
    return new Promise((resolve, reject) => {
      const settle = (end: () => void) => (): void => {
        clearTimeout(timer);
        this.#waiting.delete(waiting);
        end();
      };
      const waiting: Waiting = {
        begin: settle(resolve),
        refuse: (error) => settle(() => reject(error))(),
      };
      const timer = setTimeout(() => waiting.refuse(busy), maxWaitMs);
      this.#waiting.add(waiting);
    });
  }
}
