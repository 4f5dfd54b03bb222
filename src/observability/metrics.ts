import { collectDefaultMetrics, Registry } from 'prom-client';
import { goFloat } from '../util/go-float.ts';
import { DEFAULT_MINOR } from '../version.ts';
import { type Instrument, type MetricFamily, Numbers, type Sample } from './instruments.ts';
import { stabilityOf } from './metric-stability.ts';

/** How often the event loop is asked how late it is. Every 10 ms, the default, woke an idle server a hundred times a second. */
const LAG_SAMPLE_MS = 100;
/** prom-client's figures of the loop's delays, which have the interval between samples in them. */
const LAG = /^nodejs_eventloop_lag_(min|max|mean|p\d+)_seconds$/;

/**
 * All metrics of the server. Hot paths use the instruments of instruments.ts; `registry` is for rare counts and for the process
 * metrics of prom-client.
 */
export class Metrics {
  readonly registry = new Registry();
  readonly #policy: MetricPolicy;
  readonly #instruments: Instrument[] = [];

  constructor(policy: MetricPolicy = SHOW_ALL) {
    this.#policy = policy;
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: LAG_SAMPLE_MS });
  }

  add<T extends Instrument>(instrument: T): T {
    this.#instruments.push(instrument);
    return instrument;
  }

  /** In Prometheus' text format, sorted by name. `others`: the families of other threads, which are added up. */
  async text(others: readonly (readonly MetricFamily[])[] = []): Promise<string> {
    const families = addUp([await this.families(), ...others]);
    return toText([...families, ...countsOfOthers(families, this.#policy)], this.#policy);
  }

  async families(): Promise<MetricFamily[]> {
    const own = this.#instruments.map((instrument) => instrument.collect());
    return [...own, ...(await this.#registered())];
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
        value: LAG.test(name) ? Math.max(0, value.value * 1000 - LAG_SAMPLE_MS) / 1000 : value.value,
      })),
    }));
  }
}

/** What says the same in every thread, such as that all read a file again, or of which the worst thread counts. */
const OF_ONE =
  /^(version_info|kubernetes_(build_info|feature_enabled)|apiserver_requested_deprecated_apis|apiserver_.*_config_controller_.*|nodejs_version_info|nodejs_eventloop_lag.*|.*_(timestamp|time)_seconds|.*_key_set_info)$/;

/**
 * Adds up the families of all threads, the first of which is the main one. Those of the process are the main one's alone; of some gauges
 * the highest counts. A summary's quantiles cannot be added: the highest is shown.
 */
export function addUp(threads: readonly (readonly MetricFamily[])[]): readonly MetricFamily[] {
  const [main = [], ...others] = threads;
  if (others.length === 0) return main;
  const sums = new Map(main.map((family) => [family.name, { family, samples: bySeries(family) }]));
  for (const family of others.flat()) {
    if (family.name.startsWith('process_')) continue;
    const sum = sums.get(family.name);
    if (sum === undefined) sums.set(family.name, { family, samples: bySeries(family) });
    else for (const [series, sample] of bySeries(family)) addSample(sum.samples, series, { family, sample });
  }
  return [...sums.values()].map(({ family, samples }) => ({ ...family, samples: [...samples.values()] }));
}

const bySeries = ({ samples }: MetricFamily): Map<string, Sample> =>
  new Map(samples.map((sample) => [`${sample.name} ${JSON.stringify(sample.labels)}`, sample]));

function addSample(
  sums: Map<string, Sample>,
  series: string,
  { family, sample }: { readonly family: MetricFamily; readonly sample: Sample },
): void {
  const known = sums.get(series);
  const isHighest = OF_ONE.test(family.name) || 'quantile' in sample.labels;
  const before = known?.value ?? (isHighest ? Number.NEGATIVE_INFINITY : 0);
  const value = isHighest ? Math.max(before, sample.value) : before + sample.value;
  sums.set(series, { ...sample, value });
}

/** Sorted by name. */
export function toText(families: readonly MetricFamily[], policy: MetricPolicy): string {
  return formatFamilies(
    applyPolicy(
      policy,
      [...families].sort((a, b) => (a.name < b.name ? -1 : 1)),
    ),
    policy.minor ?? DEFAULT_MINOR,
  );
}

function toLabels(labels: Partial<Record<string, string | number>>): Record<string, string | number> {
  const set: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(labels)) if (value !== undefined) set[name] = value;
  return set;
}

const toType = (type: string): MetricFamily['type'] =>
  type === 'counter' || type === 'histogram' || type === 'summary' ? type : 'gauge';

/** The operator's choices about metrics. */
export interface MetricPolicy {
  /** --disabled-metrics, by full name. */
  readonly disabled: ReadonlySet<string>;
  /** --allow-metric-labels: `metric,label` → the values that are shown as they are. */
  readonly allowedValues: ReadonlyMap<string, ReadonlySet<string>>;
  /** --show-hidden-metrics-for-version */
  readonly showHidden: boolean;
  /** The version of Kubernetes that says how stable each is. */
  readonly minor?: number | undefined;
}

const SHOW_ALL: MetricPolicy = { disabled: new Set(), allowedValues: new Map(), showHidden: false };

/** How many metrics are shown and how many are not, by Kubernetes' metrics of these names (component-base, metrics). */
function countsOfOthers(families: readonly MetricFamily[], policy: MetricPolicy): MetricFamily[] {
  const { disabled, showHidden, minor = DEFAULT_MINOR } = policy;
  const enabled = families.filter(({ name }) => !disabled.has(name));
  const hidden = enabled.filter((family) => family.hidden === true);
  return [
    countByStability(showHidden ? enabled : enabled.filter((family) => family.hidden !== true), minor),
    toCounter('disabled_metrics_total', 'Metrics that a flag has switched off.', disabled.size),
    toCounter(
      'hidden_metrics_total',
      'Deprecated metrics that are shown with a flag alone.',
      showHidden ? 0 : hidden.length,
    ),
  ];
}

/** Counts the metrics of Kubernetes; those of the process and of the language are no part of its own count either. */
function countByStability(families: readonly MetricFamily[], minor: number): MetricFamily {
  const numbers = new Numbers('counter', {
    name: 'registered_metrics_total',
    help: 'Metrics of Kubernetes that are shown, by their stability and the version that deprecated them.',
    labels: ['stability_level', 'deprecated_version'],
  });
  for (const { name, deprecated = '' } of families)
    if (!IS_OURS.test(name)) numbers.at(stabilityOf(name, minor), deprecated).add();
  return numbers.collect();
}

const IS_OURS = /^(pg_apiserver|nodejs|process)_/;

const toCounter = (name: string, help: string, value: number): MetricFamily => ({
  ...{ name, help, type: 'counter' },
  samples: [{ name, labels: {}, value }],
});

/** Replaces every other value of a label that has an allow-list. */
const UNEXPECTED = 'unexpected';

/** Applies the policy to the families. Samples that a replaced label makes equal are added up. */
function applyPolicy(policy: MetricPolicy, families: readonly MetricFamily[]): MetricFamily[] {
  const { disabled, showHidden, allowedValues } = policy;
  return families
    .filter(({ name, hidden }) => !disabled.has(name) && (hidden !== true || showHidden))
    .map((family) => (allowedValues.size === 0 ? family : restrictLabels(family, allowedValues)));
}

function restrictLabels(family: MetricFamily, allowed: MetricPolicy['allowedValues']): MetricFamily {
  const labels = [...allowed].filter(([key]) => key.startsWith(`${family.name},`));
  if (labels.length === 0) return family;
  const rules = new Map(labels.map(([key, values]) => [key.slice(family.name.length + 1), values]));
  const merged = new Map<string, { sample: Sample; value: number }>();
  for (const sample of family.samples) {
    const restricted = Object.fromEntries(
      Object.entries(sample.labels).map(([name, value]) => {
        const values = rules.get(name);
        return [name, values === undefined || values.has(String(value)) ? value : UNEXPECTED];
      }),
    );
    const key = `${sample.name} ${JSON.stringify(restricted)}`;
    const known = merged.get(key);
    if (known === undefined)
      merged.set(key, { sample: { ...sample, labels: restricted }, value: sample.value });
    else known.value += sample.value;
  }
  return { ...family, samples: [...merged.values()].map(({ sample, value }) => ({ ...sample, value })) };
}

/** Prometheus' text format, version 0.0.4. */
export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

function formatFamilies(families: readonly MetricFamily[], minor: number): string {
  const lines: string[] = [];
  for (const { name, help, type, samples, deprecated } of families) {
    if (samples.length === 0) continue;
    const since = deprecated === undefined ? '' : `(Deprecated since ${deprecated}) `;
    const promise = IS_OURS.test(name) ? '' : `[${stabilityOf(name, minor)}] `;
    lines.push(
      `# HELP ${name} ${promise}${since}${help.replace(/\\/g, '\\\\').replace(/\n/g, '\\n')}`,
      `# TYPE ${name} ${type}`,
    );
    for (const sample of samples) lines.push(formatSample(sample));
  }
  return `${lines.join('\n')}\n`;
}

function formatSample({ name, labels, value }: Sample): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(String(text))}"`);
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${formatNumber(value)}`;
}

const escapeLabel = (text: string): string =>
  text.replace(/\\/g, '\\\\').replace(/\n/g, '\\n').replace(/"/g, '\\"');

function formatNumber(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : goFloat(value);
}
