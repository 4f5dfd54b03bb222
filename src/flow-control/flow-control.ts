import { type AuthenticatedRequest, isLongRunning } from '../request/api-request.ts';
import type { LevelSeats, SeatCounters } from './queueing/seats.ts';

/** The parts of a request that decide about its turn. */
export type FlowRequest = Pick<
  AuthenticatedRequest,
  'user' | 'verb' | 'path' | 'target' | 'query' | 'signal'
>;

/** The schema and the level of a request. Sent as UIDs, because names would tell callers how important they are. */
export interface Classification {
  readonly schemaUid: string;
  readonly levelUid: string;
}

/** A request's turn. The caller must end an admitted one, also after a failure. */
export type Turn = AdmittedTurn | RefusedTurn;

export interface AdmittedTurn {
  readonly admitted: true;
  readonly classification: Classification | undefined;
  /** To be called when a watch has sent its initial events: from then on it costs nothing. */
  initialized(): void;
  /** To be called when the request is over. Includes {@link AdmittedTurn.initialized}; may be called again. */
  end(): void;
}

export interface RefusedTurn {
  readonly admitted: false;
  readonly classification: Classification | undefined;
  readonly retryAfterSeconds: number;
}

/** Limits how many requests are served at once. */
export interface FlowControl {
  /**
   * Undefined: the request is not limited. A promise only for a request that has to wait, so that the others do not pay for a
   * turn of the event loop.
   */
  begin(request: FlowRequest): Turn | Promise<Turn> | undefined;
}

/** The clock of the queues; tests move it by hand. */
export interface FlowClock {
  /** Monotonic, in milliseconds. */
  now(): number;
  /** The date of a value of `now`. */
  toDate(now: number): Date;
  /** Calls back once after `ms` milliseconds. Returns a function that cancels the call. */
  after(ms: number, callback: () => void): () => void;
  /** Calls back in the next round of the event loop, after all requests that arrived meanwhile. */
  soon(callback: () => void): void;
}

export const systemClock: FlowClock = {
  now: () => performance.now(),
  toDate: (now) => new Date(performance.timeOrigin + now),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
  soon: (callback) => void setImmediate(callback),
};

/** The actions at the end of an admitted request. */
interface TurnActions {
  readonly classification: Classification;
  /** Frees the seats. */
  release(): void;
  /** Called when the request is over; undefined for everything but watches. */
  readonly forget: (() => void) | undefined;
}

/** An admitted request, whose seats are freed exactly once. */
export class SeatedTurn implements AdmittedTurn {
  readonly admitted = true;
  readonly #actions: TurnActions;
  #seated = true;
  #running = true;

  constructor(actions: TurnActions) {
    this.#actions = actions;
  }

  get classification(): Classification {
    return this.#actions.classification;
  }

  initialized(): void {
    if (!this.#seated) return;
    this.#seated = false;
    this.#actions.release();
  }

  end(): void {
    this.initialized();
    if (!this.#running) return;
    this.#running = false;
    this.#actions.forget?.();
  }
}

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

/**
 * Two limits for all threads together; a request above its own is refused at once (Kubernetes: WithMaxInFlightLimit). Each thread has one
 * of these.
 */
export class MaxInFlight implements FlowControl {
  readonly #reading: LevelSeats;
  readonly #mutating: LevelSeats;

  constructor({ reading, mutating }: MaxInFlightLimits, counters: SeatCounters) {
    counters.know(IN_FLIGHT);
    this.#reading = counters.open('reading');
    this.#reading.limit = reading;
    this.#mutating = counters.open('mutating');
    this.#mutating.limit = mutating;
  }

  begin(request: FlowRequest): AdmittedTurn | RefusedTurn | undefined {
    if (isLongRunning(request)) return undefined;
    const seats = READING.has(request.verb) ? this.#reading : this.#mutating;
    if (seats.limit === 0) return undefined;
    if (seats.take(1)) return new CountedTurn(seats);
    return request.user.groups.includes(PRIVILEGED) ? undefined : REFUSED;
  }
}

const REFUSED: RefusedTurn = {
  admitted: false,
  classification: undefined,
  retryAfterSeconds: RETRY_AFTER_SECONDS,
};

/** The places of both limits, as all threads know them. */
const IN_FLIGHT: ReadonlyMap<string, number> = new Map([
  ['reading', 0],
  ['mutating', 1],
]);

class CountedTurn implements AdmittedTurn {
  readonly admitted = true;
  readonly classification = undefined;
  readonly #seats: LevelSeats;
  #ended = false;

  /** `seats`: of which it has taken one. */
  constructor(seats: LevelSeats) {
    this.#seats = seats;
  }

  initialized(): void {}

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#seats.finished();
    this.#seats.giveBack(1);
  }
}
