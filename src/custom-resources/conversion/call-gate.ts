import { AnswerTimeout } from '../../outbound/webhook-client.ts';

/** A call that was not made, so that a webhook which is slow or away is felt by those alone who need it. */
export class CallRefused extends Error {
  /** The webhook is busy, which passes; otherwise it does not answer. */
  readonly isBusy: boolean;

  constructor(message: string, isBusy: boolean) {
    super(message);
    this.isBusy = isBusy;
  }
}

export interface GateLimits {
  /** Calls under way at once. */
  readonly maxCalls: number;
  /** Calls that wait for one of those to end. */
  readonly maxWaiting: number;
  /** A call that has not begun by then is refused. */
  readonly maxWaitMs: number;
  /** After a call without an answer none is made for so long, and then one, whose answer lets the others through again. */
  readonly restMs: number;
}

/**
 * A request that waits for a webhook holds its place among the requests of the server, up to 30 seconds each. With these
 * bounds a webhook that hangs holds a few places for a short time, whatever the number of its callers.
 */
const LIMITS: GateLimits = { maxCalls: 16, maxWaiting: 1000, maxWaitMs: 5000, restMs: 5000 };

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

  /** @throws CallRefused, and what `call` throws */
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
      throw new CallRefused(`it does not answer: ${silence.trouble}`, false);
    silence.isTried = true;
  }

  /** Any other failure is quick, and need not be kept from happening again. */
  #failed(error: unknown): void {
    if (!(error instanceof AnswerTimeout)) {
      this.#silence = undefined;
      return;
    }
    this.#silence = { since: this.#now(), trouble: error.message, isTried: false };
    const refusal = new CallRefused(`it does not answer: ${error.message}`, false);
    for (const waiting of [...this.#waiting]) waiting.refuse(refusal);
  }

  /** The place of a call that ended goes to the first that waits. */
  #leave(): void {
    const [first] = this.#waiting;
    if (first === undefined) this.#underWay -= 1;
    else first.begin();
  }

  #wait(): Promise<void> {
    const { maxWaiting, maxWaitMs } = this.#limits;
    const busy = new CallRefused('too many calls are under way', true);
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
