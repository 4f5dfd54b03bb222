import { collectDefaultMetrics, Registry } from 'prom-client';
import { formatFamilies } from './exposition.ts';
import type { Instrument, MetricFamily } from './instruments.ts';
import { applyPolicy, type MetricPolicy, SHOW_ALL } from './metric-policy.ts';

/**
 * All metrics of the server. Hot paths add instruments of our own; `registry` is for what is counted rarely and for what
 * prom-client knows of the process.
 */
export class Metrics {
  readonly registry = new Registry();
  readonly #policy: MetricPolicy;
  readonly #instruments: Instrument[] = [];

  constructor(policy: MetricPolicy = SHOW_ALL) {
    this.#policy = policy;
    collectDefaultMetrics({ register: this.registry });
  }

  add<T extends Instrument>(instrument: T): T {
    this.#instruments.push(instrument);
    return instrument;
  }

  /** In Prometheus' text format, sorted by name. */
  async text(): Promise<string> {
    const own = this.#instruments.map((instrument) => instrument.collect());
    const families = [...own, ...(await this.#registered())];
    families.sort((a, b) => (a.name < b.name ? -1 : 1));
    return formatFamilies(applyPolicy(this.#policy, families));
  }

  async #registered(): Promise<MetricFamily[]> {
    const metrics = await this.registry.getMetricsAsJSON();
    return metrics.map(({ name, help, type, values }) => ({
      name,
      help,
      type: toType(String(type)),
      samples: values.map((value) => ({
        name: 'metricName' in value && typeof value.metricName === 'string' ? value.metricName : name,
        labels: toLabels(value.labels),
        value: value.value,
      })),
    }));
  }
}

function toLabels(labels: Partial<Record<string, string | number>>): Record<string, string | number> {
  const set: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(labels)) if (value !== undefined) set[name] = value;
  return set;
}

const toType = (type: string): MetricFamily['type'] =>
  type === 'counter' || type === 'histogram' || type === 'summary' ? type : 'gauge';
