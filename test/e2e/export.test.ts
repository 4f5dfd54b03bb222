// @module-tag long
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Cluster, startCluster } from '../kit/cluster.ts';
import { runCommand } from '../kit/command.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

const WIDGETS = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { size: { type: 'integer' } } } },
      },
    ],
  },
};
const CONFIG = '/api/v1/namespaces/shop/configmaps';

const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-export-'));
let database: TestDatabase;
let cluster: Cluster;

beforeAll(async () => {
  database = await createTestDatabase();
  cluster = await startCluster(database.url);
  const post = (path: string, body: unknown) => cluster.request('POST', path, body);
  await post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', WIDGETS);
  await post('/api/v1/namespaces', { metadata: { name: 'shop' } });
  await post('/api/v1/namespaces', { metadata: { name: 'office' } });
  await post(CONFIG, { metadata: { name: 'settings' }, data: { answer: '42', flag: 'yes', text: 'a\nb\n' } });
  await post('/api/v1/namespaces/office/configmaps', { metadata: { name: 'other' } });
  await post('/apis/apps/v1/namespaces/shop/deployments', {
    metadata: { name: 'web' },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'web', image: 'web:1' }] },
      },
    },
  });
  const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'big' }, size: 7 };
  await vi.waitFor(
    async () => {
      const { code } = await post('/apis/example.com/v1/namespaces/shop/widgets', widget);
      if (code !== 201) throw new Error(`widgets are answered ${code}`);
    },
    { timeout: 60_000 },
  );
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await database.drop();
  rmSync(folder, { recursive: true });
});

const exportFrom = (...args: string[]) => runCommand('export', `--kubeconfig=${cluster.kubeconfig}`, ...args);

test('a folder of an export is one that kubectl applies to another cluster, in the order of its files', async () => {
  const to = join(folder, 'all');
  const { code, stderr } = await exportFrom(`--to=${to}`);
  expect(stderr).toMatch(/^exported \d+ objects to /m);
  expect(code).toBe(0);
  const files = readdirSync(to);
  expect(files[0]).toBe('001-customresourcedefinitions.apiextensions.k8s.io.yaml');
  expect(files[1]).toBe('002-namespaces.yaml');
  expect(statSync(join(to, files[0] ?? '')).mode & 0o777).toBe(0o600);
  await using otherDatabase = await createTestDatabase();
  await using other = await startCluster(otherDatabase.url);
  // kubectl asks for all types first: those of new definitions it finds the second time.
  for (const file of files.filter((name) =>
    /-(customresource|namespaces|configmaps|deployments|widgets)/.test(name),
  )) {
    const applied = await other.kubectl(`apply -f ${join(to, file)}`);
    expect(applied.stderr).not.toContain('Error');
    if (file.includes('customresource'))
      await other.kubectl('wait --for=condition=established crd/widgets.example.com');
  }
  const [mine, theirs] = await Promise.all(
    [cluster, other].map(async (one) => (await one.request('GET', `${CONFIG}/settings`)).json.data),
  );
  expect(theirs).toEqual(mine);
  const widget = await other.request('GET', '/apis/example.com/v1/namespaces/shop/widgets/big');
  expect(widget.json.size).toBe(7);
});

test('an export of a namespace has the namespace, what is in it, and nothing else', async () => {
  const { code, stdout, stderr } = await exportFrom('--namespace=shop');
  expect(code).toBe(0);
  expect(stderr).toMatch(/^exported \d+ objects$/m);
  expect(stdout).toContain('kind: Deployment');
  expect(stdout).toMatch(/^kind: Namespace\n(?:.*\n)*? {2}name: shop$/m);
  expect(stdout).not.toContain('namespace: office');
  expect(stdout).not.toMatch(/^ {2}(resourceVersion|uid|managedFields):/m);
  expect(await exportFrom('--namespace=nowhere')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('there is nothing in a namespace "nowhere"'),
  });
});

test('an export as of a moment or a revision has the states of then, and --history the writes before it', async () => {
  const before = await cluster.request('GET', `${CONFIG}/settings`);
  const changed = { ...before.json, data: { answer: '43' } };
  const after = await cluster.request('PUT', `${CONFIG}/settings`, changed);
  const to = join(folder, 'then.yaml');
  const revision = before.json.metadata.resourceVersion;
  const then = await exportFrom('--namespace=shop', `--as-of=${revision}`, `--to=${to}`, '--history');
  expect(then.stderr).toMatch(/exported \d+ revisions to .*then\.history\.jsonl/);
  expect(readFileSync(to, 'utf8')).toContain('answer: "42"');
  const now = await exportFrom('--namespace=shop', `--as-of=${after.json.metadata.resourceVersion}`);
  expect(now.stdout).toContain('answer: "43"');
  const lines = readFileSync(join(folder, 'then.history.jsonl'), 'utf8').trim().split('\n');
  const writes = lines.map((line) => JSON.parse(line)).filter(({ object }) => object.name === 'settings');
  expect(writes).toMatchObject([{ revision, verb: 'create', user: 'kubernetes-admin' }]);
  expect(writes[0].state.data.answer).toBe('42');
  expect(lines.map((line) => Number(JSON.parse(line).revision))).toEqual(
    lines.map((line) => Number(JSON.parse(line).revision)).sort((a, b) => a - b),
  );
});

test.each([
  [['--as-of=yesterday'], 2, '--as-of: "yesterday" is neither a revision nor a moment such as 2026-'],
  [['--history'], 2, '--history needs --to'],
  [[`--to=${folder}`], 2, 'is not empty'],
  [['--as-of=2000-01-01T00:00:00Z'], 1, 'there was nothing at 2000-01-01T00:00:00Z'],
  [['--kubeconfig=/nowhere'], 1, '/nowhere: there is no such file'],
  [['--too=1'], 2, 'unknown flag'],
])('export %j is refused with what is right', async (args, code, message) => {
  const ended = await exportFrom(...args);
  expect(ended.stderr).toContain(message);
  expect(ended.code).toBe(code);
});
