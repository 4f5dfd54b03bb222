import { MANDATORY } from '../bootstrap.ts';
import { type PriorityLevel, parsePriorityLevel } from '../config/priority-level.ts';
import type { FlowClock } from '../flow-control.ts';
import type { FlowMetrics } from '../metrics.ts';
import { MAX_SEATS } from '../request-cost.ts';
import { adjustSeats } from './allocation.ts';
import { Level } from './level.ts';

const MANDATORY_LEVELS = MANDATORY.levels.flatMap((object) => parsePriorityLevel(object) ?? []);

/** The priority levels and the division of the server's seats among them. */
export class Levels {
  readonly #clock: FlowClock;
  readonly #metrics: FlowMetrics;
  readonly #serverSeats: number;
  #levels = new Map<string, Level>();
  #nominalSum = 0;

  constructor(options: { clock: FlowClock; metrics: FlowMetrics; serverSeats: number }) {
    this.#clock = options.clock;
    this.#metrics = options.metrics;
    this.#serverSeats = options.serverSeats;
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
      if (levels.has(name) || level.queues.isIdle) continue;
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
    const level = this.#levels.get(config.name) ?? new Level(config, this.#clock, this.#metrics);
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
