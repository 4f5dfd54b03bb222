import { expect, test } from 'vitest';
import type { MetricFamily } from '../../src/observability/instruments.ts';
import { addUp } from '../../src/observability/metrics.ts';

const family = (name: string, type: MetricFamily['type'], values: Record<string, number>): MetricFamily => ({
  ...{ name, type, help: '' },
  samples: Object.entries(values).map(([verb, value]) => ({ name, labels: { verb }, value })),
});

const valuesOf = (families: readonly MetricFamily[]): Record<string, Record<string, number>> =>
  Object.fromEntries(
    families.map(({ name, samples }) => [
      name,
      Object.fromEntries(samples.map(({ labels, value }) => [labels.verb, value])),
    ]),
  );

test('metrics of threads are added up; those of the process count once, and of what is the same everywhere the highest', () => {
  const main = [
    family('requests_total', 'counter', { get: 1 }),
    family('process_cpu_seconds_total', 'counter', { '': 7 }),
    family('kubernetes_build_info', 'gauge', { '': 1 }),
    family('nodejs_eventloop_lag_seconds', 'gauge', { '': 0.1 }),
  ];
  const thread = [
    family('requests_total', 'counter', { get: 2, list: 3 }),
    family('process_cpu_seconds_total', 'counter', { '': 7 }),
    family('kubernetes_build_info', 'gauge', { '': 1 }),
    family('nodejs_eventloop_lag_seconds', 'gauge', { '': 0.3 }),
    family('watches', 'gauge', { '': 4 }),
  ];
  expect(valuesOf(addUp([main, thread, thread]))).toEqual({
    requests_total: { get: 5, list: 6 },
    process_cpu_seconds_total: { '': 7 },
    kubernetes_build_info: { '': 1 },
    nodejs_eventloop_lag_seconds: { '': 0.3 },
    watches: { '': 8 },
  });
});

test('a file that each thread reads again was read once', () => {
  const name = 'apiserver_authorization_config_controller_automatic_reloads_total';
  const ofThread = [family(name, 'counter', { success: 3 })];
  expect(valuesOf(addUp([ofThread, ofThread, [family(name, 'counter', { success: 1 })]]))).toEqual({
    [name]: { success: 3 },
  });
});
