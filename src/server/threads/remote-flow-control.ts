import type {
  Classification,
  FlowControl,
  FlowRequest,
  RefusedTurn,
  Turn,
} from '../../flow-control/flow-control.ts';
import type { PortCaller, PortCalls } from '../../util/port-calls.ts';
import type { AnsweredTurn, AskedTurn, ServerService, ThreadHearing } from './thread-contract.ts';

type Calls = Pick<PortCalls<ThreadHearing, ServerService>, 'call' | 'tell' | 'tellLater'>;

/** RemoteFlowControl asks the main thread, which has the queues, for the turn of a request that finds no free seat. */
export class RemoteFlowControl implements FlowControl {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  async begin(request: FlowRequest): Promise<Turn> {
    const { user, verb, path, target, query } = request;
    const asked = { user, verb, path, target, query: query.size === 0 ? '' : query.toString() };
    const answer = await this.#calls.call('beginTurn', asked, abortOf(request));
    if (answer === undefined) return UNLIMITED;
    const { classification } = answer;
    if ('retryAfterSeconds' in answer) return { admitted: false, ...answer };
    return new RemoteTurn(this.#calls, answer.turn, classification);
  }
}

/** Requests have the flag at hand, and creating their signal costs more than the question. */
const abortOf = (request: FlowRequest & { readonly aborted?: boolean }): { readonly aborted: boolean } =>
  request.aborted === undefined
    ? request.signal
    : {
        get aborted() {
          return request.aborted === true;
        },
      };

const UNLIMITED: Turn = { admitted: true, classification: undefined, initialized: () => {}, end: () => {} };

class RemoteTurn {
  readonly admitted = true;
  readonly classification: Classification | undefined;
  readonly #calls: Calls;
  readonly #turn: number;
  #isInitialized = false;
  #isOver = false;

  constructor(calls: Calls, turn: number, classification: Classification | undefined) {
    this.#calls = calls;
    this.#turn = turn;
    this.classification = classification;
  }

  initialized(): void {
    if (this.#isInitialized || this.#isOver) return;
    this.#isInitialized = true;
    this.#calls.tell('turnInitialized', this.#turn);
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#calls.tellLater('turnEnded', this.#turn);
  }
}

const NO_QUERY = new URLSearchParams();

/** The turns of one serving thread, in the main thread. */
export class ThreadTurns {
  readonly #flowControl: FlowControl | undefined;
  readonly #turns = new Map<number, Extract<Turn, { admitted: true }>>();
  #begun = 0;
  #isOver = false;

  /** Undefined: there are no limits. */
  constructor(flowControl: FlowControl | undefined) {
    this.#flowControl = flowControl;
  }

  begin({ query, ...asked }: AskedTurn, caller: PortCaller): Promise<AnsweredTurn> | AnsweredTurn {
    const request: FlowRequest = {
      ...asked,
      query: query === '' ? NO_QUERY : new URLSearchParams(query),
      get signal() {
        return caller.signal;
      },
    };
    const begun = this.#flowControl?.begin(request);
    if (begun === undefined) return undefined;
    return begun instanceof Promise
      ? begun.then((turn) => this.#answer(turn, caller))
      : this.#answer(begun, caller);
  }

  initialized(turn: number): void {
    this.#turns.get(turn)?.initialized();
  }

  ended(turn: number): void {
    this.#turns.get(turn)?.end();
    this.#turns.delete(turn);
  }

  /** Frees the seats of a thread that is gone. */
  end(): void {
    this.#isOver = true;
    for (const turn of this.#turns.values()) turn.end();
    this.#turns.clear();
  }

  #answer(turn: Turn, caller: PortCaller): AnsweredTurn {
    const { classification } = turn;
    if (!turn.admitted)
      return { classification, retryAfterSeconds: (turn satisfies RefusedTurn).retryAfterSeconds };
    if (this.#isOver || caller.aborted) turn.end();
    this.#begun += 1;
    this.#turns.set(this.#begun, turn);
    return { turn: this.#begun, classification };
  }
}
