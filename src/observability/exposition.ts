import type { MetricFamily, Sample } from './instruments.ts';

/** Prometheus' text format, version 0.0.4. */
export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export function formatFamilies(families: readonly MetricFamily[]): string {
  const lines: string[] = [];
  for (const { name, help, type, samples } of families) {
    if (samples.length === 0) continue;
    lines.push(
      `# HELP ${name} ${help.replace(/\\/g, '\\\\').replace(/\n/g, '\\n')}`,
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
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value);
}
