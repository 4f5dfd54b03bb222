import { Hono } from 'hono';
import { plainText } from '../pages/pages.ts';
import { errorText } from '../util/error-text.ts';

/** One condition of the server's health. */
export interface HealthCheck {
  readonly name: string;
  /** The endpoints that report the check. */
  readonly endpoints: readonly HealthEndpoint[];
  /** Resolves when all is well. @throws Error whose message is shown to users who may read the path of this check */
  check(): Promise<void> | void;
  /** A warning of a healthy part, for everybody to read. */
  note?(): string | undefined;
}

const ENDPOINTS = ['healthz', 'livez', 'readyz'] as const;

type HealthEndpoint = (typeof ENDPOINTS)[number];

/** Listeners to results of checks. */
interface HealthListeners {
  onFailure?(name: string, error: unknown): void;
  /** Reports a check of an endpoint that includes it. */
  onResult?(name: string, endpoint: HealthEndpoint, isWell: boolean): void;
}

/** /healthz and its kin, with ?verbose, ?exclude= and a path for each check (Kubernetes: server/healthz). */
export function createHealthPages(checks: readonly HealthCheck[], listeners: HealthListeners = {}): Hono {
  const pages = new Hono();
  for (const endpoint of ENDPOINTS) {
    const all = checks.filter(({ endpoints }) => endpoints.includes(endpoint));
    for (const path of [`/${endpoint}`, `/${endpoint}/`]) {
      pages.get(path, ({ req }) =>
        report(endpoint, all, {
          excluded: new Set(req.queries('exclude')),
          verbose: req.query('verbose') !== undefined,
          listeners,
        }),
      );
    }
    for (const check of all) pages.get(`/${endpoint}/${check.name}`, () => reportOne(check, listeners));
  }
  return pages;
}

interface ReportOptions {
  readonly excluded: ReadonlySet<string>;
  readonly verbose: boolean;
  readonly listeners: HealthListeners;
}

async function report(
  endpoint: HealthEndpoint,
  checks: readonly HealthCheck[],
  { excluded, verbose, listeners }: ReportOptions,
): Promise<Response> {
  const results = await Promise.all(
    checks.map(async (check) => {
      if (excluded.has(check.name)) return { well: true, line: `[+]${check.name} excluded: ok` };
      const result = await examine(check, listeners);
      listeners.onResult?.(check.name, endpoint, result.well);
      return result;
    }),
  );
  const unknown = [...excluded].filter((name) => checks.every((check) => check.name !== name)).sort();
  const lines = results.map(({ line }) => `${line}\n`).join('') + warningOf(unknown);
  if (results.some(({ well }) => !well)) return plainText(500, `${lines}${endpoint} check failed\n`);
  return plainText(200, verbose ? `${lines}${endpoint} check passed\n` : 'ok');
}

function warningOf(unknown: readonly string[]): string {
  if (unknown.length === 0) return '';
  const names = unknown.map((name) => JSON.stringify(name)).join(',');
  return `warn: some health checks cannot be excluded: no matches for ${names}\n`;
}

async function examine(
  { name, check, note }: HealthCheck,
  { onFailure }: HealthListeners,
): Promise<{ readonly well: boolean; readonly line: string }> {
  try {
    await check();
    const remark = note?.();
    return { well: true, line: `[+]${name} ok${remark === undefined ? '' : `: ${remark}`}` };
  } catch (error) {
    // The reason goes to the log, because everyone may read the overall health.
    onFailure?.(name, error);
    return { well: false, line: `[-]${name} failed: reason withheld` };
  }
}

/** Authorization protects the path of a single check, so its answer has the reason. */
async function reportOne({ name, check }: HealthCheck, { onFailure }: HealthListeners): Promise<Response> {
  try {
    await check();
    return plainText(200, 'ok');
  } catch (error) {
    onFailure?.(name, error);
    const reason = errorText(error);
    return plainText(500, `internal server error: ${reason}\n`);
  }
}

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

  /** Whether every step that a check waits for is finished. */
  get isComplete(): boolean {
    return this.#checks.every(({ step }) => this.#done.has(step));
  }

  /** @throws Error while the step is not finished */
  assertFinished(step: Step): void {
    if (!this.#done.has(step)) throw new Error('not finished');
  }
}
