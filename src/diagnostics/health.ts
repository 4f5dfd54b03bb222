import { Hono } from 'hono';
import { plainText } from '../pages/plain-text.ts';

/** One thing that can be well or not. */
export interface HealthCheck {
  readonly name: string;
  /** Under which of the endpoints it counts. */
  readonly endpoints: readonly HealthEndpoint[];
  /** Resolves when well. @throws Error; its message is shown to users who may read this check by itself */
  check(): Promise<void> | void;
  /** What is well and yet not as it should be, for everybody to read. */
  note?(): string | undefined;
}

const ENDPOINTS = ['healthz', 'livez', 'readyz'] as const;

export type HealthEndpoint = (typeof ENDPOINTS)[number];

type OnFailure = (name: string, error: unknown) => void;

/** /healthz and its kin, with ?verbose, ?exclude= and a path for each check (Kubernetes: server/healthz). */
export function createHealthPages(checks: readonly HealthCheck[], onFailure: OnFailure = () => {}): Hono {
  const pages = new Hono();
  for (const endpoint of ENDPOINTS) {
    const all = checks.filter(({ endpoints }) => endpoints.includes(endpoint));
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
    // What is wrong is for the log; everybody may ask after health in general.
    onFailure(name, error);
    return { well: false, line: `[-]${name} failed: reason withheld` };
  }
}

/** The paths below /healthz are for whom authorization lets read them: they are told the reason. */
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
