import { MANDATORY } from '../bootstrap/objects.ts';
import type { FlowClock } from '../clock.ts';
import { type PriorityLevel, parsePriorityLevel } from '../config/priority-level.ts';
import type { FlowMetrics } from '../metrics.ts';
import { adjustSeats } from './adjustment.ts';
import { Level } from './level.ts';
import { assignLimits } from './shares.ts';

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

  /** By name. Retired ones are among them: their requests still run. */
  get all(): ReadonlyMap<string, Level> {
    return this.#levels;
  }

  /** Those that requests may be sent to. */
  get current(): ReadonlyMap<string, Level> {
    return new Map([...this.#levels].filter(([, { retired }]) => !retired));
  }

  /** Levels keep their queues as long as they exist. One that was deleted stays until its last request has ended. */
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

  /** Lends and returns seats, by what was needed since the last time. */
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
