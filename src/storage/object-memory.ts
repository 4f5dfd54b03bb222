import { runTogether } from '../util/concurrency.ts';
import { pause } from '../util/pause.ts';
import { Pace } from '../util/turns.ts';
import { KeptBytes, type Residence } from './kept-bytes.ts';
import { ResourceCondenser } from './resource-condenser.ts';
import { Slabs } from './slabs.ts';

/** JSON at hand: the objects of a small cluster are never condensed. 10,000 pods of 7.5 kB have 75 MB. */
const JSON_BYTES = 96 * 1024 * 1024;
/** Reads do not end a turn earlier: lists of more than there is room for would find nothing of what the list before them read. */
const LEAST_TURN_MS = 10_000;
/** Condensing takes a third of a core. */
const WORK_MS = 5;
const PAUSE_MS = 10;

interface ObjectMemoryOptions {
  /** How many bytes of objects stay as JSON. Default: 96 MB. */
  readonly jsonBytes?: number;
  readonly now?: () => number;
}

/**
 * ObjectMemory decides which objects of the cache stay as the JSON that clients get. What was not written or read for a while is
 * condensed (codec/condensing.ts), in the background and in short pieces: 100,000 pods of 7.5 kB in 15 seconds after the start.
 *
 * Time is counted in turns, which end when half of the room is filled: an object stays for the turn in which it came or was read,
 * and the next. To read a condensed object takes some µs more; it then stays again. Objects that are read stay as copies beside one
 * another, so that none keeps the memory of neighbours with which it was loaded.
 *
 * Other threads need no part of this: they may keep views of the slabs (slabs.ts), which are made by the `slabs` of the one that
 * writes them, and expand with dictionaries of the same content.
 */
export class ObjectMemory {
  readonly #halfBytes: number;
  readonly #now: () => number;
  readonly #slabs = new Slabs({ shared: false });
  #condensers: ResourceCondenser[] = [];
  /** What came or was read in this turn, and in the one before. */
  #young: KeptBytes[] = [];
  #old: KeptBytes[] = [];
  #youngBytes = 0;
  #begunAtMs: number;
  #turn = 1;
  #wake = Promise.withResolvers<void>();

  constructor({ jsonBytes = JSON_BYTES, now = Date.now }: ObjectMemoryOptions = {}) {
    this.#halfBytes = jsonBytes / 2;
    this.#now = now;
    this.#begunAtMs = now();
  }

  get turn(): number {
    return this.#turn;
  }

  /** Forgets all objects, which are about to be loaded anew. */
  clear(): void {
    this.#condensers = [];
    this.#young = [];
    this.#old = [];
    this.#youngBytes = 0;
    this.#turn += 2;
  }

  forResource(): ResourceMemory {
    const condenser = new ResourceCondenser(this.#slabs, () => this.#wake.resolve());
    this.#condensers.push(condenser);
    return new ResourceMemory(this, condenser);
  }

  /** Takes an object that came in this turn. */
  take(bytes: KeptBytes): void {
    if (this.#youngBytes + bytes.sizeBytes > this.#halfBytes) this.#endTurn();
    this.#add(bytes);
  }

  admits(read: KeptBytes): boolean {
    if (this.#youngBytes + read.sizeBytes > this.#halfBytes) {
      if (this.#now() - this.#begunAtMs < LEAST_TURN_MS) return false;
      this.#endTurn();
    }
    this.#add(read);
    return true;
  }

  copy(json: Buffer): Buffer {
    return this.#slabs.keep(json);
  }

  #add(bytes: KeptBytes): void {
    bytes.turn = this.#turn;
    this.#young.push(bytes);
    this.#youngBytes += bytes.sizeBytes;
  }

  #endTurn(): void {
    const old = this.#old;
    this.#old = this.#young;
    this.#young = [];
    this.#youngBytes = 0;
    for (const bytes of old) if (bytes.turn < this.#turn) bytes.rest();
    this.#turn += 1;
    this.#begunAtMs = this.#now();
  }

  /** Condenses what is due beside other work, until that ends. @throws what either throws */
  async beside(work: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    const loops = [
      (either: AbortSignal) => work(either).finally(() => over.abort()),
      (either: AbortSignal) => this.#run(AbortSignal.any([either, over.signal])),
    ];
    await runTogether(loops, signal);
  }

  async #run(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.#wake.resolve(), { once: true });
    while (!signal.aborted) {
      await this.work(signal);
      if (!signal.aborted) await this.#wake.promise;
    }
  }

  /** Condenses all that is due now. */
  async work(signal: AbortSignal): Promise<void> {
    this.#wake = Promise.withResolvers();
    const pace = new Pace({ stepsBetween: 1, turnMs: WORK_MS });
    for (const condenser of this.#condensers) {
      if (!condenser.hasWork) continue;
      for (const _ of condenser.work((bytes) => bytes.turn >= this.#turn - 1)) {
        if (!pace.isOver()) continue;
        await pause(PAUSE_MS, signal);
        await pace.rest();
        if (signal.aborted) return;
      }
    }
  }
}

/** The objects of one resource. */
export class ResourceMemory implements Residence {
  readonly #memory: ObjectMemory;
  readonly #condenser: ResourceCondenser;

  constructor(memory: ObjectMemory, condenser: ResourceCondenser) {
    this.#memory = memory;
    this.#condenser = condenser;
  }

  get turn(): number {
    return this.#memory.turn;
  }

  keep(json: Buffer): KeptBytes {
    const bytes = new KeptBytes(json, this);
    this.#memory.take(bytes);
    return bytes;
  }

  admits(read: KeptBytes): boolean {
    return this.#memory.admits(read);
  }

  copy(json: Buffer): Buffer {
    return this.#memory.copy(json);
  }

  condense(bytes: KeptBytes): void {
    this.#condenser.add(bytes);
  }
}
