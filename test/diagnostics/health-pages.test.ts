import { expect, test } from 'vitest';
import { createHealthMetricPages } from '../../src/diagnostics/diagnostic-pages.ts';
import { createHealthPages, type HealthCheck, Startup } from '../../src/diagnostics/health-pages.ts';
import { HealthMetrics } from '../../src/observability/health-metrics.ts';

const EVERYWHERE = ['healthz', 'livez', 'readyz'] as const;

const broken = new Error('the disk is full');
const CHECKS: readonly HealthCheck[] = [
  { name: 'ping', endpoints: EVERYWHERE, check: () => {} },
  { name: 'poststarthook/rbac/roles', endpoints: EVERYWHERE, check: () => Promise.resolve() },
  { name: 'disk', endpoints: ['readyz'], check: () => Promise.reject(broken) },
];

async function ask(path: string, onFailure?: (name: string, error: unknown) => void) {
  const response = await createHealthPages(CHECKS, onFailure === undefined ? {} : { onFailure }).request(
    path,
  );
  return { code: response.status, text: await response.text(), headers: response.headers };
}

test('a page lists its checks in order when asked to, and says ok when not', async () => {
  expect(await ask('/livez')).toMatchObject({ code: 200, text: 'ok' });
  expect(await ask('/livez?verbose')).toMatchObject({
    code: 200,
    text: '[+]ping ok\n[+]poststarthook/rbac/roles ok\nlivez check passed\n',
  });
});

test('a page that fails lists its checks unasked, and tells the reason to the log alone', async () => {
  const failures: unknown[] = [];
  const answer = await ask('/readyz', (name, error) => failures.push([name, error]));
  expect(answer).toMatchObject({
    code: 500,
    text: '[+]ping ok\n[+]poststarthook/rbac/roles ok\n[-]disk failed: reason withheld\nreadyz check failed\n',
  });
  expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  expect(failures).toEqual([['disk', broken]]);
});

test('an excluded check does not run, and an unknown exclusion is named', async () => {
  const failures: unknown[] = [];
  const answer = await ask('/readyz?verbose&exclude=disk&exclude=tape&exclude=card', (name) =>
    failures.push(name),
  );
  expect(answer).toMatchObject({
    code: 200,
    text:
      '[+]ping ok\n[+]poststarthook/rbac/roles ok\n[+]disk excluded: ok\n' +
      'warn: some health checks cannot be excluded: no matches for "card","tape"\nreadyz check passed\n',
  });
  expect(failures).toEqual([]);
  expect(await ask('/readyz?exclude=disk')).toMatchObject({ code: 200, text: 'ok' });
});

test('the path of a single check has the reason of its failure', async () => {
  const failures: unknown[] = [];
  expect(await ask('/livez/poststarthook/rbac/roles')).toMatchObject({ code: 200, text: 'ok' });
  expect(await ask('/livez/ping?verbose')).toMatchObject({ code: 200, text: 'ok' });
  expect(await ask('/readyz/disk', (name) => failures.push(name))).toMatchObject({
    code: 500,
    text: 'internal server error: the disk is full\n',
  });
  expect(failures).toEqual(['disk']);
  for (const path of ['/livez/disk', '/livez/poststarthook', '/livez/poststarthook/rbac'])
    expect((await ask(path)).code, path).toBe(404);
});

test('a start that takes long is alive for its grace period, and ready when it is done', () => {
  let now = 0;
  const startup = new Startup([{ name: 'poststarthook/slow', step: 'slow' }], 1000, () => now);
  const of = (endpoint: string) =>
    startup.checks().find(({ endpoints }) => endpoints.some((one) => one === endpoint));
  expect(() => of('livez')?.check()).not.toThrow();
  expect(() => of('readyz')?.check()).toThrow('not finished');
  now = 1000;
  expect(() => of('livez')?.check()).toThrow('not finished');
  startup.finished('slow');
  expect(() => of('livez')?.check()).not.toThrow();
  expect(() => of('readyz')?.check()).not.toThrow();
});

test('the list of checks shows the note of a check that passes', async () => {
  const polled: HealthCheck = {
    name: 'tail',
    endpoints: ['readyz'],
    check: () => {},
    note: () => 'changes are polled',
  };
  const pages = createHealthPages([polled]);
  expect(await (await pages.request('/readyz')).text()).toBe('ok');
  expect(await (await pages.request('/readyz?verbose')).text()).toBe(
    '[+]tail ok: changes are polled\nreadyz check passed\n',
  );
  expect(await (await pages.request('/readyz/tail')).text()).toBe('ok');
});

test('the metrics of health say how each check of an endpoint went, and nothing of those that were excluded', async () => {
  const metrics = new HealthMetrics({ disabled: new Set(), allowedValues: new Map(), showHidden: false });
  const pages = createHealthPages(CHECKS, {
    onResult: (name, endpoint, isWell) => metrics.observe(name, endpoint, isWell),
  }).route('/', createHealthMetricPages(metrics, true));
  await pages.request('/readyz');
  await pages.request('/readyz?exclude=ping');
  await pages.request('/livez/ping');
  const lines = (await (await pages.request('/metrics/slis')).text()).split('\n');
  expect(lines.filter((line) => line.startsWith('kubernetes_'))).toEqual([
    'kubernetes_healthcheck{name="ping",type="readyz"} 1',
    'kubernetes_healthcheck{name="poststarthook/rbac/roles",type="readyz"} 1',
    'kubernetes_healthcheck{name="disk",type="readyz"} 0',
    'kubernetes_healthchecks_total{name="ping",type="readyz",status="success"} 1',
    'kubernetes_healthchecks_total{name="poststarthook/rbac/roles",type="readyz",status="success"} 2',
    'kubernetes_healthchecks_total{name="disk",type="readyz",status="error"} 2',
  ]);
  const reset = await pages.request('/metrics/slis', { method: 'DELETE' });
  expect(await reset.text()).toBe('metrics reset\n');
  expect(await (await pages.request('/metrics/slis')).text()).not.toContain('kubernetes_');
});
