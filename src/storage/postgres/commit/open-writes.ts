import { StorageError, type Unavailable } from '../../errors.ts';
import type { Revision } from '../../revision.ts';
import type { Write } from '../../revision-log.ts';
import { type PendingWrite, toPendingWrite } from './commit.ts';

/**
 * OpenWrites holds all writes that have not been answered. Waiting for a lane, a host, a lock and a lost answer adds up to more
 * than the promised time, so deadlines are enforced here alone: a write is answered then, also with work under way.
 */
export class OpenWrites {
  readonly #patienceMs: number;
  readonly #trouble: () => Unavailable | undefined;
  /** Oldest first, which is also the order of their deadlines. */
  readonly #open = new Set<PendingWrite>();
  #sizeBytes = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `trouble` returns what is wrong with the database, for errors of late writes. */
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

  /** One timer for all: the oldest write is mostly answered long before it ends. */
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
