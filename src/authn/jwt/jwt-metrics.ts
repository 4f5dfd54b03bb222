import { hashedLabel } from '../../observability/hashed-label.ts';
import { Histogram, type Instrument, Numbers } from '../../observability/instruments.ts';

const LATENCY_BOUNDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const OUTCOMES = ['success', 'failure'] as const;

interface JwtMetricsOptions {
  /** Marks the samples of this server among those of others. */
  readonly server: string;
  /** Feature gate StructuredAuthenticationConfigurationJWKSMetrics. */
  readonly showsKeySets: boolean;
  readonly now?: () => number;
}

/** Metrics of issuers under Kubernetes' names (apiserver, plugin/pkg/authenticator/token/oidc). Issuers are shown as hashes. */
export class JwtMetrics {
  readonly instruments: readonly Instrument[];
  readonly #server: string;
  readonly #now: () => number;
  /** The hash of the key set of each issuer. */
  readonly #keySets = new Map<string, string>();
  readonly #latencies = new Histogram(
    {
      name: 'apiserver_authentication_jwt_authenticator_latency_seconds',
      help: 'Durations of verifications of tokens that were not in memory, in seconds.',
      labels: ['result', 'jwt_issuer_hash'],
    },
    LATENCY_BOUNDS,
  );
  readonly #fetches = new Numbers('gauge', {
    name: 'apiserver_authentication_jwt_authenticator_jwks_fetch_last_timestamp_seconds',
    help: 'When the key set of an issuer was last fetched, or could not be fetched.',
    labels: ['result', 'jwt_issuer_hash', 'apiserver_id_hash'],
  });
  readonly #infos = new Numbers('gauge', {
    name: 'apiserver_authentication_jwt_authenticator_jwks_fetch_last_key_set_info',
    help: 'The hash of the key set that was last fetched from an issuer.',
    labels: ['jwt_issuer_hash', 'apiserver_id_hash', 'hash'],
  });

  constructor({ server, showsKeySets, now = Date.now }: JwtMetricsOptions) {
    this.#server = hashedLabel(server);
    this.#now = now;
    this.instruments = [this.#latencies, ...(showsKeySets ? [this.#fetches, this.#infos] : [])];
  }

  verified(issuer: string, isGood: boolean, durationMs: number): void {
    this.#latencies.at(isGood ? 'success' : 'failure', hashedLabel(issuer)).observe(durationMs / 1000);
  }

  /** `keySet`: the document; undefined: it could not be fetched. */
  fetched(issuer: string, keySet: string | undefined): void {
    const name = hashedLabel(issuer);
    const outcome = keySet === undefined ? 'failure' : 'success';
    this.#fetches.at(outcome, name, this.#server).value = this.#now() / 1000;
    if (keySet === undefined) return;
    this.#removeInfo(name);
    const hash = hashedLabel(keySet);
    this.#keySets.set(name, hash);
    this.#infos.at(name, this.#server, hash).value = 1;
  }

  /** The issuer is no longer configured. */
  forget(issuer: string): void {
    const name = hashedLabel(issuer);
    for (const outcome of OUTCOMES) this.#fetches.remove(outcome, name, this.#server);
    this.#removeInfo(name);
  }

  #removeInfo(name: string): void {
    const hash = this.#keySets.get(name);
    if (hash !== undefined) this.#infos.remove(name, this.#server, hash);
    this.#keySets.delete(name);
  }
}
