// @module-tag long
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { freePort } from '../../src/cli/embedded/embedded-postgres.ts';
import { type Cluster, startCluster } from '../kit/cluster.ts';
import { holdWrites } from '../kit/held-writes.ts';
import { PATIENCE } from '../kit/patience.ts';
import { firingAlerts, hasPromtool } from '../kit/promtool.ts';
import { TestRoles } from '../kit/roles.ts';
import { startWebhook } from '../kit/webhook-server.ts';
import { createTestDatabase, startPrivatePostgres, type TestDatabase } from '../postgres.ts';
import { beginPartition, openLog, write } from '../storage/postgres/kit.ts';
import { connect, type Session } from '../storage/postgres/stalls.ts';

/** `alerts` and `dashboard` against what a server shows that meets real faults. */
const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

const pg = (...args: string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    execFile(process.execPath, [MAIN, ...args], { maxBuffer: 2 ** 24 }, (error, stdout) =>
      error === null ? resolve(stdout) : reject(error),
    );
  });

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  readonly isCounter: boolean;
}

function parseScrape(text: string): Sample[] {
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type]));
  const isCounter = (name: string): boolean =>
    ['counter', 'histogram'].includes(
      types.get(name) ?? types.get(name.replace(/_(bucket|sum|count)$/, '')) ?? '',
    );
  return [...text.matchAll(/^([a-z_]+)(?:\{(.*)\})? (\S+)$/gm)].map(([, name = '', labels = '', value]) => ({
    name,
    labels: Object.fromEntries(
      [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = '', text = '']) => [key, text]),
    ),
    value: Number(value),
    isCounter: isCounter(name),
  }));
}

let database: TestDatabase;
let roles: TestRoles;
let cluster: Cluster;
let folder: string;
let webhook: Awaited<ReturnType<typeof startWebhook>>;
let holder: Session;
let before: Sample[];
/** While hundreds of writes wait. */
let crowded: Sample[];
let after: Sample[];

const scrape = async (of: Cluster = cluster): Promise<Sample[]> =>
  parseScrape((await of.request('GET', '/metrics')).text);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-operating-'));
  database = await createTestDatabase();
  roles = new TestRoles(database);
  // Of a role that may not replicate, so that it polls.
  const url = await roles.make('server');
  await database.query(`SELECT grant_server('${roles.nameOf('server')}')`);
  webhook = await startWebhook();
  webhook.respond = () => {};
  writeFileSync(
    join(folder, 'policy.yaml'),
    'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]',
  );
  holder = await connect(`${url}?application_name=forgotten`);
  const away = new URL(url);
  away.port = `${await freePort()}`;
  cluster = await startCluster(url, [
    '--authorization-mode=RBAC',
    `--kvstore-read-servers=${away.href}`,
    `--audit-policy-file=${join(folder, 'policy.yaml')}`,
    `--audit-webhook-config-file=${webhook.kubeconfig()}`,
    '--audit-webhook-batch-buffer-size=20',
    '--audit-webhook-batch-max-size=1',
    '--kvstore-compaction-interval=500ms',
    '--kvstore-count-metric-poll-period=200ms',
    '--kvstore-db-metric-poll-interval=200ms',
  ]);
  const named = { group: 'flowcontrol.apiserver.k8s.io', version: 'v1', name: 'none' };
  const path = `/apis/${named.group}/${named.version}`;
  const metadata = { name: named.name };
  await made(`${path}/prioritylevelconfigurations`, {
    metadata,
    spec: {
      type: 'Limited',
      limited: { nominalConcurrencyShares: 0, borrowingLimitPercent: 0, limitResponse: { type: 'Reject' } },
    },
  });
  const everything = { verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'] };
  await made(`${path}/flowschemas`, {
    metadata,
    spec: {
      priorityLevelConfiguration: { name: named.name },
      matchingPrecedence: 10,
      rules: [{ subjects: [{ kind: 'User', user: { name: 'noisy' } }], resourceRules: [everything] }],
    },
  });
  const binding = await cluster.kubectl(
    'create clusterrolebinding noisy --clusterrole=cluster-admin --user=noisy',
  );
  expect(binding).toMatchObject({ code: 0 });
  await cluster.request('GET', CONFIG_MAPS);
  before = await scrape();
  await raiseFaults();
  await holder.query('BEGIN');
  // Its lock keeps the partition that should go now.
  await holder.query('SELECT FROM revisions LIMIT 1');
  await beginPartition(database);
  // The window begins at a row of the next partition, and a newer one.
  for (const name of ['begins', 'newest']) await made(CONFIG_MAPS, { metadata: { name } });
  await database.query(
    "UPDATE revisions SET committed_at = committed_at - interval '2 days' WHERE revision < (SELECT max(revision) FROM revisions)",
  );
  // After the new epoch, which ends watches.
  const watch = cluster.watch(`${CONFIG_MAPS}?watch=true`);
  await vi.waitFor(async () => {
    after = await scrape();
    expect(AWAITED.filter((name) => after.every((sample) => sample.name !== name))).toEqual([]);
    expect(oldestTransaction()?.labels.application).toBe('forgotten');
    expect(valueIn(after, 'pg_apiserver_history_partitions_behind')).toBeGreaterThan(0);
  }, PATIENCE);
  watch.stop();
});

/** What a poll, a compaction or a watch shows. */
const AWAITED = [
  ...['apiserver_storage_objects', 'apiserver_storage_size_bytes'],
  ...['pg_apiserver_slot_wal_bytes', 'pg_apiserver_watchers'],
];

async function made(path: string, body: object): Promise<void> {
  const { code, text } = await cluster.request('POST', path, body);
  expect(code, text).toBe(201);
}

async function raiseFaults(): Promise<void> {
  const held = await holdWrites(database.url);
  const create = (name: string, headers: Record<string, string> = {}) =>
    cluster.request('POST', `${CONFIG_MAPS}?timeout=2s`, { metadata: { name } }, headers);
  const late = Array.from({ length: 20 }, (_, n) => create(`late-${n}`));
  // A level without seats has one request at a time.
  const noisy = Array.from({ length: 5 }, (_, n) => create(`noisy-${n}`, { 'impersonate-user': 'noisy' }));
  expect(new Set((await Promise.all(late)).map(({ code }) => code))).toEqual(new Set([504]));
  expect((await Promise.all(noisy)).map(({ code }) => code)).toContain(429);
  // The server refuses a write that has waited for some seconds: sent again, it waits with the others.
  let waits = true;
  const many = Array.from({ length: 250 }, async (_, n) => {
    while (waits) await cluster.request('POST', CONFIG_MAPS, { metadata: { name: `many-${n}` } });
  });
  await vi
    .waitFor(async () => {
      crowded = await scrape();
      expect(valueIn(crowded, 'pg_apiserver_commit_queue')).toBeGreaterThan(100);
    }, PATIENCE)
    .finally(() => {
      waits = false;
    });
  await held.release();
  await Promise.all(many);
  // Beyond the batches under way, these fill the buffer of the audit webhook.
  for (let n = 0; n < 60; n += 1) await cluster.request('GET', `${CONFIG_MAPS}/kube-root-ca.crt`);
  await pg('begin-epoch', 'a fault', `--kvstore-servers=${database.url}`);
  await vi.waitFor(async () => {
    expect(valueIn(await scrape(), 'pg_apiserver_epochs_begun_total')).toBe(1);
  }, PATIENCE);
}

const valueIn = (samples: readonly Sample[], of: string): number | undefined =>
  samples.find(({ name }) => name === of)?.value;

const oldestTransaction = (): Sample | undefined =>
  after.find(({ name }) => name === 'pg_apiserver_oldest_transaction_seconds');

afterAll(async () => {
  await holder[Symbol.asyncDispose]();
  await webhook[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
  await roles[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

test('metrics say what each kind of upkeep costs, how far history is behind, and who holds the oldest transaction', async () => {
  const kinds = ['make', 'fill', 'forget', 'leave', 'drop', 'index', 'thin'];
  const labelsOf = (name: string): Sample['labels'][] =>
    after.filter((sample) => sample.name === name).map(({ labels }) => labels);
  for (const counted of ['seconds_total', 'rows_total', 'wal_bytes_total'])
    expect(labelsOf(`pg_apiserver_upkeep_${counted}`)).toEqual(kinds.map((kind) => ({ kind })));
  expect(labelsOf('pg_apiserver_upkeep_pages_total')).toEqual(
    kinds.flatMap((kind) => ['hit', 'read', 'dirtied'].map((access) => ({ kind, access }))),
  );
  for (const name of ['history_behind_seconds', 'history_partitions_behind', 'slot_wal_bytes'])
    expect(labelsOf(`pg_apiserver_${name}`)).toEqual([{}]);
  const [session] = await holder.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const user = roles.nameOf('server');
  expect(oldestTransaction()?.labels).toEqual({ process: `${session?.pid}`, application: 'forgotten', user });
  expect(oldestTransaction()?.value).toBeGreaterThan(0);
});

/** Labels that Prometheus adds. */
const ADDED = new Set(['job', 'instance', 'quantile']);
const RECORDED = 'cluster_quantile:apiserver_request_sli_duration_seconds:histogram_quantile';

/** What an expression asks for and the server does not show: a metric, a label of it, or the value of a label. */
function unknownIn(expression: string): string[] {
  const unknown: string[] = [];
  const plain = expression.replaceAll(RECORDED, 'apiserver_request_sli_duration_seconds_bucket');
  const selectors = [...plain.matchAll(/\b((?:pg_)?apiserver_\w+|process_\w+)(?:\{([^}]*)\})?/g)];
  const labelsOf = new Set<string>();
  for (const [, name = '', matchers = ''] of selectors) {
    const samples = after.filter((sample) => sample.name === name);
    if (samples.length === 0) unknown.push(name);
    const known = new Set(samples.flatMap(({ labels }) => Object.keys(labels)));
    for (const label of known) labelsOf.add(label);
    for (const [, label = '', operator, value] of matchers.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)) {
      if (ADDED.has(label)) continue;
      if (!known.has(label)) unknown.push(`${name}{${label}}`);
      if (operator === '=' && samples.every(({ labels }) => labels[label] !== value))
        unknown.push(`${name}{${label}="${value}"}`);
    }
  }
  for (const [, by = ''] of plain.matchAll(/ by \(([^)]*)\)/g))
    for (const label of by.split(/,\s*/))
      if (!ADDED.has(label) && !labelsOf.has(label)) unknown.push(`by (${label})`);
  return unknown;
}

test('each metric of the alerts, and each label of it, is one that the server shows', async () => {
  const rules = parse(await pg('alerts')).groups.flatMap(
    ({ rules }: { rules: { expr: string; annotations?: object }[] }) => rules,
  );
  expect(rules.length).toBeGreaterThan(12);
  for (const { expr } of rules) expect(unknownIn(expr), expr).toEqual([]);
});

test('each metric of the dashboard, and each label of it, is one that the server shows', async () => {
  interface Panel {
    readonly title: string;
    readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
  }
  const { panels, templating } = JSON.parse(await pg('dashboard'));
  const targets = (panels as Panel[]).flatMap((panel) => panel.targets ?? []);
  expect(targets.length).toBeGreaterThan(20);
  for (const { expr } of targets) expect(unknownIn(expr), expr).toEqual([]);
  for (const { query } of templating.list) expect(unknownIn(query)).toEqual([]);
  // A name that is checked at all.
  expect(unknownIn('rate(pg_apiserver_no_such{job="x"}[5m])')).toEqual(['pg_apiserver_no_such']);
  expect(unknownIn('sum by (nothing) (pg_apiserver_tail_mode{mode="none"})')).toEqual([
    'pg_apiserver_tail_mode{mode="none"}',
    'by (nothing)',
  ]);
});

test('`health` says how the server of this machine is, and fails where nothing answers', async () => {
  const at = (port: number): string[] => ['--bind-address=127.0.0.1', `--secure-port=${port}`];
  expect(await pg('health', ...at(cluster.port))).toBe('ok\n');
  expect(await pg('health', 'livez', ...at(cluster.port))).toBe('ok\n');
  await expect(pg('health', ...at(await freePort()))).rejects.toThrow(
    /nothing answers on port \d+ of 127\.0\.0\.1 \(.*\): start the server, or name its port with --secure-port=/,
  );
  await expect(pg('health', 'metrics', ...at(cluster.port))).rejects.toThrow(
    'is none of readyz, livez, healthz',
  );
});

const up = (values: string) => ({ series: 'up{job="fleet", instance="one"}', values });

/** What the rules ask for, as Prometheus would have scraped it. */
function seriesOf(rules: string, samples: readonly Sample[], valuesOf: (sample: Sample) => string) {
  const asked = new Set(rules.match(/\b(pg_)?apiserver_\w+/g));
  return [
    up('1x80'),
    ...samples
      .filter(({ name }) => asked.has(name))
      .map((sample) => {
        const labels = Object.entries({ ...sample.labels, job: 'fleet', instance: 'one' });
        const matchers = labels.map(([label, value]) => `${label}="${value}"`).join(', ');
        return { series: `${sample.name}{${matchers}}`, values: valuesOf(sample) };
      }),
  ];
}

const lasting = ({ value }: Sample): string => `${value}x80`;

test.runIf(hasPromtool)('real faults raise their alerts, and none is raised before', async () => {
  const rules = await pg('alerts', 'fleet');
  const keyOf = ({ name, labels }: Sample): string => name + JSON.stringify(labels);
  const values = new Map(before.map((sample) => [keyOf(sample), sample.value]));
  // What has happened once goes on: counters grow by as much each minute, and an open transaction by a minute.
  const ongoing = (sample: Sample): string => {
    const first = values.get(keyOf(sample)) ?? 0;
    if (sample.isCounter) return `${first}+${sample.value - first}x80`;
    return sample.name === 'pg_apiserver_oldest_transaction_seconds'
      ? `${sample.value}+60x80`
      : `${sample.value}x80`;
  };
  expect(firingAlerts(rules, seriesOf(rules, before, lasting))).toEqual(['ReadServerOut', 'TailPolls']);
  expect(firingAlerts(rules, seriesOf(rules, crowded, lasting))).toContain('WritesWait');
  expect(firingAlerts(rules, seriesOf(rules, after, ongoing))).toEqual([
    ...['AuditBacklog', 'AuditEventsLost', 'EpochBegan', 'FailingRequests', 'HistoryBehind'],
    ...['LongTransaction', 'ReadServerOut', 'RejectedByFairness', 'SlowRequests', 'TailPolls'],
  ]);
  await cluster.kill();
  // What Prometheus notes of a server that it cannot ask.
  await expect(scrape()).rejects.toThrow('ECONNREFUSED');
  expect(firingAlerts(rules, [up('0x80')])).toEqual(['ServerDown']);
});

test.runIf(hasPromtool)(
  'a server without CPU lags behind, and a slot without a reader keeps WAL',
  async () => {
    const rules = await pg('alerts', 'fleet');
    await using postgres = await startPrivatePostgres();
    const preload = fileURLToPath(new URL('../kit/held-event-loop.ts', import.meta.url));
    await using server = await startCluster(
      postgres.url,
      ['--kvstore-compaction-interval=500ms', '--kvstore-db-metric-poll-interval=200ms'],
      { preload },
    );
    const other = openLog(postgres.url);
    const firingOf = (samples: readonly Sample[], valuesOf = lasting): string[] =>
      firingAlerts(rules, seriesOf(rules, samples, valuesOf));
    let lagging: Sample[] = [];
    let names = 0;
    await vi.waitFor(async () => {
      await server.ask('hold');
      await other.committer.commit(write('create', `late-${names++}`));
      lagging = await scrape(server);
      expect(valueIn(lagging, 'pg_apiserver_tail_delay_seconds')).toBeGreaterThan(5);
    }, PATIENCE);
    await other.close();
    expect(firingOf(lagging)).toContain('TailLags');

    const WAL = 'pg_apiserver_slot_wal_bytes';
    // As much again each minute.
    const growing = (sample: Sample): string =>
      sample.name === WAL ? `${sample.value}+${sample.value}x80` : lasting(sample);
    await using session = await connect(postgres.url);
    const writeWal = async (): Promise<void> => {
      for (let segments = 0; segments < 10; segments += 1)
        await session.query("SELECT pg_logical_emit_message(true, 'fault', 'x'), pg_switch_wal()");
    };
    await writeWal();
    let samples: Sample[] = [];
    // A slot that is read keeps a little.
    await vi.waitFor(async () => {
      samples = await scrape(server);
      expect(firingOf(samples, growing)).toEqual([]);
    }, PATIENCE);
    await session.query("SELECT pg_create_physical_replication_slot('forgotten', true)");
    await writeWal();
    await vi.waitFor(async () => {
      samples = await scrape(server);
      expect(valueIn(samples, WAL)).toBeGreaterThan(150 * 1024 ** 2);
    }, PATIENCE);
    expect(firingOf(samples, growing)).toEqual(['SlotKeepsWal']);
  },
);
