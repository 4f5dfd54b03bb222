import { isLongRunning, type ResourceTarget } from '../request/api-request.ts';
import { pause } from '../util/pause.ts';
import type { FlowSchema, PriorityLevel } from './flow-configuration.ts';
import {
  type FlowClock,
  type FlowControl,
  type FlowRequest,
  type RefusedTurn,
  SeatedTurn,
  type Turn,
} from './flow-control.ts';
import type { FlowMetrics } from './flow-recorder.ts';
import { type Level, Levels } from './levels.ts';
import { createRoutes, distinguish, findRoute, type Route } from './match-request.ts';
import type { Ticket } from './queueing/queue.ts';
import { SeatCounters } from './queueing/seats.ts';
import { estimateWork, type Surroundings, seatsOf } from './request-cost.ts';
import { WatchCounts } from './watch-counts.ts';

interface PriorityAndFairnessOptions {
  /** Sum of --max-requests-inflight and --max-mutating-requests-inflight. */
  readonly serverSeats: number;
  /** --request-timeout: a request waits for a quarter of it. */
  readonly requestTimeoutMs: number;
  /** Number of a resource's objects in all namespaces; undefined for a resource that is not stored here. */
  readonly countObjects: (target: ResourceTarget) => number | undefined;
  /** Feature gate WatchList. */
  readonly watchList: boolean;
  readonly clock: FlowClock;
  readonly metrics: FlowMetrics;
  /** What all threads see. */
  readonly counters: FlowCounters;
  /** The queues are in another thread. */
  readonly elsewhere?: FlowElsewhere;
}

/** Decides in the main thread. */
export interface FlowElsewhere extends FlowControl {
  /** Whether only the main thread knows the number of a resource's objects. */
  counts(target: ResourceTarget): boolean;
}

/** The configuration as the main thread tells it to the others. */
export interface ToldConfiguration {
  readonly schemas: readonly FlowSchema[];
  readonly levels: readonly PriorityLevel[];
  readonly slots: ReadonlyMap<string, number>;
}

/** The counters of flow control in memory that all threads see. */
export interface FlowMemory {
  readonly seats: SharedArrayBuffer;
  readonly watches: SharedArrayBuffer;
}

/** Returns memory for the main thread and `threads` others. */
export const allocateFlowMemory = (threads: number): FlowMemory => ({
  seats: SeatCounters.allocate(threads),
  watches: WatchCounts.allocate(threads),
});

/** The counters as one thread changes them. */
export interface FlowCounters {
  readonly seats: SeatCounters;
  readonly watches: WatchCounts;
}

/** How often the seats of other threads are observed, for metrics and for the demand of levels. Peaks are seen in any case. */
const OBSERVATION_MS = 100;

const MAX_WAIT_MS = 60_000;
const ADJUSTMENT_PERIOD_MS = 10_000;

/**
 * API priority and fairness: each request is classified by the flow schemas, takes its seats at a priority level, and waits
 * in a queue of its flow while there are none (Kubernetes: util/flowcontrol).
 *
 * A request that need not wait costs 4 µs of CPU from `begin` to `end` for an ordinary user, of which 1.5 µs go to the 13
 * schemas of a fresh cluster, and 1 µs for an administrator (Node 24, metrics included, eight requests a round of the event
 * loop, Xeon at 2.5 GHz shared with others).
 */
export class PriorityAndFairness implements FlowControl {
  readonly #clock: FlowClock;
  readonly #metrics: FlowMetrics;
  readonly #levels: Levels;
  readonly #counters: FlowCounters;
  readonly #elsewhere: FlowElsewhere | undefined;
  readonly #retryAfter: RetryAfter;
  readonly #surroundings: Surroundings;
  readonly #waitLimitMs: number;
  readonly #listeners = new Set<(configuration: ToldConfiguration) => void>();
  #schemas: readonly FlowSchema[] = [];
  #configs: readonly PriorityLevel[] = [];
  #routes: readonly Route[] = [];

  constructor(options: PriorityAndFairnessOptions) {
    const { clock, metrics, countObjects, watchList, requestTimeoutMs, counters } = options;
    this.#clock = clock;
    this.#metrics = metrics;
    this.#counters = counters;
    this.#elsewhere = options.elsewhere;
    this.#levels = new Levels({ ...options, counters: counters.seats });
    this.#retryAfter = new RetryAfter(() => clock.now());
    this.#waitLimitMs = requestTimeoutMs === 0 ? MAX_WAIT_MS : Math.min(requestTimeoutMs / 4, MAX_WAIT_MS);
    const countWatches = (target: ResourceTarget): number => counters.watches.interestedIn(target);
    this.#surroundings = { countObjects, countWatches, watchList };
    this.configure([], []);
  }

  /** Applies to requests after this call. Requests that wait keep their places. */
  configure(schemas: readonly FlowSchema[], levels: readonly PriorityLevel[]): void {
    this.#schemas = schemas;
    this.#configs = levels;
    this.#levels.configure(levels);
    this.#routes = createRoutes(schemas, this.#levels.current, this.#metrics);
    for (const listener of this.#listeners) listener(this.configuration);
  }

  get configuration(): ToldConfiguration {
    return { schemas: this.#schemas, levels: this.#configs, slots: this.#counters.seats.slots };
  }

  /** Calls back with each new configuration. Returns a function that ends this. */
  follow(listener: (configuration: ToldConfiguration) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Takes the configuration of the main thread. */
  hear({ schemas, levels, slots }: ToldConfiguration): void {
    this.#counters.seats.know(slots);
    this.configure(schemas, levels);
  }

  /** A seat of another thread is free, for which requests wait. */
  freed(slot: number): void {
    for (const { queues } of this.#levels.all.values()) if (queues.seats.slot === slot) queues.freed();
  }

  /** Frees what the requests of a thread held that no longer runs. */
  threadEnded(row: number): void {
    this.#counters.seats.clear(row);
    this.#counters.watches.clear(row);
    for (const { queues } of this.#levels.all.values()) queues.freed();
  }

  /** The levels by name, for debugging. */
  get levels(): ReadonlyMap<string, Level> {
    return this.#levels.all;
  }

  adjust(): void {
    this.#levels.adjust();
    // Other threads do not say that the last request of a deleted level is over.
    for (const level of this.#levels.all.values()) this.#reap(level);
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await pause(ADJUSTMENT_PERIOD_MS, signal);
      if (!signal.aborted) this.adjust();
    }
  }

  /** Observes what other threads do. */
  async observe(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await pause(OBSERVATION_MS, signal);
      for (const { queues } of this.#levels.all.values()) queues.observe();
    }
  }

  begin(request: FlowRequest): Turn | Promise<Turn> | undefined {
    if (request.verb !== 'watch' && isLongRunning(request)) return undefined;
    const elsewhere = this.#elsewhere;
    if (request.target !== undefined && elsewhere?.counts(request.target)) return elsewhere.begin(request);
    const route = findRoute(this.#routes, request);
    const { level, recorder, schema } = route;
    const work = estimateWork(request, level.widest, this.#surroundings);
    const arrival = {
      schema: schema.name,
      distinguisher: distinguish(route, request),
      work,
      request,
      recorder,
    };
    const ticket = elsewhere === undefined ? level.queues.start(arrival) : level.queues.startAtOnce(arrival);
    if (ticket === undefined && elsewhere !== undefined) return elsewhere.begin(request);
    recorder.estimated(seatsOf(work));
    if (work.watches !== undefined) recorder.watchers(work.watches);
    if (ticket === undefined) {
      recorder.waited(0, false);
      return this.#refuse(route);
    }
    if (ticket.state === 'waiting') return this.#wait(route, ticket, request);
    if (!level.config.exempt) recorder.waited(0, true);
    return this.#admit(route, ticket, request);
  }

  async #wait(route: Route, ticket: Ticket, request: FlowRequest): Promise<Turn> {
    const { level, recorder } = route;
    const { signal } = request;
    const onAbort = (): void => level.queues.giveUp(ticket, 'cancelled');
    const callOff = this.#clock.after(this.#waitLimitMs, () => level.queues.giveUp(ticket, 'time-out'));
    signal.addEventListener('abort', onAbort, { once: true });
    const decision = ticket.decision();
    if (signal.aborted) onAbort();
    const admitted = await decision;
    callOff();
    signal.removeEventListener('abort', onAbort);
    recorder.waited(this.#clock.now() - ticket.arrivedAt, admitted);
    if (admitted) return this.#admit(route, ticket, request);
    this.#reap(level);
    return this.#refuse(route);
  }

  #admit(route: Route, ticket: Ticket, request: FlowRequest): SeatedTurn {
    const { level, recorder, classification } = route;
    const isWatch = request.verb === 'watch';
    recorder.dispatched();
    return new SeatedTurn({
      classification,
      release: () => {
        recorder.executed(this.#clock.now() - (ticket.startedAt ?? 0), isWatch ? 'watch' : 'regular');
        level.queues.finish(ticket);
        this.#reap(level);
      },
      forget: isWatch ? this.#counters.watches.register(request) : undefined,
    });
  }

  #refuse({ level, classification }: Route): RefusedTurn {
    return {
      admitted: false,
      classification,
      retryAfterSeconds: this.#retryAfter.refuse(level.config.name),
    };
  }

  /** The last request of a deleted level frees its seats for the other levels. */
  #reap(level: Level): void {
    if (level.retired && level.queues.isIdle) this.configure(this.#schemas, this.#configs);
  }
}

/** The highest Retry-After in seconds. */
const MAX_SECONDS = 32;

/**
 * The Retry-After of refused callers: doubles each time many are refused, and shrinks by a second for each second in which few
 * are (Kubernetes: dropped requests tracker; the model is TCP).
 */
export class RetryAfter {
  readonly #now: () => number;
  readonly #levels = new Map<string, RefusedOfLevel>();

  /** `now` in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Counts a refusal, and returns its Retry-After in seconds. */
  refuse(level: string): number {
    let refused = this.#levels.get(level);
    if (refused === undefined) {
      refused = new RefusedOfLevel();
      this.#levels.set(level, refused);
    }
    return refused.refuse(Math.floor(this.#now() / 1000));
  }
}

class RefusedOfLevel {
  #history: { readonly second: number; readonly count: number }[] = [];
  #second = Number.NEGATIVE_INFINITY;
  #count = 0;
  #seconds = 1;
  #raisedAt = Number.NEGATIVE_INFINITY;

  refuse(second: number): number {
    if (second === this.#second) {
      this.#count += 1;
      return this.#seconds;
    }
    const oldest = this.#second - Math.min(2 * this.#seconds, MAX_SECONDS);
    this.#history = this.#history.filter((past) => past.second >= oldest);
    if (this.#count > 0) this.#history.push({ second: this.#second, count: this.#count });
    this.#second = second;
    this.#count = 1;
    this.#reconsider(second);
    return this.#seconds;
  }

  #reconsider(second: number): void {
    const recent = this.#history
      .filter((past) => second - past.second <= this.#seconds)
      .reduce((sum, { count }) => sum + count, 0);
    if (second - this.#raisedAt >= this.#seconds && recent >= 3 * this.#seconds) {
      this.#seconds = Math.min(this.#seconds * 2, MAX_SECONDS);
      this.#raisedAt = second;
    } else if (recent < this.#seconds && this.#seconds > 1) this.#seconds -= 1;
  }
}
