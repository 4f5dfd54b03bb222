import type { HealthCheck } from '../diagnostics/health.ts';
import type { Logger } from '../observability/logger.ts';

/**
 * - essential: requests are served wrongly without it. While it does not work the server is not ready, and when it fails again
 *   and again the server ends: a server that goes on without its tail or its authorization is worse than none.
 * - upkeep: it can be late, or be done by another server. It is begun again for as long as it takes.
 */
export type ServiceRole = 'essential' | 'upkeep';

/**
 * Runs until the signal aborts, and calls `works` once it does what it is for. It may be run again after it has failed: then it
 * makes anew whatever the failed run left half done.
 */
export type ServiceRun = (signal: AbortSignal, works: () => void) => Promise<void>;

export interface Service {
  /** That of its health check as well. */
  readonly name: string;
  readonly run: ServiceRun;
}

export interface ServicesOptions {
  readonly logger: Logger;
  /** Errors that only waiting mends: the database is away, and a server that ends does not bring it back. */
  readonly isOutage: (error: unknown) => boolean;
  readonly now: () => number;
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  /** From 0 to 1, as Math.random. */
  readonly random: () => number;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;
/** Servers that lost the same thing at the same moment do not all come back for it at once. */
const JITTER = 0.5;
/** What fails so often within the window is not going to work: with the pauses between, this takes some eight seconds. */
const MAX_FAILURES = 5;
const WINDOW_MS = 60_000;

interface Failure {
  readonly atMs: number;
  readonly isOutage: boolean;
}

/** One service, through all of its runs. */
interface Member {
  readonly name: string;
  readonly role: ServiceRole;
  readonly stop: AbortController;
  works: boolean;
  /** Those of the last window. */
  failures: readonly Failure[];
}

/** The loops of the server: begun again when they fail, and stopped last first, because later ones work with earlier ones. */
export class Services {
  readonly #options: ServicesOptions;
  readonly #members: { readonly member: Member; readonly ended: Promise<void> }[] = [];
  readonly #branches: Services[] = [];
  readonly #failed: PromiseWithResolvers<never>;

  constructor(options: ServicesOptions, failed: PromiseWithResolvers<never> = Promise.withResolvers()) {
    this.#options = options;
    this.#failed = failed;
    this.#failed.promise.catch(() => {});
  }

  /** Services that are stopped apart from the others. They fail together. */
  branch(): Services {
    const branch = new Services(this.#options, this.#failed);
    this.#branches.push(branch);
    return branch;
  }

  /** Rejects when an essential service cannot be kept running. The message names it and says why. */
  get failed(): Promise<never> {
    return this.#failed.promise;
  }

  /** The name is that of its health check as well. */
  start(name: string, role: ServiceRole, run: ServiceRun): void {
    const member: Member = { name, role, stop: new AbortController(), works: false, failures: [] };
    this.#members.push({ member, ended: this.#keepRunning(member, run) });
  }

  /** What a start waits for. @throws Error when a service cannot be kept running meanwhile */
  until<Result>(ready: Promise<Result>): Promise<Result> {
    return Promise.race([ready, this.failed]);
  }

  /** One for each essential service begun so far, those of branches included. */
  checks(): HealthCheck[] {
    const own = this.#members
      .filter(({ member }) => member.role === 'essential')
      .map(
        ({ member }): HealthCheck => ({
          name: member.name,
          endpoints: ['readyz'],
          check: () => {
            if (!member.works) throw new Error('it does not work at the moment');
          },
        }),
      );
    return [...own, ...this.#branches.flatMap((branch) => branch.checks())];
  }

  async stop(): Promise<void> {
    for (const { member, ended } of this.#members.toReversed()) {
      member.stop.abort();
      await ended;
    }
  }

  async #keepRunning(member: Member, run: ServiceRun): Promise<void> {
    const { signal } = member.stop;
    while (!signal.aborted) {
      const error = await runOnce(member, run);
      if (signal.aborted || !this.#mayGoOn(member, error)) return;
      const pauseMs = this.#pauseMs(member);
      const seconds = (pauseMs / 1000).toFixed(1);
      this.#options.logger.error(`${member.name} failed and begins again in ${seconds}s`, error);
      await this.#options.pause(pauseMs, signal);
    }
  }

  /** False: it has failed too often, and the server is told so. */
  #mayGoOn(member: Member, error: unknown): boolean {
    const { isOutage, now, logger } = this.#options;
    const atMs = now();
    const recent = member.failures.filter((failure) => failure.atMs > atMs - WINDOW_MS);
    member.failures = [...recent, { atMs, isOutage: isOutage(error) }];
    const count = member.failures.filter((failure) => !failure.isOutage).length;
    if (member.role === 'upkeep' || count < MAX_FAILURES) return true;
    const reason = error instanceof Error ? error.message : String(error);
    const message = `${member.name} failed ${count} times within ${WINDOW_MS / 1000}s, at last with: ${reason}`;
    logger.error(message, error);
    this.#failed.reject(new Error(message, { cause: error }));
    return false;
  }

  #pauseMs({ failures }: Member): number {
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (failures.length - 1), LONGEST_PAUSE_MS);
    return pauseMs * (1 + this.#options.random() * JITTER);
  }
}

/** Answers why the run is over. */
async function runOnce(member: Member, run: ServiceRun): Promise<unknown> {
  // What a run that is over still has under way must not tell that the next one works.
  let isOver = false;
  const works = (): void => {
    if (!isOver) member.works = true;
  };
  try {
    await run(member.stop.signal, works);
    return new Error('it ended by itself');
  } catch (error) {
    return error;
  } finally {
    isOver = true;
    member.works = false;
  }
}
