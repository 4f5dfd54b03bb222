import type { LevelLimits } from '../observability/flow-control/flow-tallies.ts';
import { type PriorityLevel, parsePriorityLevel } from './flow-configuration.ts';
import type { FlowClock } from './flow-control.ts';
import type { FlowMetrics, LevelRecorder } from './flow-recorder.ts';
import { DemandIntegral, type DemandSummary } from './queueing/demand.ts';
import { type QueueingPolicy, QueueSet } from './queueing/queue-set.ts';
import type { LevelSeats, SeatCounters } from './queueing/seats.ts';
import { MAX_SEATS } from './request-cost.ts';
import { MANDATORY } from './shipped-configuration.ts';

const MANDATORY_LEVELS = MANDATORY.levels.flatMap((object) => parsePriorityLevel(object) ?? []);

/** The priority levels and the division of the server's seats among them. */
export class Levels {
  readonly #clock: FlowClock;
  readonly #metrics: FlowMetrics;
  readonly #serverSeats: number;
  readonly #counters: SeatCounters;
  #levels = new Map<string, Level>();
  #nominalSum = 0;

  constructor(options: {
    clock: FlowClock;
    metrics: FlowMetrics;
    serverSeats: number;
    counters: SeatCounters;
  }) {
    this.#clock = options.clock;
    this.#metrics = options.metrics;
    this.#serverSeats = options.serverSeats;
    this.#counters = options.counters;
  }

  /** By name, with the retired ones whose requests still run. */
  get all(): ReadonlyMap<string, Level> {
    return this.#levels;
  }

  /** The levels that new requests may use. */
  get current(): ReadonlyMap<string, Level> {
    return new Map([...this.#levels].filter(([, { retired }]) => !retired));
  }

  /** Levels keep their queues as long as they exist. A deleted level stays until its last request has ended. */
  configure(configs: readonly PriorityLevel[]): void {
    const levels = new Map<string, Level>();
    for (const config of [...MANDATORY_LEVELS, ...configs]) levels.set(config.name, this.#take(config));
    for (const [name, level] of this.#levels) {
      if (levels.has(name)) continue;
      if (level.queues.isIdle) {
        this.#counters.close(name);
        continue;
      }
      level.retired = true;
      levels.set(name, level);
    }
    this.#levels = levels;
    this.#nominalSum = assignLimits([...levels.values()], this.#serverSeats);
    this.adjust();
  }

  /** Lends and returns seats, by the demand since the last adjustment. */
  adjust(): void {
    adjustSeats([...this.#levels.values()], {
      nominalSum: this.#nominalSum,
      serverSeats: this.#serverSeats,
      now: this.#clock.now(),
      metrics: this.#metrics,
    });
  }

  #take(config: PriorityLevel): Level {
    const seats = this.#counters.open(config.name);
    const known = this.#levels.get(config.name);
    const made = { clock: this.#clock, metrics: this.#metrics, seats };
    const level = known?.queues.seats === seats ? known : new Level(config, made);
    level.config = config;
    level.retired = false;
    return level;
  }
}

/** The part of a level's seats that one request may take. */
const WIDEST_PART = 0.15;

/**
 * Divides the server's seats among the levels by their shares, rounding up, and sets how many seats each may lend and borrow.
 * Returns the sum, which is a little more than the server's seats.
 */
function assignLimits(levels: readonly Level[], serverSeats: number): number {
  const shareSum = levels.reduce((sum, { config }) => sum + config.shares, 0);
  let nominalSum = 0;
  for (const level of levels) {
    const { shares, lendablePercent, borrowingLimitPercent, queuing } = level.config;
    const nominal = shareSum === 0 ? 0 : Math.ceil((serverSeats * shares) / shareSum);
    const borrowed =
      borrowingLimitPercent === undefined ? serverSeats : Math.round((nominal * borrowingLimitPercent) / 100);
    const lent = Math.round((nominal * lendablePercent) / 100);
    level.limits = { nominal, minimum: nominal - lent, maximum: nominal + borrowed };
    level.recorder.limits(level.limits);
    level.widest = queuing === undefined ? MAX_SEATS : widestOf(nominal, queuing.handSize);
    nominalSum += nominal;
  }
  return nominalSum;
}

/** A flow can have a request at the head of each queue in its hand; seats must suffice for all of them. */
function widestOf(nominal: number, handSize: number): number {
  const widest = Math.min(Math.ceil(nominal * WIDEST_PART), Math.floor(nominal / handSize), MAX_SEATS);
  return Math.max(widest, 1);
}

interface LevelParts {
  readonly clock: FlowClock;
  readonly metrics: FlowMetrics;
  readonly seats: LevelSeats;
}

/** A priority level at work: its configuration, its queues, and its current seats. */
export class Level {
  readonly queues: QueueSet;
  readonly demand: DemandIntegral;
  readonly statistics = new DemandStatistics();
  readonly recorder: LevelRecorder;
  config: PriorityLevel;
  limits: LevelLimits = { nominal: 0, minimum: 0, maximum: 0 };
  /** From the last adjustment. */
  seats = 0;
  /** The most that one request may take. */
  widest = MAX_SEATS;
  /** Its object was deleted; the level is removed when its last request has ended. */
  retired = false;

  constructor(config: PriorityLevel, { clock, metrics, seats }: LevelParts) {
    this.config = config;
    this.recorder = metrics.level(config.name);
    this.demand = new DemandIntegral(clock.now());
    this.queues = new QueueSet({ clock, demand: this.demand, recorder: this.recorder, seats });
  }

  /** Returns the demand since the last call. */
  summarize(now: number): DemandSummary {
    const summary = this.demand.reset(now);
    return { ...summary, highest: Math.max(summary.highest, this.queues.seats.takeHighest()) };
  }

  get policy(): QueueingPolicy {
    if (this.config.exempt) return 'unlimited';
    return this.config.queuing ?? 'refuse';
  }

  /** `denominator`: usage is measured against it when the level has no seats. */
  setSeats(seats: number, denominator: number): void {
    this.seats = seats;
    this.queues.configure(this.policy, seats);
    const { queuing } = this.config;
    const waiting = queuing === undefined ? 1 : queuing.queues * queuing.queueLengthLimit;
    this.recorder.capacity(waiting, seats > 0 ? seats : denominator);
  }
}

/** How slowly demand decays: half of a peak is left after five minutes of adjustments every ten seconds. */
const SMOOTHING = 0.977;

/** The demand of a level. Rises at once, falls slowly. */
class DemandStatistics {
  average = 0;
  deviation = 0;
  highWatermark = 0;
  smoothed = 0;

  update({ durationMs, average, deviation, highest }: DemandSummary): void {
    this.highWatermark = Math.round(highest);
    if (durationMs <= 0) return;
    this.average = average;
    this.deviation = deviation;
    const envelope = average + deviation;
    this.smoothed = Math.max(envelope, SMOOTHING * this.smoothed + (1 - SMOOTHING) * envelope);
  }
}

/** A claim to `target` seats, at least `lower` and at most `upper`. */
interface Wish {
  readonly target: number;
  readonly lower: number;
  readonly upper: number;
}

interface Allocation {
  /** In the order of the wishes; may be fractions. */
  readonly seats: readonly number[];
  /** Every wish gets this part of its target, within its bounds. */
  readonly fraction: number;
}

/** No fraction could raise a target of zero. */
const LEAST_TARGET = 0.001;

/**
 * Divides `total` so that every wish gets the same fraction of its target, within its bounds (Kubernetes: the same rule). The sum
 * rises with the fraction, in straight lines between the fractions at which a wish meets a bound, so the right fraction lies on
 * the line that passes the total.
 *
 * Example: 10 for targets 6 (1 to 20) and 2 (4 to 20) gives 6 and 4 at a fraction of 1: the lower bound raises the second.
 *
 * Undefined when the bounds leave no solution.
 */
export function allocate(total: number, wishes: readonly Wish[]): Allocation | undefined {
  const bounded = wishes.map((wish) => ({ ...wish, target: Math.max(wish.target, LEAST_TARGET) }));
  const given = (fraction: number): number[] =>
    bounded.map(({ target, lower, upper }) => Math.min(Math.max(fraction * target, lower), upper));
  const turns = bounded
    .flatMap(({ target, lower, upper }) => [lower / target, upper / target])
    .sort((a, b) => a - b);
  let before = { fraction: turns[0] ?? 0, sum: sum(given(turns[0] ?? 0)) };
  // Sums of the same bounds may differ in the last digits.
  if (before.sum > total + TOLERANCE) return undefined;
  for (const fraction of turns) {
    const at = { fraction, sum: sum(given(fraction)) };
    if (at.sum >= total) {
      const rise = at.sum - before.sum;
      const part = rise === 0 ? 0 : (total - before.sum) / rise;
      const found = before.fraction + part * (at.fraction - before.fraction);
      return { seats: given(found), fraction: found };
    }
    before = at;
  }
  return before.sum >= total - TOLERANCE
    ? { seats: given(before.fraction), fraction: before.fraction }
    : undefined;
}

const TOLERANCE = 1e-7;
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

interface AdjustmentOptions {
  /** Sum of the levels' nominal seats. */
  readonly nominalSum: number;
  readonly serverSeats: number;
  readonly now: number;
  readonly metrics: FlowMetrics;
}

/**
 * No level lends its last seat: without one, its next request would wait for the next adjustment. Kubernetes lets levels of very
 * small servers, and those that lend everything, fall to zero.
 */
const lastSeat = ({ limits }: Level): number => Math.min(limits.nominal, 1);

/** The seats that a level must get now: its recent demand, up to its own seats, and at least the seats that it cannot lend. */
function minimumNow(level: Level): number {
  const { config, limits, statistics } = level;
  if (config.exempt) return Math.max(limits.minimum, statistics.highWatermark);
  return Math.max(limits.minimum, Math.min(limits.nominal, statistics.highWatermark), lastSeat(level));
}

/**
 * Lends seats of levels that do not need them to levels that do, by their demand since the last adjustment. Exempt requests run
 * in any case, so their seats are subtracted first; if that leaves too few, every level gets less.
 */
function adjustSeats(levels: readonly Level[], options: AdjustmentOptions): void {
  const { nominalSum, serverSeats, now, metrics } = options;
  for (const level of levels) level.statistics.update(level.summarize(now));
  const seats = divide(levels, nominalSum, metrics);
  for (const level of levels) {
    const { statistics } = level;
    level.setSeats(seats.get(level) ?? level.seats, Math.max(1, Math.round(serverSeats / 10)));
    level.recorder.adjusted({
      highWatermark: statistics.highWatermark,
      average: statistics.average,
      deviation: statistics.deviation,
      smoothed: statistics.smoothed,
      target: targetOf(level),
      limit: level.seats,
    });
  }
}

const targetOf = (level: Level): number => Math.max(minimumNow(level), level.statistics.smoothed);

function divide(levels: readonly Level[], nominalSum: number, metrics: FlowMetrics): Map<Level, number> {
  const seats = new Map<Level, number>();
  const limited = levels.filter(({ config }) => !config.exempt);
  let remaining = nominalSum;
  for (const level of levels.filter(({ config }) => config.exempt)) {
    seats.set(level, minimumNow(level));
    remaining -= minimumNow(level);
  }
  const minimumSum = limited.reduce((sum, { limits }) => sum + limits.minimum, 0);
  const nowSum = limited.reduce((sum, level) => sum + minimumNow(level), 0);
  if (remaining <= nowSum) {
    // Too few seats for all current minimums: each level gets the same part of the difference above the seats that it cannot lend.
    const part = remaining <= minimumSum ? 0 : (remaining - minimumSum) / (nowSum - minimumSum);
    for (const level of limited) {
      const { minimum } = level.limits;
      const more = Math.round((minimumNow(level) - minimum) * part);
      seats.set(level, Math.max(minimum + more, lastSeat(level)));
    }
    metrics.fairFraction(0);
    return seats;
  }
  const wishes = limited.map((level) => ({
    target: targetOf(level),
    lower: minimumNow(level),
    upper: level.limits.maximum,
  }));
  const allocation = allocate(remaining, wishes);
  // Without a solution every level keeps its seats.
  if (allocation === undefined) return seats;
  metrics.fairFraction(allocation.fraction);
  for (const [at, level] of limited.entries())
    seats.set(level, Math.round(allocation.seats[at] ?? level.seats));
  return seats;
}
