import type { MessagePort } from 'node:worker_threads';
import { fromPort, toPort } from './port-values.ts';

/** Says whether the caller of a method still waits. The signal is created on first use. */
export interface PortCaller {
  readonly aborted: boolean;
  readonly signal: AbortSignal;
}

/**
 * Methods by name, each with one argument. Arguments and results are values: they are copied, except for bytes in shared memory.
 * Methods need not look at their caller.
 */
type Contract<Methods> = Readonly<Record<keyof Methods, (argument: never, caller: PortCaller) => unknown>>;

type Argument<Method> = Method extends (argument: infer Value, ...more: never[]) => unknown ? Value : never;
type Result<Method> = Method extends (...parameters: never[]) => infer Value ? Awaited<Value> : never;

/** Turns errors into values, so that the other side can tell their kinds apart. */
export interface ErrorForms {
  toValue(error: unknown): unknown;
  fromValue(value: unknown): Error;
}

/** A method found by its name, whose types both sides know from the contract. */
type Answer = (argument: unknown, caller: PortCaller) => unknown;

const CALL = 0;
const TELL = 1;
const RESULT = 2;
const FAILURE = 3;
const ABANDON = 4;

type Message =
  | readonly [typeof CALL, number, string, unknown]
  | readonly [typeof TELL, string, unknown]
  | readonly [typeof RESULT, number, unknown]
  | readonly [typeof FAILURE, number, unknown]
  | readonly [typeof ABANDON, number];

interface Waiting {
  readonly caller: { readonly aborted: boolean } | undefined;
  resolve(value: unknown): void;
  reject(error: Error): void;
  isAbandoned: boolean;
}

interface PortCallsOptions<Ours> {
  readonly port: Pick<MessagePort, 'postMessage' | 'on'>;
  readonly answers: Ours;
  readonly errors: ErrorForms;
  /** Called with the error of a method for which no caller waits. */
  onError(error: unknown): void;
}

/** How soon the other thread learns that a caller has gone. */
const SWEEP_MS = 50;
const LATE_MS = 1;

/**
 * PortCalls calls the methods of another thread, and answers those of this one. All messages of one round of the event loop leave as
 * one, because each wakes the other thread. Messages arrive in the order in which they were sent, calls and results alike.
 */
export class PortCalls<Ours extends Contract<Ours>, Theirs extends Contract<Theirs>> {
  readonly #port: PortCallsOptions<Ours>['port'];
  readonly #answers: ReadonlyMap<string, Answer>;
  readonly #errors: ErrorForms;
  readonly #onError: (error: unknown) => void;
  readonly #waiting = new Map<number, Waiting>();
  /** Calls of the other side that are being answered. */
  readonly #callers = new Map<number, RemoteCaller>();
  #outbox: Message[] = [];
  /** Ports that the outbox takes with it. */
  #ports: MessagePort[] = [];
  /** Whether the outbox leaves at the end of this round. */
  #isLeaving = false;
  #late: NodeJS.Timeout | undefined;
  #called = 0;
  #sweep: NodeJS.Timeout | undefined;
  #ended: Error | undefined;

  constructor({ port, answers, errors, onError }: PortCallsOptions<Ours>) {
    this.#port = port;
    this.#answers = new Map(Object.entries(answers) as [string, Answer][]);
    this.#errors = errors;
    this.#onError = onError;
    port.on('message', (messages: Message[]) => {
      for (const message of messages) this.#take(message);
    });
  }

  /**
   * `caller`: the other side hears of it when it no longer waits. `port`: is in the argument, and moves to the other side.
   * @throws what the method threw; the error of {@link end}
   */
  call<Name extends keyof Theirs & string>(
    name: Name,
    argument: Argument<Theirs[Name]>,
    caller?: { readonly aborted: boolean },
    port?: MessagePort,
  ): Promise<Result<Theirs[Name]>> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    this.#called += 1;
    const id = this.#called;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, {
        ...{ caller, reject, isAbandoned: false },
        resolve: (value) => resolve(value as Result<Theirs[Name]>),
      });
      if (port !== undefined) this.#ports.push(port);
      this.#send([CALL, id, name, toPort(argument)]);
      if (caller !== undefined) this.#sweep ??= setTimeout(() => this.#abandon(), SWEEP_MS);
    });
  }

  /** Calls a method without waiting for it. */
  tell<Name extends keyof Theirs & string>(name: Name, argument: Argument<Theirs[Name]>): void {
    this.#send([TELL, name, toPort(argument)]);
  }

  /** As {@link tell}, but does not wake the other thread for this alone: the message leaves with others, or a millisecond later. */
  tellLater<Name extends keyof Theirs & string>(name: Name, argument: Argument<Theirs[Name]>): void {
    if (this.#ended !== undefined) return;
    this.#outbox.push([TELL, name, toPort(argument)]);
    if (!this.#isLeaving) this.#late ??= setTimeout(() => this.#flush(), LATE_MS);
  }

  /** The other thread is gone: fails all calls, those of the future included, and abandons those of the other side. */
  end(error: Error): void {
    this.#ended = error;
    this.#outbox = [];
    clearTimeout(this.#sweep);
    clearTimeout(this.#late);
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
    for (const caller of this.#callers.values()) caller.abort();
    this.#callers.clear();
  }

  #send(message: Message): void {
    if (this.#ended !== undefined) return;
    this.#outbox.push(message);
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#isLeaving = false;
    clearTimeout(this.#late);
    this.#late = undefined;
    if (this.#outbox.length === 0) return;
    const messages = this.#outbox;
    this.#outbox = [];
    const ports = this.#ports;
    this.#ports = [];
    this.#port.postMessage(messages, ports);
  }

  /** A sweep costs less than a listener for each call: most calls are answered before the first one. */
  #abandon(): void {
    this.#sweep = undefined;
    let mayAbort = false;
    for (const [id, waiting] of this.#waiting) {
      if (waiting.caller === undefined || waiting.isAbandoned) continue;
      if (waiting.caller.aborted) {
        waiting.isAbandoned = true;
        this.#send([ABANDON, id]);
      } else mayAbort = true;
    }
    if (mayAbort) this.#sweep = setTimeout(() => this.#abandon(), SWEEP_MS);
  }

  #take(message: Message): void {
    if (this.#ended !== undefined) return;
    switch (message[0]) {
      case CALL:
        this.#answer(message[1], message[2], fromPort(message[3]));
        return;
      case TELL:
        this.#hear(message[1], fromPort(message[2]));
        return;
      case RESULT:
        this.#settle(message[1])?.resolve(fromPort(message[2]));
        return;
      case FAILURE:
        this.#settle(message[1])?.reject(this.#errors.fromValue(message[2]));
        return;
      case ABANDON:
        this.#callers.get(message[1])?.abort();
        return;
      default:
        message satisfies never;
    }
  }

  #settle(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    return waiting;
  }

  /** A method that answers at once costs no promise. */
  #answer(id: number, name: string, argument: unknown): void {
    const caller = new RemoteCaller();
    try {
      const result = this.#methodOf(name)(argument, caller);
      if (result instanceof Promise) void this.#answerLater(id, result, caller);
      else this.#send([RESULT, id, toPort(result)]);
    } catch (error) {
      this.#send([FAILURE, id, this.#errors.toValue(error)]);
    }
  }

  async #answerLater(id: number, result: Promise<unknown>, caller: RemoteCaller): Promise<void> {
    this.#callers.set(id, caller);
    try {
      this.#send([RESULT, id, toPort(await result)]);
    } catch (error) {
      this.#send([FAILURE, id, this.#errors.toValue(error)]);
    } finally {
      this.#callers.delete(id);
    }
  }

  #hear(name: string, argument: unknown): void {
    try {
      this.#methodOf(name)(argument, ALWAYS_WAITING);
    } catch (error) {
      this.#onError(error);
    }
  }

  #methodOf(name: string): Answer {
    const method = this.#answers.get(name);
    if (method === undefined) throw new Error(`this thread has no method ${JSON.stringify(name)}`);
    return method;
  }
}

class RemoteCaller implements PortCaller {
  #controller: AbortController | undefined;
  #aborted = false;

  get aborted(): boolean {
    return this.#aborted;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#aborted) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  abort(): void {
    this.#aborted = true;
    this.#controller?.abort();
  }
}

const ALWAYS_WAITING: PortCaller = new RemoteCaller();
