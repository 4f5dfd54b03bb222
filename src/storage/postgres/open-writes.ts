import { StorageError, type Unavailable } from '../errors.ts';
import type { Revision } from '../revision.ts';
import type { Write } from '../revision-log.ts';
import { type PendingWrite, toPendingWrite } from './commit.ts';

/**
 * All writes that have not been answered, wherever they are. Waiting for a lane, a host, a lock and a lost answer adds up to
 * more than anybody was promised, so the end of a write's patience is looked after here alone: it is answered then, whatever
 * is under way.
 */
export class OpenWrites {
  readonly #patienceMs: number;
  readonly #trouble: () => Unavailable | undefined;
  /** Oldest first, which is the order of their deadlines too. */
  readonly #open = new Set<PendingWrite>();
  #sizeBytes = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `trouble`: what is wrong with the database, for those who waited in vain. */
  constructor(patienceMs: number, trouble: () => Unavailable | undefined) {
    this.#patienceMs = patienceMs;
    this.#trouble = trouble;
  }

  get count(): number {
    return this.#open.size;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  add(write: Write, answer: Pick<PendingWrite, 'resolve' | 'reject'>): PendingWrite {
    const leave = (): void => {
      pending.isAnswered = true;
      if (this.#open.delete(pending)) this.#sizeBytes -= write.json.length;
    };
    const pending = toPendingWrite(write, this.#patienceMs, {
      resolve: (revision: Revision) => {
        leave();
        answer.resolve(revision);
      },
      reject: (error) => {
        leave();
        answer.reject(error);
      },
    });
    this.#open.add(pending);
    this.#sizeBytes += write.json.length;
    this.#timer ??= this.#answerLateIn(this.#patienceMs);
    return pending;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** One timer for all: mostly the oldest has been answered long ago when it ends. */
  #answerLateIn(ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.#timer = undefined;
      const now = Date.now();
      for (const pending of this.#open) {
        if (pending.deadlineMs > now) {
          this.#timer = this.#answerLateIn(pending.deadlineMs - now);
          return;
        }
        pending.reject(this.#tooLate(pending));
      }
    }, ms);
  }

  #tooLate({ isSent }: PendingWrite): StorageError {
    const trouble = this.#trouble();
    const silence = `no answer from the database within ${this.#patienceMs} ms`;
    const reason = trouble === undefined ? silence : `${silence}: ${trouble.reason}`;
    if (isSent) return new StorageError({ kind: 'unknown', reason });
    return new StorageError({ kind: 'unavailable', reason, because: trouble?.because });
  }
}
