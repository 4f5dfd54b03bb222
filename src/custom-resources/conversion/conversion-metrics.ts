import { exponential, Histogram, Numbers } from '../../observability/instruments.ts';
import type { Metrics } from '../../observability/metrics.ts';

/** Why a call failed; labels of apiextensions-apiserver, apiserver/conversion/metrics.go. */
export type ConversionFailure =
  | 'conversion_webhook_call_failure'
  | 'conversion_webhook_malformed_response_failure'
  | 'conversion_webhook_partial_response_failure'
  | 'conversion_webhook_invalid_converted_object_failure';

interface ConversionNames {
  readonly definition: string;
  readonly fromVersion: string;
  readonly toVersion: string;
}

/** Calls of conversion webhooks, counted and timed. */
export class ConversionMetrics {
  readonly #durations = new Histogram(
    {
      name: 'apiserver_crd_conversion_webhook_duration_seconds',
      help: 'How long conversions of custom resources by webhooks take, in seconds.',
      labels: ['crd_name', 'from_version', 'to_version', 'succeeded'],
    },
    exponential(0.001, 2, 15),
  );
  readonly #requests = new Numbers('counter', {
    name: 'apiserver_conversion_webhook_request_total',
    help: 'Calls of conversion webhooks, by result and cause of failure.',
    labels: ['result', 'failure_type'],
  });
  readonly #latencies = new Histogram(
    {
      name: 'apiserver_conversion_webhook_duration_seconds',
      help: 'How long calls of conversion webhooks take, in seconds.',
      labels: ['result', 'failure_type'],
    },
    [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 45, 60],
  );

  constructor(metrics: Metrics) {
    metrics.add(this.#durations);
    metrics.add(this.#requests);
    metrics.add(this.#latencies);
  }

  /** `failure`: undefined for a success. */
  observe(seconds: number, names: ConversionNames, failure: ConversionFailure | undefined): void {
    const result = failure === undefined ? 'success' : 'failure';
    const { definition, fromVersion, toVersion } = names;
    this.#durations.at(definition, fromVersion, toVersion, String(failure === undefined)).observe(seconds);
    this.#requests.at(result, failure ?? '').add();
    this.#latencies.at(result, failure ?? '').observe(seconds);
  }
}
