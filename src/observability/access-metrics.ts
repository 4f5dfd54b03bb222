import { type Cell, type Distribution, exponential, Histogram, Numbers } from './instruments.ts';
import type { Metrics } from './metrics.ts';

type AuthenticationResult = 'success' | 'failure' | 'error';
type AuthorizationResult = 'allowed' | 'denied' | 'no-opinion' | 'error';

const SECONDS = exponential(0.001, 2, 15);

/** Who the callers are and whether they may do what they ask for, under Kubernetes' names (apiserver, endpoints/filters). */
export class AccessMetrics {
  readonly #users: Numbers;
  readonly #authentication: ByResult<AuthenticationResult>;
  readonly #authorization: ByResult<AuthorizationResult>;

  constructor(metrics: Metrics) {
    this.#users = metrics.add(
      new Numbers('counter', {
        name: 'authenticated_user_requests',
        help: 'Authenticated requests by kind of user name.',
        labels: ['username'],
      }),
    );
    this.#authentication = new ByResult(metrics, 'authentication_attempts', 'authentication');
    this.#authorization = new ByResult(metrics, 'authorization_attempts_total', 'authorization');
  }

  /** `begunMs`: by performance.now(). `username`: of a caller who was found, anonymous or not. */
  authenticated(result: AuthenticationResult, begunMs: number, username = ''): void {
    this.#authentication.observe(result, begunMs);
    if (result === 'success') this.#users.at(kindOfName(username)).add();
  }

  authorized(result: AuthorizationResult, begunMs: number): void {
    this.#authorization.observe(result, begunMs);
  }
}

/** Upper bounds, in seconds: half an hour to a year. */
const EXPIRY_SECONDS: readonly number[] = [
  ...[0, 1800, 3600, 7200, 21_600, 43_200],
  ...[1, 2, 4, 7, 30, 90, 180, 360].map((days) => days * 86_400),
];

/** How long certificates of clients last, from each request that one comes with (authentication/request/x509). */
export const certificateExpiry = (metrics: Metrics): Distribution =>
  metrics
    .add(
      new Histogram(
        {
          name: 'apiserver_client_certificate_expiration_seconds',
          help: 'Remaining life of the client certificates that requests come with.',
        },
        EXPIRY_SECONDS,
      ),
    )
    .at();

/** Counts the allows and denials of each authorizer of the chain (authorization/metrics). */
export class DecisionMetrics {
  readonly #decisions: Numbers;

  constructor(metrics: Metrics) {
    this.#decisions = metrics.add(
      new Numbers('counter', {
        name: 'apiserver_authorization_decisions_total',
        help: 'Decisions that ended authorization, by authorizer.',
        labels: ['type', 'name', 'decision'],
      }),
    );
  }

  /** The counters of one authorizer. They count from its first decision, before which it has none. */
  of(type: string, name: string): { allowed(): void; denied(): void } {
    const decisions = this.#decisions;
    let allowed: Cell | undefined;
    let denied: Cell | undefined;
    return {
      allowed() {
        allowed ??= decisions.at(type, name, 'allowed');
        allowed.add();
      },
      denied() {
        denied ??= decisions.at(type, name, 'denied');
        denied.add();
      },
    };
  }
}

class ByResult<Result extends string> {
  readonly #attempts: Numbers;
  readonly #durations: Histogram;
  readonly #known = new Map<Result, { readonly count: Cell; readonly seconds: Distribution }>();

  constructor(metrics: Metrics, attempts: string, what: string) {
    const labels = ['result'];
    this.#attempts = metrics.add(
      new Numbers('counter', { name: attempts, help: `Attempts at ${what} by result.`, labels }),
    );
    const durations = { name: `${what}_duration_seconds`, help: `Time of ${what} by result.`, labels };
    this.#durations = metrics.add(new Histogram(durations, SECONDS));
  }

  observe(result: Result, begunMs: number): void {
    let known = this.#known.get(result);
    if (known === undefined) {
      known = { count: this.#attempts.at(result), seconds: this.#durations.at(result) };
      this.#known.set(result, known);
    }
    known.count.add();
    known.seconds.observe((performance.now() - begunMs) / 1000);
  }
}

const SHOWN_NAMES: ReadonlySet<string> = new Set([
  'admin',
  'client',
  'kube_proxy',
  'kubelet',
  'system:serviceaccount:kube-system:default',
]);

/** A label has few values, so names other than these are not shown. */
function kindOfName(username: string): string {
  if (SHOWN_NAMES.has(username)) return username;
  return username.includes('@') ? 'email_id' : 'other';
}
