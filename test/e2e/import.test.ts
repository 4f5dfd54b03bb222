// @module-tag long
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Cluster, startCluster } from '../kit/cluster.ts';
import { runCommand, startCommand } from '../kit/command.ts';
import { definitionOf } from '../kit/definitions.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const SHOP = '/api/v1/namespaces/shop';
const WIDGETS = '/apis/stable.example.com/v1/namespaces/shop/widgets';
const REPLICA_SETS = '/apis/apps/v1/namespaces/shop/replicasets';

const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-import-'));
let database: TestDatabase;
let source: Cluster;

const pod = { containers: [{ name: 'web', image: 'web:1' }] };
const labels = { app: 'web' };

beforeAll(async () => {
  database = await createTestDatabase();
  source = await startCluster(database.url);
  const post = async (path: string, body: unknown): Promise<{ metadata: { uid: string } }> => {
    const { code, json } = await source.request('POST', path, body);
    if (code !== 201) throw new Error(`${path}: ${JSON.stringify(json)}`);
    return json;
  };
  await post(DEFINITIONS, definitionOf({ plural: 'widgets', kind: 'Widget' }));
  await post('/api/v1/namespaces', { metadata: { name: 'shop' } });
  const owner = await post(REPLICA_SETS, {
    metadata: { name: 'web' },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: pod } },
  });
  const ownerReferences = [
    { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: owner.metadata.uid, controller: true },
  ];
  await post(`${SHOP}/pods`, { metadata: { name: 'web-1', labels, ownerReferences }, spec: pod });
  await post(`${SHOP}/services`, {
    metadata: { name: 'web' },
    spec: { type: 'NodePort', selector: labels, ports: [{ port: 80 }] },
  });
  await post(`${SHOP}/configmaps`, { metadata: { name: 'ending', finalizers: ['example.com/wait'] } });
  await source.request('DELETE', `${SHOP}/configmaps/ending`);
  await post(`${SHOP}/secrets`, { metadata: { name: 'login' }, stringData: { password: 'correct-horse' } });
  await source.request(
    'PATCH',
    `${SHOP}/pods/web-1/status`,
    { status: { phase: 'Running', podIP: '10.1.2.3' } },
    { 'content-type': 'application/merge-patch+json' },
  );
  await vi.waitFor(
    () =>
      post(WIDGETS, {
        apiVersion: 'stable.example.com/v1',
        kind: 'Widget',
        metadata: { name: 'big' },
        size: 7,
      }),
    { timeout: 60_000 },
  );
});

afterAll(async () => {
  await source[Symbol.asyncDispose]();
  await database.drop();
  rmSync(folder, { recursive: true });
});

const PATHS = [
  '/api/v1/namespaces/shop',
  `${DEFINITIONS}/widgets.stable.example.com`,
  `${WIDGETS}/big`,
  `${REPLICA_SETS}/web`,
  `${SHOP}/pods/web-1`,
  `${SHOP}/services/web`,
  `${SHOP}/secrets/login`,
  `${SHOP}/configmaps/ending`,
];

/** Without the version, which is that of the cluster. */
async function objectsIn(cluster: Cluster): Promise<unknown[]> {
  const answers = await Promise.all(PATHS.map((path) => cluster.request('GET', path)));
  return answers.map(({ code, json }) => {
    expect(code).toBe(200);
    const { resourceVersion: _, ...metadata } = json.metadata;
    return { ...json, metadata };
  });
}

const kubeconfig = (): string => `--from=${source.kubeconfig}`;
const into = ({ url }: TestDatabase): string => `--kvstore-servers=${url}`;

test('an import keeps objects as they are, down to uids, status and encryption, and a second one has nothing to do', async () => {
  await using empty = await createTestDatabase();
  const encryption = join(folder, 'encryption.yaml');
  const secret = Buffer.alloc(32, 7).toString('base64');
  writeFileSync(
    encryption,
    `apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources: [{resources: [secrets], providers: [{aescbc: {keys: [{name: k, secret: ${secret}}]}}]}]\n`,
  );
  const flags = [into(empty), `--encryption-provider-config=${encryption}`];
  const rehearsed = await runCommand('import', kubeconfig(), ...flags, '--dry-run');
  expect(rehearsed).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^a dry run, which writes nothing; it would have: created \d+/),
  });
  expect(await empty.query('SELECT * FROM objects')).toEqual([]);
  const first = await runCommand('import', kubeconfig(), ...flags);
  expect(first.stderr).not.toContain('pg-apiserver:');
  expect(first).toMatchObject({ code: 0, stdout: expect.stringMatching(/^created \d+/) });
  expect(first.stdout).toContain('(10): each cluster has its own');
  expect(first.stdout).not.toContain('no such resource');
  const rows = await empty.query<{ media_type: string }>(
    `SELECT media_type FROM revisions WHERE resource = 'secrets' AND name = 'login'`,
  );
  expect(rows[0]?.media_type).toContain('aescbc');
  const second = await runCommand('import', kubeconfig(), ...flags);
  expect(second.stdout).toMatch(/^same \d+\n/);
  expect(await runCommand('verify', kubeconfig(), ...flags)).toMatchObject({ code: 0 });
  await using target = await startCluster(empty.url, [`--encryption-provider-config=${encryption}`]);
  expect(await objectsIn(target)).toEqual(await objectsIn(source));
  const { metadata } = (await target.request('GET', `${SHOP}/configmaps/ending`)).json;
  expect(metadata).toMatchObject({
    deletionTimestamp: expect.any(String),
    finalizers: ['example.com/wait'],
    managedFields: [expect.anything()],
  });
  // Their address and port are taken there.
  const { spec } = (await source.request('GET', `${SHOP}/services/web`)).json;
  const again = {
    metadata: { name: 'other' },
    spec: { type: 'NodePort', ports: [{ port: 80, nodePort: spec.ports[0].nodePort }] },
  };
  expect((await target.request('POST', `${SHOP}/services`, again)).code).toBe(422);
});

test('an import into a running cluster leaves what has its name, and follows the source until a signal', async () => {
  await using other = await createTestDatabase();
  await using target = await startCluster(other.url);
  const command = startCommand('import', kubeconfig(), into(other), '--follow');
  await vi.waitFor(() => expect(command.output.stderr).toContain('following the source'), {
    timeout: 60_000,
  });
  await source.request('POST', `${SHOP}/configmaps`, { metadata: { name: 'late' }, data: { a: '1' } });
  await vi.waitFor(
    async () => expect((await target.request('GET', `${SHOP}/configmaps/late`)).code).toBe(200),
    { timeout: 60_000 },
  );
  await source.request('DELETE', `${SHOP}/configmaps/late`);
  await vi.waitFor(
    async () => expect((await target.request('GET', `${SHOP}/configmaps/late`)).code).toBe(404),
    { timeout: 60_000 },
  );
  command.child.kill('SIGINT');
  const { code, stdout } = await command.ended;
  expect(stdout).toContain(
    'the target has one of its name with another uid; --replace puts this one in its place',
  );
  expect(stdout).toMatch(/^compare them: pg-apiserver verify --from=\S+ --kvstore-servers=\S+$/m);
  expect(code).toBe(1);
  expect(await objectsIn(target)).toEqual(await objectsIn(source));
  const compared = await runCommand('verify', kubeconfig(), into(other));
  expect(compared.stdout).toMatch(
    /^the target has another object, with another uid: .*, … \(\d+\): --replace of import puts /m,
  );
  expect(compared.stdout).not.toContain('metadata.uid');
  const replaced = await runCommand('import', kubeconfig(), into(other), '--replace', '--until-synced');
  expect(replaced.stdout).toContain('replaced');
  const uidOf = async (cluster: Cluster): Promise<string> =>
    (await cluster.request('GET', '/api/v1/namespaces/kube-system')).json.metadata.uid;
  expect(await uidOf(target)).toBe(await uidOf(source));
});

test('verify prints what differs, and ends with 1', async () => {
  await using empty = await createTestDatabase();
  await source.request('POST', `${SHOP}/configmaps`, { metadata: { name: 'old' } });
  await runCommand('import', kubeconfig(), into(empty));
  await source.request('DELETE', `${SHOP}/configmaps/old`);
  await source.request('POST', `${SHOP}/configmaps`, { metadata: { name: 'new' } });
  await source.request(
    'PATCH',
    `${SHOP}/services/web`,
    { metadata: { labels: { tier: 'front' } } },
    { 'content-type': 'application/merge-patch+json' },
  );
  const { code, stdout, stderr } = await runCommand('verify', kubeconfig(), into(empty));
  expect(stdout).toContain('only in the source: configmaps shop/new');
  expect(stdout).toMatch(
    /differs: services shop\/web\n(?: {4}.*\n)*? {4}metadata\.labels: absent in the source|metadata\.labels: \{"tier":"front"\} in the source, absent in the target/,
  );
  expect(stdout).toContain('only in the target: configmaps shop/old');
  expect(stderr).toMatch(/objects that differ: \d+, as above/);
  expect(code).toBe(1);
  const again = await runCommand('import', kubeconfig(), into(empty));
  expect(again.stdout).toContain('only in the target: configmaps shop/old: ');
  const pruned = await runCommand('import', kubeconfig(), into(empty), '--prune');
  expect(pruned.stdout).toContain('deleted 1');
  expect((await runCommand('verify', kubeconfig(), into(empty))).code).toBe(0);
});

test('an export with history comes back: states, authors, deletions and the order of all', async () => {
  const path = `${SHOP}/configmaps/counted`;
  await source.request('POST', `${SHOP}/configmaps`, { metadata: { name: 'counted' }, data: { n: '1' } });
  const { json } = await source.request('GET', path);
  await source.request('PUT', path, { ...json, data: { n: '2' } });
  await source.request('POST', `${SHOP}/configmaps`, { metadata: { name: 'gone' } });
  await source.request('DELETE', `${SHOP}/configmaps/gone`);
  const file = join(folder, 'all.yaml');
  const exported = await runCommand(
    'export',
    `--kubeconfig=${source.kubeconfig}`,
    `--to=${file}`,
    '--history',
  );
  expect(exported.code).toBe(0);
  await using empty = await createTestDatabase();
  const taken = await runCommand('import', `--from=${file}`, into(empty));
  expect(taken.stdout).toContain('their numbers and times are new');
  expect(taken.code).toBe(0);
  const rows = await empty.query<{ verb: string; name: string; username: string; n: string }>(
    `SELECT verb, name, username, object->'data'->>'n' AS n FROM revisions
     WHERE resource = 'configmaps' AND name IN ('counted', 'gone') ORDER BY revision`,
  );
  const username = 'kubernetes-admin';
  expect(rows).toEqual([
    { verb: 'create', name: 'counted', username, n: '1' },
    { verb: 'update', name: 'counted', username, n: '2' },
    { verb: 'create', name: 'gone', username, n: null },
    { verb: 'delete', name: 'gone', username, n: null },
  ]);
  expect((await runCommand('verify', `--from=${file}`, into(empty))).stdout).toMatch(/ 0 differ\n$/);
  await using target = await startCluster(empty.url);
  expect(await objectsIn(target)).toEqual(await objectsIn(source));
});

test('a resource gets a database of its own by an export, and an import with the override', async () => {
  await using main = await createTestDatabase();
  await using own = await createTestDatabase();
  const to = join(folder, 'moved');
  const path = '/api/v1/namespaces/default/configmaps';
  const uidIn = async (cluster: Cluster): Promise<unknown> =>
    (await cluster.request('GET', `${path}/moved`)).json.metadata?.uid;
  let uid: unknown;
  {
    await using before = await startCluster(main.url);
    await before.request('POST', path, { metadata: { name: 'moved' } });
    uid = await uidIn(before);
    expect(await runCommand('export', `--kubeconfig=${before.kubeconfig}`, `--to=${to}`)).toMatchObject({
      code: 0,
    });
  }
  const override = `--kvstore-servers-overrides=/configmaps#${own.url}`;
  const taken = await runCommand('import', `--from=${to}`, into(main), override);
  expect(taken).toMatchObject({ code: 0, stdout: expect.stringMatching(/^same \d+, created \d+\n/) });
  expect(await runCommand('verify', `--from=${to}`, into(main), override)).toMatchObject({ code: 0 });
  const rows = await own.query<{ resource: string }>('SELECT DISTINCT resource FROM objects');
  expect(rows).toEqual([{ resource: 'configmaps' }]);
  await using after = await startCluster(main.url, [override]);
  expect(uid).toBeDefined();
  expect(await uidIn(after)).toBe(uid);
});

test('YAML that was in no cluster is taken with new uids, and what cannot be taken is named with the reason', async () => {
  const file = join(folder, 'people.yaml');
  writeFileSync(
    file,
    [
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine, namespace: default}\ndata: {a: b}\n',
      'apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80}]}\n',
      'apiVersion: v1\nkind: Gadget\nmetadata: {name: x}\n',
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: odd}\ndata: 7\n',
    ].join('---\n'),
  );
  await using empty = await createTestDatabase();
  const { code, stdout } = await runCommand('import', `--from=${file}`, into(empty));
  expect(code).toBe(1);
  expect(stdout).toContain('created 1');
  expect(stdout).toContain('services default/web: it has no cluster IP yet: create it by kubectl apply');
  expect(stdout).toContain(
    `Gadget x (${file}, document 3): there is neither a built-in type v1 Gadget nor a definition of it`,
  );
  expect(stdout).toContain(`ConfigMap odd (${file}, document 4): it has not the form of its type: `);
  expect((await runCommand('import', `--from=${file}`, into(empty))).stdout).toContain('same 1');
});

test.each([
  [[], '--from= is missing: a kubeconfig'],
  [['--from=/nowhere'], '--from: there is no /nowhere'],
  [['--from=.', '--follow'], '--follow: only a kubeconfig can be followed'],
  [['--from=.', '--prune'], '--prune: a file may have a part of a cluster only'],
  [['--from=.', '--follow', '--dry-run'], '--dry-run reads the source once: leave --follow out'],
])('import %j is refused with what is right', async (args, message) => {
  const { code, stderr } = await runCommand('import', ...args, into(database));
  expect(stderr).toContain(message);
  expect(code).toBe(2);
});

/** So many are shaped by threads. */
function writeMany(name: string, count: number): string {
  const file = join(folder, name);
  const one = (at: number): string =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: many-${at}\n  namespace: default\ndata:\n  at: "${at}"\n`;
  writeFileSync(file, Array.from({ length: count }, (_, at) => one(at)).join('---\n'));
  return file;
}

test('an import of many objects that a signal stopped goes on where it was', async () => {
  const file = writeMany('many.yaml', 20_000);
  await using empty = await createTestDatabase();
  const command = startCommand('import', `--from=${file}`, into(empty));
  await vi.waitFor(async () => expect(await empty.query('SELECT 1 FROM objects LIMIT 1')).toHaveLength(1), {
    timeout: 60_000,
  });
  command.child.kill('SIGINT');
  const stopped = await command.ended;
  expect(stopped.stderr).toContain(
    'stopped before all objects were taken: the same command goes on from here',
  );
  expect(stopped.code).toBe(1);
  const again = await runCommand('import', `--from=${file}`, into(empty));
  expect(again).toMatchObject({ code: 0, stdout: expect.stringMatching(/^same [\d,]+, created [\d,]+\n/) });
  expect(await runCommand('verify', `--from=${file}`, into(empty))).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^20,000 are the same, 0 differ\n/),
  });
});

test('an import whose threads die fails with a sentence', async () => {
  const file = writeMany('dying.yaml', 2500);
  await using empty = await createTestDatabase();
  const dies = `import { isMainThread } from 'node:worker_threads';\nif (!isMainThread) process.exit(7);\n`;
  const before = process.env.NODE_OPTIONS;
  process.env.NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(dies)}`;
  try {
    const { code, stderr } = await runCommand('import', `--from=${file}`, into(empty));
    expect(stderr).toBe(
      'pg-apiserver: a thread that reads objects has ended: its code is 7: the same command goes on from here\n',
    );
    expect(code).toBe(1);
  } finally {
    if (before === undefined) delete process.env.NODE_OPTIONS;
    else process.env.NODE_OPTIONS = before;
  }
});
