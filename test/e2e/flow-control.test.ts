// @module-tag long
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Caller, type CallerAnswer } from '../kit/caller.ts';
import { type Cluster, startCluster } from '../kit/cluster.ts';
import { holdWrites } from '../kit/held-writes.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

let database: TestDatabase;
let cluster: Cluster;
const tokens = join(tmpdir(), `flow-control-${process.pid}.csv`);

beforeAll(async () => {
  writeFileSync(tokens, 'n,noisy,1,tenants\nq,quiet,2,tenants\n');
  database = await createTestDatabase();
  const limits = ['--max-requests-inflight=6', '--max-mutating-requests-inflight=4'];
  cluster = await startCluster(database.url, [`--token-auth-file=${tokens}`, ...limits]);
  await kubectl('apply -f -', TENANTS);
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await database.drop();
});

async function kubectl(args: string, input?: string): Promise<string> {
  const result = await cluster.kubectl(args, input);
  expect(result, `kubectl ${args}`).toMatchObject({ code: 0 });
  return result.stdout;
}

/** Of 10 seats it has 2, and it neither lends nor borrows. The hands of the two users have no queue in common. */
const TENANTS = `
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: PriorityLevelConfiguration
metadata: {name: tenants}
spec:
  type: Limited
  limited:
    nominalConcurrencyShares: 30
    lendablePercent: 0
    borrowingLimitPercent: 0
    limitResponse: {type: Queue, queuing: {queues: 16, handSize: 2, queueLengthLimit: 5}}
---
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: FlowSchema
metadata: {name: tenants}
spec:
  matchingPrecedence: 1000
  priorityLevelConfiguration: {name: tenants}
  distinguisherMethod: {type: ByUser}
  rules:
  - subjects: [{kind: Group, group: {name: tenants}}]
    resourceRules: [{verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'], clusterScope: true}]
`;
const SEATS = 2;
const QUEUED = 10;

/** What follows a write or an answer soon, on a machine that has other things to do as well. */
const eventually = <T>(read: () => T) => expect.poll(read);

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const SCHEMA_UID = 'x-kubernetes-pf-flowschema-uid';
const LEVEL_UID = 'x-kubernetes-pf-prioritylevel-uid';
const uidOf = (kind: string, name: string): Promise<string> =>
  kubectl(`get ${kind} ${name} -o jsonpath={.metadata.uid}`);

/** Rows of a dump, by the names of its columns. */
async function dump(name: string): Promise<Record<string, string>[]> {
  const { code, text } = await cluster.request('GET', `/debug/api_priority_and_fairness/${name}`);
  expect(code).toBe(200);
  const [head = [], ...rows] = text
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/,\s*/));
  return rows.map((row) => Object.fromEntries(head.map((column, at) => [column, row[at] ?? ''])));
}

async function tenants(): Promise<{ waiting: number; executing: number }> {
  const row = (await dump('dump_priority_levels')).find(
    ({ PriorityLevelName }) => PriorityLevelName === 'tenants',
  );
  return { waiting: Number(row?.WaitingRequests), executing: Number(row?.ExecutingRequests) };
}

test('a fresh cluster has its flow schemas and priority levels, and says that none of them dangles', async () => {
  const table = await kubectl('get flowschemas --no-headers');
  const precedences = [...table.matchAll(/^\S+ +\S+ +(\d+) /gm)].map(([, text]) => Number(text));
  expect(precedences.length).toBeGreaterThan(10);
  expect(precedences).toEqual(precedences.toSorted((one, other) => one - other));
  const schemas = await kubectl('get flowschemas -o name');
  expect(schemas.split('\n').filter((name) => name !== '')).toHaveLength(14);
  const levels = await kubectl('get prioritylevelconfigurations -o jsonpath={.items[*].metadata.name}');
  expect(levels.split(' ')).toEqual([
    ...['catch-all', 'exempt', 'global-default', 'leader-election', 'node-high', 'system', 'tenants'],
    ...['workload-high', 'workload-low'],
  ]);
  const conditions =
    'get flowschemas -o jsonpath={.items[*].status.conditions[?(@.type=="Dangling")].status}';
  await eventually(() => kubectl(conditions)).toBe(Array(14).fill('False').join(' '));
});

test('every answer tells by which schema and level it was counted, errors too', async () => {
  using quiet = new Caller(cluster, 'q');
  const uids = {
    [SCHEMA_UID]: await uidOf('flowschema', 'tenants'),
    [LEVEL_UID]: await uidOf('prioritylevelconfiguration', 'tenants'),
  };
  expect(await quiet.send('GET', CONFIG_MAPS)).toMatchObject({ code: 200, headers: uids });
  expect(await quiet.send('GET', `${CONFIG_MAPS}/absent`)).toMatchObject({ code: 404, headers: uids });
  expect((await quiet.send('GET', '/version')).headers[SCHEMA_UID]).toBe(
    await uidOf('flowschema', 'global-default'),
  );
  const admin = await cluster.request('GET', CONFIG_MAPS);
  expect(admin.headers[SCHEMA_UID]).toBe(await uidOf('flowschema', 'exempt'));
});

test('a noisy client fills its own queues and is refused, while a quiet one waits its turn and an administrator not at all', async () => {
  using noisy = new Caller(cluster, 'n');
  using quiet = new Caller(cluster, 'q');
  const held = await holdWrites(database.url);
  const order: string[] = [];
  const note = (who: string) => (answer: CallerAnswer) => {
    order.push(`${who} ${answer.code}`);
    return answer;
  };
  const all = Array.from({ length: 40 }, (_, n) =>
    noisy.send('POST', CONFIG_MAPS, { metadata: { name: `noisy-${n}` } }).then(note('noisy')),
  );
  await eventually(tenants).toEqual({ executing: SEATS, waiting: QUEUED });
  await eventually(() => order).toHaveLength(40 - SEATS - QUEUED);
  expect(new Set(order)).toEqual(new Set(['noisy 429']));
  const refused = await Promise.race(all);
  expect(refused).toMatchObject({
    text: 'Too many requests, please try again later.\n',
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      [SCHEMA_UID]: await uidOf('flowschema', 'tenants'),
    },
  });
  expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);

  const small = quiet.send('GET', `${CONFIG_MAPS}?resourceVersion=0`).then(note('quiet'));
  await eventually(tenants).toEqual({ executing: SEATS, waiting: QUEUED + 1 });
  const waiting = (await dump('dump_requests')).filter(
    ({ RequestIndexInQueue }) => RequestIndexInQueue !== '-1',
  );
  const queuesOf = (user: string): Set<string | undefined> =>
    new Set(
      waiting.filter(({ FlowDistingsher }) => FlowDistingsher === user).map(({ QueueIndex }) => QueueIndex),
    );
  expect([queuesOf('noisy').size, queuesOf('quiet').size]).toEqual([2, 1]);
  expect(new Set([...queuesOf('noisy'), ...queuesOf('quiet')]).size).toBe(3);
  expect((await cluster.request('GET', CONFIG_MAPS)).code).toBe(200);

  await held.release();
  await Promise.all([...all, small]);
  const served = order.filter((entry) => !entry.endsWith('429'));
  expect(served).toHaveLength(SEATS + QUEUED + 1);
  // Before it went those that ran already, and at most one more of each of the two noisy queues for each seat.
  expect(served.indexOf('quiet 200')).toBeLessThan(SEATS + 5);
  await eventually(tenants).toEqual({ executing: 0, waiting: 0 });
  const { text } = await cluster.request('GET', '/metrics');
  const labels = '{priority_level="tenants",flow_schema="tenants",reason="queue-full"}';
  expect(text).toContain(`apiserver_flowcontrol_rejected_requests_total${labels} ${40 - SEATS - QUEUED}`);
});

test('a watch takes no seat once it has begun', async () => {
  using quiet = new Caller(cluster, 'q');
  const watches = await Promise.all(
    Array.from({ length: 8 }, (_, n) =>
      quiet.watch(`${CONFIG_MAPS}?watch=1${n % 2 === 0 ? '' : '&resourceVersion=0'}`),
    ),
  );
  expect(watches.map(({ code }) => code)).toEqual(Array(8).fill(200));
  await eventually(tenants).toEqual({ executing: 0, waiting: 0 });
  expect((await quiet.send('GET', CONFIG_MAPS)).code).toBe(200);
  for (const watch of watches) watch.stop();
});

test('watches whose clients read nothing keep the other users of their level waiting for a moment alone', async () => {
  using noisy = new Caller(cluster, 'n');
  using quiet = new Caller(cluster, 'q');
  // More than a connection takes before the server waits for its client.
  for (const name of ['wide-1', 'wide-2', 'wide-3'])
    await cluster.request('POST', CONFIG_MAPS, { metadata: { name }, data: { k: 'x'.repeat(200_000) } });
  const begun = Array.from({ length: 2 * SEATS }, () =>
    noisy.watch(`${CONFIG_MAPS}?watch=1&resourceVersion=0`, { reads: false }),
  );
  expect((await quiet.send('GET', `${CONFIG_MAPS}/wide-1`)).code).toBe(200);
  const watches = await Promise.all(begun);
  expect(watches.map(({ code }) => code)).toEqual(Array(2 * SEATS).fill(200));
  await eventually(tenants).toEqual({ executing: 0, waiting: 0 });
  for (const watch of watches) watch.stop();
});

test('schemas changed with kubectl decide on the next requests', async () => {
  using quiet = new Caller(cluster, 'q');
  const schema = async (): Promise<unknown> => (await quiet.send('GET', CONFIG_MAPS)).headers[SCHEMA_UID];
  const patch = (precedence: number): string => `{"spec":{"matchingPrecedence":${precedence}}}`;
  const [mine, general] = [await uidOf('flowschema', 'tenants'), await uidOf('flowschema', 'global-default')];
  await kubectl(`patch flowschema tenants --type=merge -p '${patch(9950)}'`);
  await eventually(schema).toBe(general);
  await kubectl(`patch flowschema tenants --type=merge -p '${patch(1000)}'`);
  await eventually(schema).toBe(mine);
});

test('a schema whose level does not exist says so and is not used, until the level exists', async () => {
  using quiet = new Caller(cluster, 'q');
  const lost = TENANTS.split('---')[1]?.replaceAll('tenants}', 'lost}').replace('1000', '900') ?? '';
  await kubectl('apply -f -', lost.replace('group: {name: lost}', 'group: {name: tenants}'));
  const dangling = () => kubectl('get flowschema lost -o jsonpath={.status.conditions[0].status}');
  await eventually(dangling).toBe('True');
  expect((await quiet.send('GET', CONFIG_MAPS)).headers[SCHEMA_UID]).toBe(
    await uidOf('flowschema', 'tenants'),
  );
  await kubectl('apply -f -', TENANTS.split('---')[0]?.replace('name: tenants', 'name: lost'));
  await eventually(dangling).toBe('False');
  const lostUid = await uidOf('flowschema', 'lost');
  await eventually(async () => (await quiet.send('GET', CONFIG_MAPS)).headers[SCHEMA_UID]).toBe(lostUid);
  await kubectl('delete flowschema/lost prioritylevelconfiguration/lost');
});

test('what the server ships is restored at its start, but not what the operator has taken over', async () => {
  const shares = (level: string) =>
    kubectl(`get prioritylevelconfiguration ${level} -o jsonpath={.spec.limited.nominalConcurrencyShares}`);
  const change = '{"spec":{"limited":{"nominalConcurrencyShares":77}}}';
  for (const level of ['system', 'node-high'])
    await kubectl(`patch prioritylevelconfiguration ${level} --type=merge -p '${change}'`);
  await kubectl(
    'annotate --overwrite prioritylevelconfiguration system apf.kubernetes.io/autoupdate-spec=false',
  );
  await kubectl('delete flowschema probes');
  await cluster.stop();
  await cluster.start();
  expect([await shares('system'), await shares('node-high')]).toEqual(['77', '40']);
  expect(await kubectl('get flowschema probes -o name')).toContain('probes');
});
