import type { HealthCheck } from './health.ts';

/** A check that is well once a step of the start is finished. Several may stand for the same step. */
export interface StartupCheck<Step extends string> {
  readonly name: string;
  readonly step: Step;
}

/**
 * What has to be done after the listener is open and before the server is ready, each step under the names of the checks that
 * stand for it. /livez takes unfinished steps for done during --livez-grace-period, so that a slow start is not killed for
 * being slow.
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
