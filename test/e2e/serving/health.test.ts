// @module-tag long
import { expect, test } from 'vitest';
import { startCluster } from '../../kit/cluster.ts';
import { eventually } from '../../kit/connections.ts';
import { startPrivatePostgres } from '../../postgres.ts';

/** What kube-apiserver 1.31 lists at /healthz?verbose with its default flags, in its order. */
const KUBERNETES = [
  'ping',
  'log',
  'etcd',
  'poststarthook/start-apiserver-admission-initializer',
  'poststarthook/generic-apiserver-start-informers',
  'poststarthook/priority-and-fairness-config-consumer',
  'poststarthook/priority-and-fairness-filter',
  'poststarthook/storage-object-count-tracker-hook',
  'poststarthook/start-apiextensions-informers',
  'poststarthook/start-apiextensions-controllers',
  'poststarthook/crd-informer-synced',
  'poststarthook/start-system-namespaces-controller',
  'poststarthook/start-cluster-authentication-info-controller',
  'poststarthook/start-kube-apiserver-identity-lease-controller',
  'poststarthook/start-kube-apiserver-identity-lease-garbage-collector',
  'poststarthook/start-legacy-token-tracking-controller',
  'poststarthook/start-service-ip-repair-controllers',
  'poststarthook/rbac/bootstrap-roles',
  'poststarthook/scheduling/bootstrap-system-priority-classes',
  'poststarthook/priority-and-fairness-config-producer',
  'poststarthook/bootstrap-controller',
  'poststarthook/start-kube-aggregator-informers',
  'poststarthook/apiservice-status-local-available-controller',
  'poststarthook/apiservice-status-remote-available-controller',
  'poststarthook/apiservice-registration-controller',
  'poststarthook/apiservice-discovery-controller',
  'poststarthook/kube-apiserver-autoregistration',
  'autoregister-completion',
  'poststarthook/apiservice-openapi-controller',
  'poststarthook/apiservice-openapiv3-controller',
];

/** What upstream's end-to-end test of health handlers of earlier versions asks for beside these. */
const EARLIER = [
  'poststarthook/start-kube-apiserver-admission-initializer',
  'poststarthook/apiservice-status-available-controller',
];

const READYZ = KUBERNETES.toSpliced(3, 0, 'etcd-readiness', 'informer-sync');

test('every check that Kubernetes names is listed, can be left out, and can be read by itself', async () => {
  await using postgres = await startPrivatePostgres();
  await using cluster = await startCluster(postgres.url);
  const ask = (path: string) => cluster.request('GET', path);
  for (const [endpoint, names] of [
    ['healthz', KUBERNETES],
    ['livez', KUBERNETES],
    ['readyz', READYZ],
  ] as const) {
    const { code, text } = await ask(`/${endpoint}?verbose`);
    expect(code).toBe(200);
    const listed = [...text.matchAll(/^\[\+\](.*) ok$/gm)].map(([, name]) => name);
    expect(listed.slice(0, names.length)).toEqual(names);
    expect(listed).toEqual(expect.arrayContaining(EARLIER));
    expect(text.endsWith(`\n${endpoint} check passed\n`)).toBe(true);
    const all = listed.map((name) => `exclude=${name}`).join('&');
    const excluded = await ask(`/${endpoint}?verbose&${all}`);
    expect(excluded.text).toBe(
      `${listed.map((name) => `[+]${name} excluded: ok\n`).join('')}${endpoint} check passed\n`,
    );
    for (const name of listed) {
      const alone = await ask(`/${endpoint}/${name}`);
      expect([name, alone.code, alone.text]).toEqual([name, 200, 'ok']);
    }
  }
  expect((await ask('/readyz?verbose')).text).toContain('[+]shutdown ok\nreadyz check passed\n');
});

test('without its database a server says so under both names, and without the address', async () => {
  await using postgres = await startPrivatePostgres();
  await using cluster = await startCluster(postgres.url, ['-v=1']);
  const ask = (path: string) => cluster.request('GET', path);
  await postgres.stop();
  await eventually(async () => expect((await ask('/livez')).code).toBe(500));
  const { text } = await ask('/readyz');
  for (const name of ['etcd', 'etcd-readiness', 'postgres-readiness'])
    expect(text).toContain(`[-]${name} failed: reason withheld\n`);
  expect(text).toContain('[+]ping ok\n');
  expect(text).toContain('[+]poststarthook/rbac/bootstrap-roles ok\n');
  expect((await ask('/livez?exclude=etcd&exclude=postgres')).text).toBe('ok');
  expect(await ask('/livez/etcd')).toMatchObject({
    code: 500,
    text: 'internal server error: PostgreSQL does not answer\n',
  });
  await eventually(() => expect(cluster.output.stderr).toContain('default/kubernetes wait for the database'));
  await postgres.start();
  await eventually(async () => expect((await ask('/readyz')).text).toBe('ok'));
  expect(cluster.output.stderr).not.toContain('kubernetes service controller');
});

test('where requests do not take turns by priority, the check of the plain limits takes the place of its checks', async () => {
  await using postgres = await startPrivatePostgres();
  await using cluster = await startCluster(postgres.url, ['--enable-priority-and-fairness=false']);
  const { text } = await cluster.request('GET', '/readyz?verbose');
  expect(text).toContain('[+]poststarthook/max-in-flight-filter ok\n');
  expect(text).not.toContain('priority-and-fairness');
});
