import perfHooks from 'node:perf_hooks';
import { Counter } from 'prom-client';
import { expect, test, vi } from 'vitest';
import { exponential, Histogram, Numbers } from '../../src/observability/instruments.ts';
import { Metrics } from '../../src/observability/metrics.ts';
import { Peak, RequestMetrics } from '../../src/observability/request-metrics.ts';

const policy = { disabled: new Set<string>(), allowedValues: new Map(), showHidden: false };

test('a histogram’s buckets are cumulative, and its labels cannot break a line', async () => {
  const metrics = new Metrics();
  const sizes = metrics.add(
    new Histogram({ name: 'sizes', help: 'a\nb', labels: ['kind'] }, exponential(1, 10, 3)),
  );
  const child = sizes.at('a"\n\\b');
  for (const value of [1, 2, 50, 5000]) child.observe(value);
  const text = (await metrics.text()).split('\n').filter((line) => line.includes('sizes'));
  expect(text).toEqual([
    '# HELP sizes [ALPHA] a\\nb',
    '# TYPE sizes histogram',
    'sizes_bucket{kind="a\\"\\n\\\\b",le="1"} 1',
    'sizes_bucket{kind="a\\"\\n\\\\b",le="10"} 2',
    'sizes_bucket{kind="a\\"\\n\\\\b",le="100"} 3',
    'sizes_bucket{kind="a\\"\\n\\\\b",le="+Inf"} 4',
    'sizes_sum{kind="a\\"\\n\\\\b"} 5053',
    'sizes_count{kind="a\\"\\n\\\\b"} 4',
  ]);
});

test('numbers are written as Go writes them, in values and in bounds of buckets', async () => {
  const metrics = new Metrics();
  const sizes = metrics.add(new Histogram({ name: 'sizes', help: '' }, [0.00001, 100_000, 1_000_000]));
  sizes.at().observe(1_234_567.5);
  const text = await metrics.text();
  for (const line of ['_bucket{le="1e-05"} 0', '_bucket{le="100000"} 0', '_bucket{le="1e+06"} 0'])
    expect(text).toContain(`sizes${line}\n`);
  expect(text).toContain('sizes_sum 1.2345675e+06\n');
});

test.each([
  ['apiserver_request_total', 31, '[STABLE] x'],
  ['workqueue_depth', 35, '[ALPHA] x'],
  ['workqueue_depth', 36, '[BETA] x'],
  ['apiserver_authorization_config_controller_automatic_reloads_total', 33, '[ALPHA] x'],
  ['apiserver_authorization_config_controller_automatic_reloads_total', 34, '[BETA] x'],
  // Kubernetes makes no promise about these.
  ['pg_apiserver_commits', 36, 'x'],
] as const)('the help of %s says in 1.%s how stable it is', async (name, minor, help) => {
  const metrics = new Metrics({ ...policy, minor });
  metrics.add(new Numbers('counter', { name, help: 'x' })).at();
  expect(await metrics.text()).toContain(`# HELP ${name} ${help}\n`);
});

test('the help of a deprecated metric says since when', async () => {
  const metrics = new Metrics();
  metrics.add(new Numbers('counter', { name: 'old', help: 'x', deprecated: '1.30.0' })).at();
  expect(await metrics.text()).toContain('# HELP old [ALPHA] (Deprecated since 1.30.0) x\n');
});

test('values outside of an allow-list become one, and are added up', async () => {
  const allowedValues = new Map([['asked,verb', new Set(['GET'])]]);
  const metrics = new Metrics({ ...policy, allowedValues });
  const asked = metrics.add(new Numbers('counter', { name: 'asked', help: '', labels: ['verb'] }));
  asked.at('GET').add(2);
  asked.at('EVIL').add(3);
  asked.at('WORSE').add(4);
  const text = await metrics.text();
  expect(text).toContain('asked{verb="GET"} 2\nasked{verb="unexpected"} 7\n');
});

test('disabled metrics are gone, even if hidden ones are shown', async () => {
  const metrics = new Metrics({ ...policy, disabled: new Set(['one', 'hidden']), showHidden: true });
  metrics
    .add(new Numbers('counter', { name: 'one', help: '' }))
    .at()
    .add();
  metrics
    .add(new Numbers('counter', { name: 'hidden', help: '', hidden: true }))
    .at()
    .add();
  metrics
    .add(new Numbers('counter', { name: 'shown', help: '', hidden: true }))
    .at()
    .add();
  new Counter({ name: 'library', help: 'x', registers: [metrics.registry] }).inc(3);
  const text = await metrics.text();
  expect(text).not.toMatch(/^(one|hidden) /m);
  expect(text).toMatch(/^shown 1$/m);
  expect(text).toMatch(/^library 3$/m);
});

test('a deprecated metric is hidden until it is asked for', async () => {
  const kind = {
    verb: 'GET',
    group: '',
    version: 'v1',
    resource: 'pods',
    subresource: '',
    scope: 'resource',
    dryRun: '',
  };
  for (const showHidden of [false, true]) {
    const metrics = new Metrics({ ...policy, showHidden });
    new RequestMetrics(metrics).answered(kind, 200, { seconds: 0.1, sizeBytes: 10, waitedMs: 0 });
    expect((await metrics.text()).includes('apiserver_request_slo_duration_seconds_count')).toBe(showHidden);
  }
});

test('what a request waited for others is not in the time that the server answers for', async () => {
  const metrics = new Metrics();
  const pods = {
    verb: 'POST',
    group: '',
    version: 'v1',
    resource: 'pods',
    subresource: '',
    scope: 'resource',
  };
  const answered = { seconds: 2, sizeBytes: 10, waitedMs: 1500 };
  new RequestMetrics(metrics).answered({ ...pods, dryRun: '' }, 201, answered);
  const text = await metrics.text();
  expect(text).toMatch(/^apiserver_request_duration_seconds_sum\{.*\} 2$/m);
  expect(text).toMatch(/^apiserver_request_sli_duration_seconds_sum\{.*\} 0.5$/m);
});

test('a burst between two scrapes is seen', () => {
  const peak = new Peak();
  for (let n = 0; n < 5; n += 1) peak.begin();
  for (let n = 0; n < 5; n += 1) peak.end();
  expect(peak.highest()).toBe(5);
});

test('the event loop is sampled ten times a second, and its lag has nothing of the interval in it', async () => {
  const sampled = vi.spyOn(perfHooks, 'monitorEventLoopDelay');
  const metrics = new Metrics();
  expect(sampled).toHaveBeenCalledExactlyOnceWith({ resolution: 100 });
  const delays = sampled.mock.results[0]?.value;
  sampled.mockRestore();
  vi.spyOn(delays, 'percentile').mockReturnValue(130e6);
  expect(await metrics.text()).toContain('\nnodejs_eventloop_lag_p99_seconds 0.03\n');
});

test('metrics that are not shown are counted', async () => {
  const countsWith = async (chosen: Partial<typeof policy>): Promise<string[]> => {
    const metrics = new Metrics({ ...policy, ...chosen });
    for (const name of ['old', 'older'])
      metrics.add(new Numbers('counter', { name, help: '', hidden: true })).at();
    return (await metrics.text()).split('\n').filter((line) => /^(disabled|hidden)_metrics/.test(line));
  };
  expect(await countsWith({})).toEqual(['disabled_metrics_total 0', 'hidden_metrics_total 2']);
  expect(await countsWith({ disabled: new Set(['old', 'b']) })).toEqual([
    'disabled_metrics_total 2',
    'hidden_metrics_total 1',
  ]);
  expect((await countsWith({ showHidden: true }))[1]).toBe('hidden_metrics_total 0');
});

test('metrics of Kubernetes that are shown are counted by their stability, those of this server are not', async () => {
  const countsWith = async (chosen: Partial<typeof policy>): Promise<string[]> => {
    const metrics = new Metrics({ ...policy, ...chosen });
    const add = (name: string, more: { hidden?: boolean; deprecated?: string } = {}): void => {
      metrics.add(new Numbers('counter', { name, help: '', ...more })).at();
    };
    for (const name of ['apiserver_request_total', 'apiserver_longrunning_requests', 'some_total']) add(name);
    add('apiserver_flowcontrol_rejected_requests_total');
    add('apiserver_storage_objects', { deprecated: '1.34.0' });
    add('old_seconds', { hidden: true, deprecated: '1.27.0' });
    add('pg_apiserver_commit_queue');
    const lines = (await metrics.text()).split('\n');
    return lines
      .filter((line) => line.startsWith('registered_'))
      .map((line) => line.replace('registered_metrics_total{stability_level=', ''));
  };
  const shown = ['"STABLE",deprecated_version=""} 2', '"ALPHA",deprecated_version=""} 1'];
  const kept = ['"BETA",deprecated_version=""} 1', '"STABLE",deprecated_version="1.34.0"} 1'];
  expect(await countsWith({})).toEqual([...shown, ...kept]);
  expect(await countsWith({ showHidden: true })).toEqual([
    ...[...shown, ...kept, '"ALPHA",deprecated_version="1.27.0"} 1'],
  ]);
  const disabled = new Set(['apiserver_request_total']);
  expect((await countsWith({ disabled }))[0]).toBe('"STABLE",deprecated_version=""} 1');
});

test('events of watches go by the kind until 1.33 and by the resource since', async () => {
  const kind = { verb: 'WATCH', group: 'apps', version: 'v1', resource: 'deployments', subresource: '' };
  for (const [minor, label] of [
    [33, 'kind="Deployment"'],
    [34, 'resource="deployments"'],
  ] as const) {
    const metrics = new Metrics();
    const { total } = new RequestMetrics(metrics, minor).watchEvents(
      { ...kind, scope: 'cluster', dryRun: '' },
      'Deployment',
    );
    total.add();
    expect(await metrics.text()).toContain(
      `apiserver_watch_events_total{group="apps",version="v1",${label}} 1`,
    );
  }
});
