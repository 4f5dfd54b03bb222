// @module-tag long
import { randomBytes } from 'node:crypto';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Cluster, startCluster } from '../kit/cluster.ts';
import { definitionOf } from '../kit/definitions.ts';
import { KmsPlugin } from '../kit/kms.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-encryption-'));
const file = join(folder, 'encryption.yaml');
const socket = join(folder, 'kms.sock');
const PATIENCE = { timeout: 60_000, interval: 50 };

/** In the file's own words, first the key that writes. */
const KEYS = { one: randomBytes(32).toString('base64'), two: randomBytes(32).toString('base64') };
type Key = keyof typeof KEYS;

/** As operators replace files: whole. */
function configure(...keys: readonly Key[]): void {
  const listed = keys.map((name) => ({ name, secret: KEYS[name] }));
  const rule = {
    resources: ['secrets', '*.stable.example.com'],
    providers: [{ aesgcm: { keys: listed } }, { identity: {} }],
  };
  const kms = { apiVersion: 'v2', name: 'vault', endpoint: `unix://${socket}`, timeout: '1s' };
  const ofPlugin = { resources: ['podtemplates'], providers: [{ kms }, { identity: {} }] };
  put({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [rule, ofPlugin],
  });
}

function put(config: unknown): void {
  writeFileSync(`${file}.new`, JSON.stringify(config));
  renameSync(`${file}.new`, file);
}

let plugin: KmsPlugin;
let database: TestDatabase;
let cluster: Cluster;

beforeAll(async () => {
  configure('one');
  plugin = await KmsPlugin.start(socket, 'first');
  database = await createTestDatabase();
  cluster = await startCluster(database.url, [
    `--encryption-provider-config=${file}`,
    '--encryption-provider-config-automatic-reload=true',
    '--history-window=1h',
    '--custom-resource-views=true',
  ]);
});

afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]();
  await plugin?.kill();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

const SECRETS = '/api/v1/namespaces/default/secrets';
const PASSWORD = 'correct-horse-battery-staple';

const secret = (name: string): object => ({
  kind: 'Secret',
  apiVersion: 'v1',
  metadata: { name },
  stringData: { password: PASSWORD },
});

/** Where the text is found, in any form that a row may show it in. */
async function findInDatabase(text: string): Promise<string[]> {
  const tables = await database.query<{ name: string }>(
    "SELECT c.oid::regclass::text AS name FROM pg_class c WHERE c.relkind IN ('r', 'm') AND c.relnamespace::regnamespace::text NOT LIKE 'pg\\_%' AND c.relnamespace <> 'information_schema'::regnamespace",
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const needles = [
      text,
      Buffer.from(text).toString('base64').replace(/.?=*$/, ''),
      Buffer.from(text).toString('hex'),
    ];
    const rows = await database.query<{ row: string }>(`SELECT t::text AS row FROM ${name} t`);
    if (rows.some(({ row }) => needles.some((needle) => row.includes(needle)))) found.push(name);
  }
  return found;
}

const formOf = async (name: string, resource = 'secrets'): Promise<string | undefined> => {
  const text = 'SELECT media_type FROM current_objects WHERE resource = $1 AND name = $2';
  return (await database.query<{ media_type: string }>(text, [resource, name]))[0]?.media_type;
};

async function reloads(status: 'success' | 'failure'): Promise<number> {
  const { text } = await cluster.request('GET', '/metrics');
  const line = new RegExp(
    `automatic_reloads_total\\{status="${status}",apiserver_id_hash="sha256:[0-9a-f]+"\\} (\\d+)`,
  );
  return Number(line.exec(text)?.[1] ?? 0);
}

test('nothing of a Secret or of the keys of the cluster is in the database in plain, and the API shows all of it', async () => {
  const created = await cluster.request('POST', SECRETS, secret('a'));
  expect(created.code).toBe(201);
  expect(
    (
      await cluster.request('POST', '/api/v1/namespaces/default/configmaps', {
        ...secret('plain'),
        kind: 'ConfigMap',
        stringData: undefined,
        data: { found: 'in plain' },
      })
    ).code,
  ).toBe(201);
  await cluster.request(
    'PATCH',
    `${SECRETS}/a`,
    { metadata: { labels: { app: 'x' } } },
    {
      'content-type': 'application/merge-patch+json',
    },
  );
  const { json } = await cluster.request('GET', `${SECRETS}/a`);
  expect(json.data).toEqual({ password: Buffer.from(PASSWORD).toString('base64') });
  expect((await cluster.request('GET', `${SECRETS}?labelSelector=app=x`)).json.items).toHaveLength(1);
  expect(await findInDatabase('in plain')).not.toEqual([]);
  expect(await findInDatabase(PASSWORD)).toEqual([]);
  expect(await findInDatabase('PRIVATE KEY')).toEqual([]);
  expect(await findInDatabase(KEYS.one)).toEqual([]);
  expect(await formOf('a')).toBe('application/x-encrypted; provider=aesgcm; key="one"');
  const { text } = await cluster.request('GET', '/metrics');
  for (const type of ['to_storage', 'from_storage'])
    expect(text).toContain(
      `apiserver_storage_transformation_operations_total{transformation_type="${type}",transformer_prefix="k8s:enc:aesgcm:v1:",status="OK"} `,
    );
});

test('what a Secret was is answered by the API, and shown as encrypted in SQL', async () => {
  const { json } = await cluster.request('POST', SECRETS, secret('b'));
  const { resourceVersion } = json.metadata;
  await cluster.request('DELETE', `${SECRETS}/b`);
  const then = await cluster.request(
    'GET',
    `${SECRETS}?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`,
  );
  const was = then.json.items.find(({ metadata }: { metadata: { name: string } }) => metadata.name === 'b');
  expect(was.data).toEqual(json.data);
  const [row] = await database.query(
    "SELECT object_at('', 'secrets', 'default', 'b', $1::bigint) AS object",
    [resourceVersion],
  );
  expect(row).toEqual({
    object: {
      encoded: {
        mediaType: 'application/x-encrypted; provider=aesgcm; key="one"',
        sizeBytes: expect.any(Number),
      },
    },
  });
  expect((await cluster.request('GET', `${SECRETS}/b`)).code).toBe(404);
});

test('a custom resource that a wildcard names is encrypted, and its view in SQL says so', async () => {
  const group = 'stable.example.com';
  const definition = definitionOf({ group, plural: 'widgets', kind: 'Widget' });
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  expect((await cluster.request('POST', definitions, definition)).code).toBe(201);
  const widgets = `/apis/${group}/v1/namespaces/default/widgets`;
  const widget = {
    kind: 'Widget',
    apiVersion: `${group}/v1`,
    metadata: { name: 'w' },
    spec: { hidden: 'recipe-of-cola' },
  };
  await vi.waitFor(
    async () => expect((await cluster.request('POST', widgets, widget)).code).toBe(201),
    PATIENCE,
  );
  expect((await cluster.request('GET', `${widgets}/w`)).json.spec).toEqual(widget.spec);
  expect(await findInDatabase('recipe-of-cola')).toEqual([]);
  const read = () => database.query('SELECT name, object FROM crd.widgets').catch(() => []);
  const mediaType = 'application/x-encrypted; provider=aesgcm; key="one"';
  const object = { encoded: { mediaType, sizeBytes: expect.any(Number) } };
  await vi.waitFor(async () => expect(await read()).toEqual([{ name: 'w', object }]), PATIENCE);
});

test('a new first key writes without a restart, and an update that changes nothing rewrites what another key wrote', async () => {
  const before = await reloads('success');
  configure('two', 'one');
  await vi.waitFor(async () => expect(await reloads('success')).toBe(before + 1), PATIENCE);
  const { json: old } = await cluster.request('GET', `${SECRETS}/a`);
  const rewritten = await cluster.request('PUT', `${SECRETS}/a`, old);
  expect(rewritten.json.metadata.resourceVersion).not.toBe(old.metadata.resourceVersion);
  expect(await formOf('a')).toBe('application/x-encrypted; provider=aesgcm; key="two"');
  const again = await cluster.request('PUT', `${SECRETS}/a`, rewritten.json);
  expect(again.json.metadata.resourceVersion).toBe(rewritten.json.metadata.resourceVersion);
});

test('a file that is wrong changes nothing, and is counted and logged', async () => {
  const before = await reloads('failure');
  put({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration', resources: [] });
  await vi.waitFor(async () => expect(await reloads('failure')).toBe(before + 1), PATIENCE);
  expect(cluster.output.stderr + cluster.output.stdout).toContain('at least one resources is required');
  expect((await cluster.request('POST', SECRETS, secret('c'))).code).toBe(201);
  expect(await formOf('c')).toContain('key="two"');
});

const TEMPLATES = '/api/v1/namespaces/default/podtemplates';
const template = (name: string): object => ({
  kind: 'PodTemplate',
  apiVersion: 'v1',
  metadata: { name },
  template: { spec: { containers: [{ name: 'c', image: 'hidden-image' }] } },
});

test('a KMS plugin encrypts what is its own, and what it once gave the key of is served without it', async () => {
  expect((await cluster.request('POST', TEMPLATES, template('a'))).code).toBe(201);
  expect(await formOf('a', 'podtemplates')).toBe(
    'application/x-encrypted; provider=kms; plugin="vault"; key="first"',
  );
  expect(await findInDatabase('hidden-image')).toEqual([]);
  expect((await cluster.request('GET', '/readyz/kms-providers')).code).toBe(200);
  await plugin.kill();
  const { code, json } = await cluster.request('GET', `${TEMPLATES}/a`);
  expect([code, json.template.spec.containers[0].image]).toEqual([200, 'hidden-image']);
});

test('an object that was changed or moved in the database is named and refused, disturbs no other, and can be deleted with an option', async () => {
  await cluster.request('POST', SECRETS, secret('moved'));
  await cluster.request('POST', SECRETS, secret('changed'));
  await cluster.stop();
  await database.query(`
    UPDATE revisions r SET encoded = (SELECT encoded FROM revisions WHERE name = 'a' AND resource = 'secrets' ORDER BY revision DESC LIMIT 1)
    WHERE resource = 'secrets' AND name = 'moved'`);
  await database.query(
    "UPDATE revisions SET encoded = set_byte(encoded, 20, get_byte(encoded, 20) # 1) WHERE resource = 'secrets' AND name = 'changed'",
  );
  await database.query('UPDATE objects SET encoded = NULL, media_type = NULL WHERE name IN ($1, $2)', [
    'moved',
    'changed',
  ]);
  configure('two', 'one');
  await cluster.start();
  for (const name of ['moved', 'changed']) {
    const { code, json } = await cluster.request('GET', `${SECRETS}/${name}`);
    expect([code, json.reason, json.details.name]).toEqual([500, 'StorageReadError', name]);
    expect(json.message).toContain(`default/${name}: it cannot be decrypted with the key "two" of aesgcm`);
  }
  expect((await cluster.request('GET', `${SECRETS}/a`)).code).toBe(200);
  const list = await cluster.request('GET', SECRETS);
  expect(list.code).toBe(500);
  expect(list.json.details.causes.map(({ field }: { field: string }) => field).sort()).toEqual([
    'default/changed',
    'default/moved',
  ]);
  expect((await cluster.request('DELETE', `${SECRETS}/moved`)).code).toBe(500);
  for (const name of ['moved', 'changed']) {
    const gone = await cluster.request(
      'DELETE',
      `${SECRETS}/${name}?ignoreStoreReadErrorWithClusterBreakingPotential=true`,
    );
    expect([gone.code, gone.json.status]).toEqual([200, 'Success']);
  }
  expect((await cluster.request('GET', SECRETS)).code).toBe(200);
  expect((await cluster.request('POST', SECRETS, secret('moved'))).code).toBe(201);
});

test('a server that starts without its plugin serves all else, says what is wrong, and reads again when the plugin is back', async () => {
  const read = await cluster.request('GET', `${TEMPLATES}/a`);
  expect([read.code, read.json.reason]).toEqual([500, 'StorageReadError']);
  expect(read.json.message).toContain('default/a: the KMS plugin vault does not');
  const written = await cluster.request('POST', TEMPLATES, template('b'));
  expect([written.code, written.json.reason]).toEqual([500, 'InternalError']);
  expect(written.json.message).toContain('the KMS plugin vault does not');
  expect((await cluster.request('GET', SECRETS)).code).toBe(200);
  expect((await cluster.request('GET', '/readyz/kms-providers')).code).toBe(500);
  expect((await cluster.request('GET', '/readyz?exclude=kms-providers')).code).toBe(200);
  expect((await cluster.request('GET', '/livez')).code).toBe(200);
  plugin = await KmsPlugin.start(socket, 'first');
  // The check asks the plugin, which is how a server hears of it before its next question.
  await vi.waitFor(async () => {
    expect((await cluster.request('GET', '/readyz/kms-providers')).code).toBe(200);
    expect((await cluster.request('GET', `${TEMPLATES}/a`)).code).toBe(200);
  }, PATIENCE);
  expect((await cluster.request('POST', TEMPLATES, template('b'))).code).toBe(201);
});
