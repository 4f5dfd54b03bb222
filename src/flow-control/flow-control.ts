import type { AuthenticatedRequest } from '../request/api-request.ts';

/** What deciding on a request takes. */
export type FlowRequest = Pick<
  AuthenticatedRequest,
  'user' | 'verb' | 'path' | 'target' | 'query' | 'signal'
>;

/** Who a request was counted with. Answered as UIDs: names would tell callers how important they are taken to be. */
export interface Classification {
  readonly schemaUid: string;
  readonly levelUid: string;
}

/** A request's turn. The caller must end an admitted one, whatever happens. */
export type Turn = AdmittedTurn | RefusedTurn;

export interface AdmittedTurn {
  readonly admitted: true;
  readonly classification: Classification | undefined;
  /** A watch has sent what it begins with: from now on it costs nothing. */
  initialized(): void;
  /** The request is over. Includes {@link AdmittedTurn.initialized}; may be called again. */
  end(): void;
}

export interface RefusedTurn {
  readonly admitted: false;
  readonly classification: Classification | undefined;
  readonly retryAfterSeconds: number;
}

/** How much at once. */
export interface FlowControl {
  /**
   * Undefined: not subject to limits. A promise only for a request that has to wait; the others are not made to pay for
   * a turn of the event loop.
   */
  begin(request: FlowRequest): Turn | Promise<Turn> | undefined;
}

/** Time as the queues see it; tests turn it by hand. */
export interface FlowClock {
  /** Monotonic, in milliseconds. */
  now(): number;
  /** When `now` was, on the calendar. */
  toDate(now: number): Date;
  /** Calls back once after `ms` milliseconds. What it returns calls that off. */
  after(ms: number, callback: () => void): () => void;
  /** Calls back when everything has had its turn that arrived meanwhile: in the next round of the event loop. */
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

/** What an admitted request gives back. */
interface TurnActions {
  readonly classification: Classification;
  /** Gives the seats to others. */
  release(): void;
  /** Called when the request is over; undefined for everything but watches. */
  readonly forget: (() => void) | undefined;
}

/** The seats of an admitted request, given back exactly once. */
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
