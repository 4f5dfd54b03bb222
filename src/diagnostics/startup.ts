import type { HealthCheck } from './health.ts';

/**
 * What has to be done after the listener is open and before the server is ready, each step a check of its own. /livez takes
 * unfinished steps for done during --livez-grace-period, so that a slow start is not killed for being slow.
 */
export class Startup {
  readonly #graceMs: number;
  readonly #now: () => number;
  readonly #begunMs: number;
  readonly #steps: readonly string[];
  readonly #done = new Set<string>();

  constructor(steps: readonly string[], graceMs: number, now: () => number = Date.now) {
    this.#steps = steps;
    this.#graceMs = graceMs;
    this.#now = now;
    this.#begunMs = now();
  }

  finished(step: string): void {
    this.#done.add(step);
  }

  checks(): HealthCheck[] {
    return this.#steps.flatMap((step) => {
      const name = `poststarthook/${step}`;
      const strict = (): void => this.#assertDone(step);
      const lenient = (): void => {
        if (this.#now() - this.#begunMs >= this.#graceMs) strict();
      };
      return [
        { name, endpoints: ['healthz', 'readyz'], check: strict },
        { name, endpoints: ['livez'], check: lenient },
      ] as const;
    });
  }

  #assertDone(step: string): void {
    if (!this.#done.has(step)) throw new Error('not finished');
  }
}
