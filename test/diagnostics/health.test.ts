import { expect, test } from 'vitest';
import { createHealthPages, type HealthCheck, Startup } from '../../src/diagnostics/health.ts';
import { HealthMetrics } from '../../src/diagnostics/pages.ts';

const EVERYWHERE = ['healthz', 'livez', 'readyz'] as const;

const broken = new Error('the disk is full');
const CHECKS: readonly HealthCheck[] = [
  { name: 'ping', endpoints: EVERYWHERE, check: () => {} },
  { name: 'poststarthook/rbac/roles', endpoints: EVERYWHERE, check: () => Promise.resolve() },
  { name: 'disk', endpoints: ['readyz'], check: () => Promise.reject(broken) },
];

async function ask(path: string, onFailure?: (name: string, error: unknown) => void) {
  const response = await createHealthPages(CHECKS, onFailure).request(path);
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

test('what is well but not as it should be is told to whoever lists the checks', async () => {
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

test('the result of each check is counted under the endpoint that was asked', async () => {
  const metrics = new HealthMetrics();
  const pages = createHealthPages(CHECKS, () => {}, metrics).route('/', metrics.pages());
  const [{ name = '' } = {}] = CHECKS.filter(({ endpoints }) => endpoints.includes('readyz'));
  await pages.request('/readyz');
  await pages.request('/readyz');
  const text = await (await pages.request('/metrics/slis')).text();
  expect(text).toMatch(new RegExp(`^kubernetes_healthcheck\\{name="${name}",type="readyz"\\} [01]$`, 'm'));
  expect(text).toMatch(
    new RegExp(
      `^kubernetes_healthchecks_total\\{name="${name}",status="(success|error)",type="readyz"\\} 2$`,
      'm',
    ),
  );
});
