import type { ApiResponse } from '../request/api-response.ts';
import { type PageHandler, plainText } from './answers.ts';

/** One thing that can be well or not. Resolves when well; throws what is wrong. */
export interface HealthCheck {
  readonly name: string;
  /** Under which of the endpoints it counts. */
  readonly endpoints: readonly HealthEndpoint[];
  check(): Promise<void> | void;
}

export type HealthEndpoint = 'healthz' | 'livez' | 'readyz';

/** /healthz and its kin, with ?verbose, ?exclude= and a path for each check (Kubernetes: server/healthz). */
export function createHealthPages(
  checks: readonly HealthCheck[],
  onFailure: (name: string, error: unknown) => void = () => {},
): PageHandler {
  return ({ path, query, method }) => {
    const match = /^\/(healthz|livez|readyz)(?:\/(.*))?$/.exec(path);
    if (match === null || (method !== 'GET' && method !== 'HEAD')) return undefined;
    const [, endpoint, only = ''] = match;
    const answer = { endpoint: toEndpoint(endpoint), only, query };
    return answerHealth(checks, answer, onFailure);
  };
}

const toEndpoint = (text: string | undefined): HealthEndpoint =>
  text === 'livez' || text === 'readyz' ? text : 'healthz';

async function answerHealth(
  checks: readonly HealthCheck[],
  { endpoint, only, query }: { endpoint: HealthEndpoint; only: string; query: URLSearchParams },
  onFailure: (name: string, error: unknown) => void,
): Promise<ApiResponse | undefined> {
  const excluded = new Set(query.getAll('exclude'));
  const mine = checks.filter(
    ({ endpoints, name }) => endpoints.includes(endpoint) && (only === '' || name === only),
  );
  if (only !== '' && mine.length === 0) return undefined;
  const results = await Promise.all(mine.map((check) => examine(check, excluded.has(check.name), onFailure)));
  const lines = results.map(({ line }) => `${line}\n`).join('');
  if (results.some(({ well }) => !well)) return plainText(500, `${lines}${endpoint} check failed\n`);
  if (!query.has('verbose')) return plainText(200, 'ok');
  return plainText(200, `${lines}${endpoint} check passed\n`);
}

async function examine(
  { name, check }: HealthCheck,
  excluded: boolean,
  onFailure: (name: string, error: unknown) => void,
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
