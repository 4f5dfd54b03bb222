import type { HealthCheck } from './health.ts';

/** A check that passes once a step of the start is finished. Several checks may stand for one step. */
export interface StartupCheck<Step extends string> {
  readonly name: string;
  readonly step: Step;
}

/**
 * The steps between the opening of the listener and readiness, as health checks. /livez counts unfinished steps as finished
 * during --livez-grace-period, so that a slow start is not killed.
 */
export class Startup<Step extends string> {
  readonly #graceMs: number;
  readonly #now: () => number;
  readonly #begunMs: number;
  readonly #checks: readonly StartupCheck<Step>[];
  readonly #done = new Set<Step>();

  constructor(checks: readonly StartupCheck<Step>[], graceMs: number, now: () => number = Date.now) {
    this.#checks = checks;
    this.#graceMs = graceMs;
    this.#now = now;
    this.#begunMs = now();
  }

  finished(step: Step): void {
    this.#done.add(step);
  }

  checks(): HealthCheck[] {
    return this.#checks.flatMap(({ name, step }) => {
      const strict = (): void => this.assertFinished(step);
      const lenient = (): void => {
        if (this.#now() - this.#begunMs >= this.#graceMs) strict();
      };
      return [
        { name, endpoints: ['healthz', 'readyz'], check: strict },
        { name, endpoints: ['livez'], check: lenient },
      ] as const;
    });
  }

  /** @throws Error while the step is not finished */
  assertFinished(step: Step): void {
    if (!this.#done.has(step)) throw new Error('not finished');
  }
}
