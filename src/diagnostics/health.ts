import { type Context, Hono } from 'hono';
import { plainText } from '../pages/plain-text.ts';

/** One thing that can be well or not. Resolves when well; throws what is wrong. */
export interface HealthCheck {
  readonly name: string;
  /** Under which of the endpoints it counts. */
  readonly endpoints: readonly HealthEndpoint[];
  check(): Promise<void> | void;
}

const ENDPOINTS = ['healthz', 'livez', 'readyz'] as const;

export type HealthEndpoint = (typeof ENDPOINTS)[number];

type OnFailure = (name: string, error: unknown) => void;

/** /healthz and its kin, with ?verbose, ?exclude= and a path for each check (Kubernetes: server/healthz). */
export function createHealthPages(checks: readonly HealthCheck[], onFailure: OnFailure = () => {}): Hono {
  const pages = new Hono();
  for (const endpoint of ENDPOINTS) {
    const all = checks.filter(({ endpoints }) => endpoints.includes(endpoint));
    const answer = ({ req }: Context, asked: readonly HealthCheck[]): Promise<Response> =>
      report(endpoint, asked, {
        excluded: new Set(req.queries('exclude')),
        verbose: req.query('verbose') !== undefined,
        onFailure,
      });
    pages.get(`/${endpoint}`, (context) => answer(context, all));
    pages.get(`/${endpoint}/`, (context) => answer(context, all));
    pages.get(`/${endpoint}/:check{.+}`, (context) => {
      const asked = all.filter(({ name }) => name === context.req.param('check'));
      return asked.length === 0 ? context.notFound() : answer(context, asked);
    });
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
  const lines = results.map(({ line }) => `${line}\n`).join('');
  if (results.some(({ well }) => !well)) return plainText(500, `${lines}${endpoint} check failed\n`);
  return plainText(200, verbose ? `${lines}${endpoint} check passed\n` : 'ok');
}

async function examine(
  { name, check }: HealthCheck,
  excluded: boolean,
  onFailure: OnFailure,
): Promise<{ readonly well: boolean; readonly line: string }> {
  if (excluded) return { well: true, line: `[+]${name} excluded: ok` };
  try {
    await check();
    return { well: true, line: `[+]${name} ok` };
  } catch (error) {
    // What is wrong is for the log and metrics; whoever may ask after health need not know the database's address.
    onFailure(name, error);
    return { well: false, line: `[-]${name} failed: reason withheld` };
  }
}
