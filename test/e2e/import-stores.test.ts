// @module-tag long
import { createCipheriv, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { xsalsa20poly1305 } from '@noble/ciphers/salsa.js';
import protobuf from 'protobufjs';
import { afterAll, expect, test, vi } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import { encodeEnvelope } from '../../src/codec/protobuf/envelope.ts';
import { runCommand, startCommand } from '../kit/command.ts';
import { definitionOf } from '../kit/definitions.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

/** Stores of kube-apiserver: values by key, in protobuf and JSON, some encrypted. */

const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-stores-'));
afterAll(() => rmSync(folder, { recursive: true }));

const types = loadTypes();
const uid = (digit: number): string => `00000000-0000-4000-8000-00000000000${digit}`;
const metadata = (digit: number, name: string, namespace?: string) => ({
  name,
  ...(namespace === undefined ? {} : { namespace }),
  uid: uid(digit),
  creationTimestamp: '2020-01-01T00:00:00Z',
});
const toProtobuf = (type: string, object: Parameters<typeof encodeEnvelope>[0]): Buffer =>
  encodeEnvelope(object, types.message(type));
const toJson = (object: object): Buffer => Buffer.from(JSON.stringify(object));

const secretOf = (digit: number, name: string): Buffer =>
  toProtobuf('core/v1.Secret', {
    kind: 'Secret',
    apiVersion: 'v1',
    metadata: metadata(digit, name, 'shop'),
    data: { password: 'c2VjcmV0' },
    type: 'Opaque',
  });

const KEY = Buffer.alloc(32, 5);
const keyOf = (name: string): string => `/registry/secrets/shop/${name}`;

function sealCbc(plain: Buffer): Buffer {
  const iv = randomBytes(16);
  const cipher = createCipheriv('aes-256-cbc', KEY, iv);
  return Buffer.concat([Buffer.from('k8s:enc:aescbc:v1:one:'), iv, cipher.update(plain), cipher.final()]);
}

function sealGcm(plain: Buffer, key: string): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', KEY, nonce).setAAD(Buffer.from(key));
  const sealed = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  return Buffer.concat([Buffer.from('k8s:enc:aesgcm:v1:two:'), nonce, sealed]);
}

function sealBox(plain: Buffer): Buffer {
  const nonce = randomBytes(24);
  const sealed = xsalsa20poly1305(KEY, nonce).encrypt(plain);
  return Buffer.concat([Buffer.from('k8s:enc:secretbox:v1:three:'), nonce, sealed]);
}

const definition = {
  ...definitionOf({ plural: 'widgets', kind: 'Widget', singular: 'widget', listKind: 'WidgetList' }),
  status: { conditions: [{ type: 'Established', status: 'True' }], storedVersions: ['v1'] },
};

const VALUES: readonly (readonly [string, Buffer])[] = [
  [
    '/registry/apiextensions.k8s.io/customresourcedefinitions/widgets.stable.example.com',
    toJson({
      ...definition,
      metadata: { ...definition.metadata, ...metadata(1, 'widgets.stable.example.com') },
    }),
  ],
  [
    '/registry/namespaces/shop',
    toProtobuf('core/v1.Namespace', { kind: 'Namespace', apiVersion: 'v1', metadata: metadata(2, 'shop') }),
  ],
  ['/registry/ranges/serviceips', Buffer.from('k8s\0')],
  [keyOf('box'), sealBox(secretOf(3, 'box'))],
  [keyOf('cbc'), sealCbc(secretOf(4, 'cbc'))],
  [keyOf('gcm'), sealGcm(secretOf(5, 'gcm'), keyOf('gcm'))],
  [keyOf('plain'), secretOf(6, 'plain')],
  [keyOf('unknown'), Buffer.from('k8s:enc:aescbc:v1:lost:0123456789abcdef0123456789abcdef')],
  ['/registry/configmaps/shop/torn', Buffer.from('{"apiVersion":"v1","kind":"ConfigMap","metadata":{"na')],
  ['/registry/pods/shop/torn', secretOf(8, 'torn').subarray(0, 60)],
  [
    '/registry/stable.example.com/widgets/shop/big',
    toJson({
      apiVersion: 'stable.example.com/v1',
      kind: 'Widget',
      metadata: metadata(7, 'big', 'shop'),
      size: 7,
    }),
  ],
];

const configuration = join(folder, 'encryption.yaml');
const given = (kind: string, name: string): string =>
  `  - ${kind}: {keys: [{name: ${name}, secret: ${KEY.toString('base64')}}]}\n`;
writeFileSync(
  configuration,
  `apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n- resources: [secrets]\n  providers:\n${given('aescbc', 'one')}${given('aesgcm', 'two')}${given('secretbox', 'three')}`,
);

async function expectTaken(target: TestDatabase, from: string): Promise<void> {
  const flags = [
    `--from=${from}`,
    `--kvstore-servers=${target.url}`,
    `--from-encryption-config=${configuration}`,
  ];
  const { code, stdout, stderr } = await runCommand('import', ...flags);
  expect(stderr).toBe('pg-apiserver: objects that were not taken: 3, as above\n');
  expect(stdout).toContain('created 7');
  expect(stdout).toContain(
    `${keyOf('unknown')}: it is encrypted by the key lost of aescbc, which ${configuration} lacks`,
  );
  for (const torn of ['configmaps', 'pods'])
    expect(stdout).toContain(`not taken: /registry/${torn}/shop/torn: `);
  if (from.startsWith('postgres:')) expect(stdout).not.toContain(new URL(from).password);
  expect(code).toBe(1);
  const rows = await target.query<{ name: string; uid: string }>(
    'SELECT name, uid::text FROM objects ORDER BY uid',
  );
  const names = ['widgets.stable.example.com', 'shop', 'box', 'cbc', 'gcm', 'plain', 'big'];
  expect(rows).toEqual(names.map((name, at) => ({ name, uid: uid(at + 1) })));
  const [secret] = await target.query<{ password: string }>(
    `SELECT object->'data'->>'password' AS password FROM revisions WHERE name = 'gcm'`,
  );
  expect(secret?.password).toBe('c2VjcmV0');
  expect((await runCommand('verify', ...flags)).stdout).toContain('7 are the same, 3 differ');
}

test('an import from kine reads the newest row of each name that is not deleted', async () => {
  await using source = await createTestDatabase({ empty: true });
  await using target = await createTestDatabase();
  await source.query(
    `CREATE TABLE kine (id BIGSERIAL PRIMARY KEY, name VARCHAR(630), created INTEGER, deleted INTEGER,
       create_revision BIGINT, prev_revision BIGINT, lease INTEGER, value bytea, old_value bytea)`,
  );
  const insert = (name: string, value: Buffer, deleted = 0) =>
    source.query('INSERT INTO kine (name, value, deleted, created) VALUES ($1, $2, $3, 0)', [
      name,
      value,
      deleted,
    ]);
  await insert('compact_rev_key', Buffer.alloc(0));
  await insert(keyOf('plain'), secretOf(9, 'plain'));
  await insert(keyOf('removed'), secretOf(8, 'removed'));
  await insert(keyOf('removed'), secretOf(8, 'removed'), 1);
  for (const [name, value] of VALUES) await insert(name, value);
  const url = new URL(source.url);
  url.searchParams.set('kine', '');
  await expectTaken(target, url.href);
  const without = await runCommand('import', `--from=${source.url}`, `--kvstore-servers=${target.url}`);
  expect(without).toMatchObject({ code: 2, stderr: expect.stringContaining('end it with ?kine') });
});

const MANY = 6000;

test('an import that is killed goes on when it is run again, and writes nothing twice', async () => {
  await using source = await createTestDatabase({ empty: true });
  await using target = await createTestDatabase();
  await source.query(
    `CREATE TABLE kine AS SELECT n AS id, '/registry/configmaps/shop/c' || n AS name, 0 AS deleted, convert_to(
       json_build_object('apiVersion', 'v1', 'kind', 'ConfigMap', 'metadata', json_build_object('name', 'c' || n,
         'namespace', 'shop', 'uid', gen_random_uuid(), 'creationTimestamp', '2020-01-01T00:00:00Z'))::text,
       'UTF8') AS value FROM generate_series(1, ${MANY}) AS n`,
  );
  const flags = [`--from=${source.url}?kine`, `--kvstore-servers=${target.url}`];
  const count = async (table: string): Promise<number> =>
    Number((await target.query<{ count: string }>(`SELECT count(*) FROM ${table}`))[0]?.count);
  const first = startCommand('import', ...flags);
  await vi.waitFor(async () => expect(await count('objects')).toBeGreaterThan(0), {
    timeout: 60_000,
    interval: 5,
  });
  first.child.kill('SIGKILL');
  await first.ended;
  const taken = await count('objects');
  expect(taken).toBeLessThan(MANY);
  const second = await runCommand('import', ...flags);
  expect(second).toMatchObject({ code: 0, stdout: expect.stringContaining('same ') });
  expect([await count('objects'), await count('revisions')]).toEqual([MANY, MANY]);
  expect((await runCommand('verify', ...flags)).stdout).toContain('6,000 are the same, 0 differ');
});

const { root } = protobuf.parse(
  `syntax = "proto3"; package etcd;
  message RangeRequest { bytes key = 1; bytes range_end = 2; int64 limit = 3; int64 revision = 4; }
  message Header { uint64 cluster_id = 1; uint64 member_id = 2; int64 revision = 3; uint64 raft_term = 4; }
  message KeyValue { bytes key = 1; int64 create_revision = 2; int64 mod_revision = 3; int64 version = 4; bytes value = 5; int64 lease = 6; }
  message RangeResponse { Header header = 1; repeated KeyValue kvs = 2; bool more = 3; int64 count = 4; }`,
  { keepCase: true },
);

/** An etcd whose pages have two keys at most, and whose newest revision grows with each question. */
async function startEtcd(): Promise<{ readonly url: string; readonly revisions: string[]; stop(): void }> {
  const request = root.lookupType('etcd.RangeRequest');
  const response = root.lookupType('etcd.RangeResponse');
  const revisions: string[] = [];
  const server = new Server();
  const path = '/etcdserverpb.KV/Range';
  const range = {
    path,
    requestStream: false,
    responseStream: false,
    requestSerialize: (bytes: Buffer) => bytes,
    requestDeserialize: (bytes: Buffer) => bytes,
    responseSerialize: (bytes: Buffer) => bytes,
    responseDeserialize: (bytes: Buffer) => bytes,
  };
  server.addService(
    { Range: range },
    {
      Range: ({ request: bytes }: { request: Buffer }, callback: (error: null, answer: Buffer) => void) => {
        const asked = request.toObject(request.decode(bytes), { longs: String, bytes: Buffer });
        revisions.push(String(asked.revision ?? 0));
        const inRange = VALUES.map(([key, value]) => ({ key: Buffer.from(key), value }))
          .filter(({ key }) => key.compare(asked.key) >= 0 && key.compare(asked.range_end) < 0)
          .sort((a, b) => a.key.compare(b.key));
        const kvs = inRange.slice(0, 2);
        const answer = {
          header: { revision: 42 + revisions.length },
          kvs,
          more: inRange.length > 2,
          count: inRange.length,
        };
        const pinned =
          asked.revision === undefined || asked.revision === '0'
            ? answer.header.revision
            : Number(asked.revision);
        const message = response.fromObject({ ...answer, header: { revision: pinned } });
        callback(null, Buffer.from(response.encode(message).finish()));
      },
    },
  );
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  return { url: `etcd://127.0.0.1:${port}`, revisions, stop: () => server.forceShutdown() };
}

test('an import from etcd reads all pages at one revision', async () => {
  const etcd = await startEtcd();
  try {
    await using target = await createTestDatabase();
    await expectTaken(target, etcd.url);
    const [first, ...others] = etcd.revisions.slice(0, 5);
    expect(first).toBe('0');
    expect(new Set(others)).toEqual(new Set(['43']));
  } finally {
    etcd.stop();
  }
});

test('an etcd or a kine that does not answer is named', async () => {
  await using target = await createTestDatabase();
  const into = `--kvstore-servers=${target.url}`;
  const etcd = await runCommand('import', '--from=etcd://127.0.0.1:1', into);
  expect(etcd.stderr).toContain(
    'etcd at 127.0.0.1:1: nothing answers there: start it, or correct the address\n',
  );
  const kine = await runCommand('import', `--from=${target.url}?kine`, into);
  expect(kine.stderr).toContain('the database has no table kine: name ');
  expect([etcd.code, kine.code]).toEqual([1, 1]);
  const files = await runCommand('import', '--from=etcd://127.0.0.1:1', '--from-certfile=a', into);
  expect(files.stderr).toContain('--from-certfile and --from-keyfile belong together');
});
