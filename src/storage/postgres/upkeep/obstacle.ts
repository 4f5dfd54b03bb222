import type { Database } from '../connection/connection.ts';
import { describeBackends } from '../connection/describe-backends.ts';

/** Interval between lines about the same obstacle. */
export const REPEAT_MS = 3_600_000;

interface ObstacleOptions {
  /** Failures in a row before the log says so. */
  readonly patience: number;
  /** One line for the log, about transactions in the way. */
  readonly describe: (transactions: string) => string;
  readonly onTrouble: (message: string) => void;
}

/** Obstacle names the transactions that keep one kind of upkeep from its work, once it has failed often enough. */
export class Obstacle {
  readonly #options: ObstacleOptions;
  #failures = 0;
  #spokeMs = Number.NEGATIVE_INFINITY;

  constructor(options: ObstacleOptions) {
    this.#options = options;
  }

  overcome(): void {
    this.#failures = 0;
  }

  /** Takes what met it: the error, whose detail has process ids, or these ids with commas between. */
  async meet(database: Database, what: unknown): Promise<void> {
    const { patience, describe, onTrouble } = this.#options;
    this.#failures += 1;
    if (this.#failures < patience || performance.now() - this.#spokeMs < REPEAT_MS) return;
    this.#spokeMs = performance.now();
    onTrouble(describe(await describeBackends(database.pool, toPids(what))));
  }
}

function toPids(what: unknown): string {
  if (typeof what === 'string') return what;
  return what instanceof Error && 'detail' in what ? String(what.detail ?? '') : '';
}
