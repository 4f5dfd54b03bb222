import { type MetricFamily, Numbers } from './instruments.ts';
import { type MetricPolicy, toText } from './metrics.ts';

/**
 * The content of /metrics/slis: results of the health checks at each request for all of them (Kubernetes: component-base,
 * metrics/prometheus/slis). Separate from other metrics, because they are scraped more often.
 */
export class HealthMetrics {
  readonly #policy: MetricPolicy;
  readonly #last = new Numbers('gauge', {
    name: 'kubernetes_healthcheck',
    help: 'This metric records the result of a single healthcheck.',
    labels: ['name', 'type'],
  });
  readonly #all = new Numbers('counter', {
    name: 'kubernetes_healthchecks_total',
    help: 'This metric records the results of all healthcheck.',
    labels: ['name', 'type', 'status'],
  });

  constructor(policy: MetricPolicy) {
    this.#policy = policy;
  }

  /** `endpoint`: the requested page, healthz, livez or readyz. */
  observe(check: string, endpoint: string, isWell: boolean): void {
    this.#last.at(check, endpoint).value = isWell ? 1 : 0;
    this.#all.at(check, endpoint, isWell ? 'success' : 'error').add();
  }

  reset(): void {
    this.#last.clear();
    this.#all.clear();
  }

  /** In Prometheus' text format. */
  text(): string {
    return toText([this.#last.collect(), this.#all.collect(), START_TIME], this.#policy);
  }
}

const START_TIME: MetricFamily = {
  name: 'process_start_time_seconds',
  help: 'Start time of the process since unix epoch in seconds.',
  type: 'gauge',
  samples: [
    {
      name: 'process_start_time_seconds',
      labels: {},
      value: Math.floor((Date.now() - process.uptime() * 1000) / 1000),
    },
  ],
};
