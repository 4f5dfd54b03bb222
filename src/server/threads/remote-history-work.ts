import type { HistoryWork, LargeWork } from '../../history/large-work.ts';
import type { PortCaller, PortCalls } from '../../util/port-calls.ts';
import type { ServerService, ThreadHearing } from './thread-contract.ts';

type Calls = Pick<PortCalls<ThreadHearing, ServerService>, 'call' | 'tell'>;

/** Large work of a serving thread, which takes its places in the main thread. */
export function remoteHistoryWork(calls: Calls): HistoryWork {
  const workOf = (kind: keyof HistoryWork): LargeWork => ({
    enter: async (caller) => {
      const place = await calls.call('enterWork', kind, caller);
      return () => calls.tell('leaveWork', place);
    },
  });
  return { reads: workOf('reads'), restores: workOf('restores') };
}

/** The places of one serving thread, in the main thread. */
export class ThreadWork {
  readonly #work: HistoryWork;
  readonly #leave = new Map<number, () => void>();
  #entered = 0;
  #isOver = false;

  constructor(work: HistoryWork) {
    this.#work = work;
  }

  /** Returns the number of the place. */
  async enter(kind: keyof HistoryWork, caller: PortCaller): Promise<number> {
    const leave = await this.#work[kind].enter(caller);
    if (this.#isOver) leave();
    this.#entered += 1;
    this.#leave.set(this.#entered, leave);
    return this.#entered;
  }

  leave(place: number): void {
    this.#leave.get(place)?.();
    this.#leave.delete(place);
  }

  /** Frees the places of a thread that is gone. */
  end(): void {
    this.#isOver = true;
    for (const leave of this.#leave.values()) leave();
    this.#leave.clear();
  }
}
