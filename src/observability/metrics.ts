import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** Names and labels are those that Kubernetes' dashboards chart. */
export class Metrics {
  readonly registry = new Registry();
  readonly #requests: Counter<'verb' | 'group' | 'version' | 'resource' | 'subresource' | 'code'>;
  readonly #durations: Histogram<'verb' | 'group' | 'version' | 'resource' | 'subresource'>;
  readonly #inflight: Gauge<'request_kind'>;
  /** Looking a label set up costs as much as the observation, so both are kept by a key of our own. */
  readonly #children = new Map<string, { count(): void; observe(seconds: number): void }>();

  constructor() {
    const registers = [this.registry];
    collectDefaultMetrics({ register: this.registry });
    const labels = ['verb', 'group', 'version', 'resource', 'subresource'] as const;
    this.#requests = new Counter({
      name: 'apiserver_request_total',
      help: 'Requests by verb, resource and response code.',
      labelNames: [...labels, 'code'],
      registers,
    });
    this.#durations = new Histogram({
      name: 'apiserver_request_duration_seconds',
      help: 'Time from the arrival of a request to its complete response. Watches are not counted.',
      labelNames: labels,
      buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60],
      registers,
    });
    this.#inflight = new Gauge({
      name: 'apiserver_current_inflight_requests',
      help: 'Requests being served, long-running ones left out.',
      labelNames: ['request_kind'],
      registers,
    });
  }

  started(mutating: boolean): void {
    this.#inflight.inc({ request_kind: mutating ? 'mutating' : 'readOnly' });
  }

  ended(mutating: boolean): void {
    this.#inflight.dec({ request_kind: mutating ? 'mutating' : 'readOnly' });
  }

  request(labels: RequestLabels, code: number, seconds: number | undefined): void {
    const key = `${labels.verb} ${labels.group} ${labels.version} ${labels.resource} ${labels.subresource} ${code}`;
    let child = this.#children.get(key);
    if (child === undefined) {
      const counter = this.#requests.labels({ ...labels, code });
      const histogram = this.#durations.labels({ ...labels });
      child = { count: () => counter.inc(), observe: (value) => histogram.observe(value) };
      this.#children.set(key, child);
    }
    child.count();
    if (seconds !== undefined) child.observe(seconds);
  }
}

export interface RequestLabels {
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
}
