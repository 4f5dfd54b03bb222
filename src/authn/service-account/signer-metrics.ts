import { Histogram, type Instrument, Numbers } from '../../observability/instruments.ts';
import { statusOf } from '../../outbound/grpc-status.ts';

const CALL_BOUNDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Metrics of an external signer under Kubernetes' names (serviceaccount/externaljwt/metrics). */
export class SignerMetrics {
  readonly instruments: readonly Instrument[];
  readonly #fetched = new Numbers('gauge', {
    name: 'apiserver_externaljwt_fetch_keys_success_timestamp',
    help: 'When the keys of the external signer were last fetched, in Unix seconds.',
  });
  readonly #data = new Numbers('gauge', {
    name: 'apiserver_externaljwt_fetch_keys_data_timestamp',
    help: 'The time that the external signer gave the keys that were last fetched, in Unix seconds.',
  });
  readonly #fetches = new Numbers('counter', {
    name: 'apiserver_externaljwt_fetch_keys_request_total',
    help: 'Fetches of the keys of the external signer, by the status of gRPC.',
    labels: ['code'],
  });
  readonly #signed = new Numbers('counter', {
    name: 'apiserver_externaljwt_sign_request_total',
    help: 'Tokens that the external signer was to sign, by the status of gRPC.',
    labels: ['code'],
  });
  readonly #calls = new Histogram(
    {
      name: 'apiserver_externaljwt_request_duration_seconds',
      help: 'Durations of calls of the external signer, by the status of gRPC.',
      labels: ['method', 'code'],
    },
    CALL_BOUNDS,
  );

  constructor() {
    this.instruments = [this.#fetched, this.#data, this.#fetches, this.#signed, this.#calls];
  }

  /** `method`: `/v1.ExternalJWTSigner/Sign`. */
  called(method: string, durationMs: number, error: unknown): void {
    this.#calls.at(method, statusOf(error)).observe(durationMs / 1000);
  }

  fetched(dataSeconds: number): void {
    this.#fetches.at(statusOf(undefined)).add();
    this.#fetched.at().value = Date.now() / 1000;
    this.#data.at().value = dataSeconds;
  }

  fetchFailed(error: unknown): void {
    this.#fetches.at(statusOf(error)).add();
  }

  /** `error`: undefined when it did sign. */
  signed(error: unknown): void {
    this.#signed.at(statusOf(error)).add();
  }
}
