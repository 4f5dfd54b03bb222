import { isLongRunning } from '../request/api-request.ts';
import type { AdmittedTurn, FlowControl, FlowRequest, RefusedTurn } from './flow-control.ts';

interface MaxInFlightLimits {
  /** --max-requests-inflight; 0: no limit. */
  readonly reading: number;
  /** --max-mutating-requests-inflight; 0: no limit. */
  readonly mutating: number;
}

const READING: ReadonlySet<string> = new Set(['get', 'list', 'watch']);
/** Members of this group are never refused, so that an administrator can repair an overloaded cluster. */
const PRIVILEGED = 'system:masters';
const RETRY_AFTER_SECONDS = 1;

/** Two counters; a request that finds its counter full is refused at once (Kubernetes: WithMaxInFlightLimit). */
export class MaxInFlight implements FlowControl {
  readonly #reading: Counter;
  readonly #mutating: Counter;

  constructor({ reading, mutating }: MaxInFlightLimits) {
    this.#reading = new Counter(reading);
    this.#mutating = new Counter(mutating);
  }

  begin(request: FlowRequest): AdmittedTurn | RefusedTurn | undefined {
    if (isLongRunning(request)) return undefined;
    const counter = READING.has(request.verb) ? this.#reading : this.#mutating;
    if (counter.limit === 0) return undefined;
    if (counter.count < counter.limit) return new CountedTurn(counter);
    return request.user.groups.includes(PRIVILEGED) ? undefined : REFUSED;
  }
}

const REFUSED: RefusedTurn = {
  admitted: false,
  classification: undefined,
  retryAfterSeconds: RETRY_AFTER_SECONDS,
};

class Counter {
  readonly limit: number;
  count = 0;

  constructor(limit: number) {
    this.limit = limit;
  }
}

class CountedTurn implements AdmittedTurn {
  readonly admitted = true;
  readonly classification = undefined;
  readonly #counter: Counter;
  #ended = false;

  constructor(counter: Counter) {
    this.#counter = counter;
    counter.count += 1;
  }

  initialized(): void {}

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#counter.count -= 1;
  }
}
