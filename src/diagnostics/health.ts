import { Hono } from 'hono';
import { plainText } from '../pages/pages.ts';

/** One condition of the server's health. */
export interface HealthCheck {
  readonly name: string;
  /** The endpoints that report the check. */
  readonly endpoints: readonly HealthEndpoint[];
  /** Resolves when all is well. @throws Error whose message is shown to users who may read the path of this check */
  check(): Promise<void> | void;
  /** What is well and yet not as it should be, for everybody to read. */
  note?(): string | undefined;
}

const ENDPOINTS = ['healthz', 'livez', 'readyz'] as const;

type HealthEndpoint = (typeof ENDPOINTS)[number];

type OnFailure = (name: string, error: unknown) => void;

/** What is told of each result of a check, under the endpoint that was asked. */
export interface HealthRecord {
  note(check: string, endpoint: HealthEndpoint, isWell: boolean): void;
}

/** /healthz and its kin, with ?verbose, ?exclude= and a path for each check (Kubernetes: server/healthz). */
export function createHealthPages(
  checks: readonly HealthCheck[],
  onFailure: OnFailure = () => {},
  record?: HealthRecord,
): Hono {
  const pages = new Hono();
  for (const endpoint of ENDPOINTS) {
    const all = checks
      .filter(({ endpoints }) => endpoints.includes(endpoint))
      .map((check) => (record === undefined ? check : recorded(check, endpoint, record)));
    for (const path of [`/${endpoint}`, `/${endpoint}/`]) {
      pages.get(path, ({ req }) =>
        report(endpoint, all, {
          excluded: new Set(req.queries('exclude')),
          verbose: req.query('verbose') !== undefined,
          onFailure,
        }),
      );
    }
    for (const check of all) pages.get(`/${endpoint}/${check.name}`, () => reportOne(check, onFailure));
  }
  return pages;
}

const recorded = (check: HealthCheck, endpoint: HealthEndpoint, record: HealthRecord): HealthCheck => ({
  ...check,
  check: async () => {
    try {
      await check.check();
    } catch (error) {
      record.note(check.name, endpoint, false);
      throw error;
    }
    record.note(check.name, endpoint, true);
  },
});

interface ReportOptions {
  readonly excluded: ReadonlySet<string>;
  readonly verbose: boolean;
  readonly onFailure: OnFailure;
}

async function report(
  endpoint: HealthEndpoint,
  checks: readonly HealthCheck[],
  { excluded, verbose, onFailure }: ReportOptions,
): Promise<Response> {
  const results = await Promise.all(
    checks.map((check) => examine(check, excluded.has(check.name), onFailure)),
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
  excluded: boolean,
  onFailure: OnFailure,
): Promise<{ readonly well: boolean; readonly line: string }> {
  if (excluded) return { well: true, line: `[+]${name} excluded: ok` };
  try {
    await check();
    const remark = note?.();
    return { well: true, line: `[+]${name} ok${remark === undefined ? '' : `: ${remark}`}` };
  } catch (error) {
    // The reason goes to the log, because everyone may read the overall health.
    onFailure(name, error);
    return { well: false, line: `[-]${name} failed: reason withheld` };
  }
}

/** Authorization protects the path of a single check, so its answer has the reason. */
async function reportOne({ name, check }: HealthCheck, onFailure: OnFailure): Promise<Response> {
  try {
    await check();
    return plainText(200, 'ok');
  } catch (error) {
    onFailure(name, error);
    const reason = error instanceof Error ? error.message : String(error);
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

  /** @throws Error while the step is not finished */
  assertFinished(step: Step): void {
    if (!this.#done.has(step)) throw new Error('not finished');
  }
}
