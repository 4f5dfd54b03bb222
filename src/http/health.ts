import type { Context } from 'hono';

/** One thing that can be well or not. Resolves when well; throws what is wrong. */
export interface HealthCheck {
  readonly name: string;
  /** Under which of the endpoints it counts. */
  readonly endpoints: readonly HealthEndpoint[];
  check(): Promise<void> | void;
}

export type HealthEndpoint = 'healthz' | 'livez' | 'readyz';

/** /healthz and its kin, with ?verbose, ?exclude= and a path for each check (Kubernetes: server/healthz). */
export async function answerHealth(
  endpoint: HealthEndpoint,
  checks: readonly HealthCheck[],
  context: Context,
): Promise<Response> {
  const only = context.req.param('check');
  const excluded = new Set(context.req.queries('exclude') ?? []);
  const mine = checks.filter(
    ({ endpoints, name }) => endpoints.includes(endpoint) && (only === undefined || name === only),
  );
  if (only !== undefined && mine.length === 0) return context.text('404 page not found', 404);
  const results = await Promise.all(mine.map((check) => examine(check, excluded.has(check.name))));
  const failed = results.filter(({ line }) => line.startsWith('[-]'));
  const headers = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-cache, private' };
  if (failed.length > 0) {
    const text = `${results.map(({ line }) => line).join('\n')}\n${endpoint} check failed\n`;
    return context.text(text, 500, headers);
  }
  if (context.req.query('verbose') === undefined) return context.text('ok', 200, headers);
  return context.text(
    `${results.map(({ line }) => line).join('\n')}\n${endpoint} check passed\n`,
    200,
    headers,
  );
}

async function examine({ name, check }: HealthCheck, excluded: boolean): Promise<{ line: string }> {
  if (excluded) return { line: `[+]${name} excluded: ok` };
  try {
    await check();
    return { line: `[+]${name} ok` };
  } catch {
    // What is wrong is for the log and metrics; whoever may ask after health need not know the database's address.
    return { line: `[-]${name} failed: reason withheld` };
  }
}
