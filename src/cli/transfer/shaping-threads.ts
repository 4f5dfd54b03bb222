import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { errorText } from '../../util/error-text.ts';
import { threadFile } from '../thread-file.ts';
import type { Piece } from './file-index.ts';
import type { ShapedPieces } from './piece-shaper.ts';
import { Refused, type Shapes } from './shapes.ts';
import type { ShapingStart } from './shaping-start.ts';
import type { SentShape, ShapedMessage, ShapingJob } from './shaping-thread.ts';

interface ShapingThreadsOptions {
  readonly shapes: Shapes;
  readonly signal: AbortSignal;
  /** The module of the threads, in tests another one. */
  readonly file?: string;
}

const MOST_THREADS = 4;
/** Batches of each thread: one that it works on, and one that waits. */
const AHEAD = 2;

/** A batch that a thread has not shaped yet. */
type Job = PromiseWithResolvers<ShapedPieces>;

interface Thread {
  readonly worker: Worker;
  /** In the order in which the thread answers. */
  readonly jobs: Job[];
}

/** ShapingThreads read and shape objects beside the thread that writes them. One core is left to that. */
export class ShapingThreads {
  readonly #options: ShapingThreadsOptions;
  readonly #threads: readonly Thread[];
  /** Memory for the next batches. What is not given back, because its objects wait or were refused, is replaced. */
  readonly #free: ArrayBuffer[] = [];
  #failure: unknown;
  readonly #stop = (): void => this.#fail(this.#options.signal.reason);

  /** They know the definitions that were learned until now. */
  constructor(options: ShapingThreadsOptions) {
    this.#options = options;
    const count = Math.min(MOST_THREADS, Math.max(1, availableParallelism() - 1));
    this.#threads = Array.from({ length: count }, () => this.#begin());
    options.signal.addEventListener('abort', this.#stop);
  }

  /** How many batches keep all threads at work. */
  get mostAhead(): number {
    return this.#threads.length * AHEAD;
  }

  /** @throws Error when a thread has ended; the reason of the signal */
  shape(pieces: readonly Piece[]): Promise<ShapedPieces> {
    const job: Job = Promise.withResolvers();
    // Awaited in its turn.
    job.promise.catch(() => {});
    if (this.#failure !== undefined) job.reject(this.#failure);
    else {
      const { worker, jobs } = this.#threads.reduce((a, b) => (b.jobs.length < a.jobs.length ? b : a));
      jobs.push(job);
      const memory = this.#free.pop();
      worker.postMessage({ pieces, memory } satisfies ShapingJob, memory === undefined ? [] : [memory]);
    }
    return job.promise;
  }

  async close(): Promise<void> {
    this.#options.signal.removeEventListener('abort', this.#stop);
    this.#fail(new Error('the threads were ended'));
    await Promise.all(this.#threads.map(({ worker }) => worker.terminate()));
  }

  #begin(): Thread {
    const { minor, learned } = this.#options.shapes;
    const workerData: ShapingStart = { work: 'shaping', minor, definitions: learned };
    const worker = new Worker(this.#options.file ?? threadFile(), { workerData, name: 'shaping' });
    const jobs: Job[] = [];
    worker.on('message', (message: ShapedMessage) => jobs.shift()?.resolve(this.#fromMessage(message)));
    worker.on('error', (error) => this.#fail(toEnded(errorText(error))));
    worker.on('exit', (code) => this.#fail(toEnded(`its code is ${code}`)));
    return { worker, jobs };
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    for (const { jobs } of this.#threads) for (const job of jobs.splice(0)) job.reject(this.#failure);
  }

  #fromMessage({ bytes, taken, unread }: ShapedMessage): ShapedPieces {
    let at = 0;
    let left = taken.filter((one) => !('reason' in one)).length;
    const giveBack = (): void => {
      left -= 1;
      if (left === 0) this.#free.push(bytes);
    };
    const fromSent = ({ size, ...shape }: SentShape) => {
      const json = Buffer.from(bytes, at, size);
      at += size;
      return this.#options.shapes.fromShape({ ...shape, json }, giveBack);
    };
    return {
      taken: taken.map((one) => ('reason' in one ? new Refused(one.name, one.reason) : fromSent(one))),
      unread,
    };
  }
}

const toEnded = (reason: string): Error =>
  new Error(`a thread that reads objects has ended: ${reason}: the same command goes on from here`);
