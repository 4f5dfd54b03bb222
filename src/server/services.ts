import type { HealthCheck } from '../diagnostics/health-pages.ts';
import type { Logger } from '../observability/logger.ts';
import { errorText } from '../util/error-text.ts';
import { type Backoff, pauseAfter } from '../util/pause.ts';

/**
 * - essential: without it, requests are answered wrongly. While it does not work the server is not ready. When it fails again and
 *   again the server ends, because a server without its tail or its authorization is worse than none.
 * - upkeep: it may be late, or be done by another server. It is restarted without limit.
 */
type ServiceRole = 'essential' | 'upkeep';

/**
 * Runs until the signal aborts, and calls `works` once it works. After a failure it is run again, and then repairs all that the
 * failed run left half done.
 */
export type ServiceRun = (signal: AbortSignal, works: () => void) => Promise<void>;

export interface Service {
  /** Also the name of its health check. */
  readonly name: string;
  readonly run: ServiceRun;
}

interface ServicesOptions {
  readonly logger: Logger;
  /** Errors that pass by themselves: a server that ends does not bring the database back. */
  readonly isOutage: (error: unknown) => boolean;
  readonly now: () => number;
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  /** From 0 to 1, as Math.random. */
  readonly random: () => number;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;
/** During an outage the longest pause is also how late its end can be noticed. */
const OUTAGE: Backoff = { firstMs: 500, longestMs: 5000 };
/** Keeps servers that lost the same thing at the same moment from all coming back at once. */
const JITTER = 0.5;
/** A service that fails this often within the window is given up. With the pauses between, that takes about eight seconds. */
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
  /** Within the last window. */
  failures: readonly Failure[];
}

/** The loops of the server. They are restarted when they fail, and stopped last first, because later ones use earlier ones. */
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

  /** Services that can be stopped without the others. Their failures are failures of all. */
  branch(): Services {
    const branch = new Services(this.#options, this.#failed);
    this.#branches.push(branch);
    return branch;
  }

  /** Rejects when an essential service cannot be kept running. The message names it and says why. */
  get failed(): Promise<never> {
    return this.#failed.promise;
  }

  /** `name` is also the name of its health check. */
  start(name: string, role: ServiceRole, run: ServiceRun): void {
    const member: Member = { name, role, stop: new AbortController(), works: false, failures: [] };
    this.#members.push({ member, ended: this.#keepRunning(member, run) });
  }

  /** Waits for a step of the start. @throws Error when a service cannot be kept running meanwhile */
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

  /** False: it failed too often, and `failed` rejects. */
  #mayGoOn(member: Member, error: unknown): boolean {
    const { isOutage, now, logger } = this.#options;
    const atMs = now();
    const recent = member.failures.filter((failure) => failure.atMs > atMs - WINDOW_MS);
    member.failures = [...recent, { atMs, isOutage: isOutage(error) }];
    const count = member.failures.filter((failure) => !failure.isOutage).length;
    if (member.role === 'upkeep' || count < MAX_FAILURES) return true;
    const reason = errorText(error);
    const message = `${member.name} failed ${count} times within ${WINDOW_MS / 1000}s, at last with: ${reason}`;
    logger.error(message, error);
    this.#failed.reject(new Error(message, { cause: error }));
    return false;
  }

  #pauseMs({ failures }: Member): number {
    const { random } = this.#options;
    if (failures.at(-1)?.isOutage === true) return pauseAfter(failures.length, OUTAGE, random());
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (failures.length - 1), LONGEST_PAUSE_MS);
    return pauseMs * (1 + random() * JITTER);
  }
}

/** Returns the reason why the run ended. */
async function runOnce(member: Member, run: ServiceRun): Promise<unknown> {
  // Ignores late calls of an earlier run.
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
