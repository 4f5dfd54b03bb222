import type { MetricFamily, Sample } from './instruments.ts';

/** What operators decided about metrics. */
export interface MetricPolicy {
  /** --disabled-metrics, by full name. */
  readonly disabled: ReadonlySet<string>;
  /** --allow-metric-labels: `metric,label` → the values that are shown as they are. */
  readonly allowedValues: ReadonlyMap<string, ReadonlySet<string>>;
  /** --show-hidden-metrics-for-version */
  readonly showHidden: boolean;
}

export const SHOW_ALL: MetricPolicy = { disabled: new Set(), allowedValues: new Map(), showHidden: false };

/** What every other value of a label with an allow-list becomes. */
const UNEXPECTED = 'unexpected';

/** The families as they are shown. Samples that become alike by a replaced label are added up. */
export function applyPolicy(policy: MetricPolicy, families: readonly MetricFamily[]): MetricFamily[] {
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
