// @module-tag long
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { Encryption, ProviderRules } from '../../../src/storage/encryption/encryption.ts';
import { EncryptionMetrics } from '../../../src/storage/encryption/encryption-metrics.ts';
import { GrpcKmsClient } from '../../../src/storage/encryption/kms-client.ts';
import { KmsProvider } from '../../../src/storage/encryption/kms-provider.ts';
import { parseForm } from '../../../src/storage/encryption/media-type.ts';
import { createKeySealer } from '../../../src/storage/key-sealer.ts';
import { JSON_MEDIA_TYPE } from '../../../src/storage/object-encoding.ts';
import type { StoredObject, Write } from '../../../src/storage/revision-log.ts';
import { StoredCodec } from '../../../src/storage/stored-codec.ts';
import { samplesOf } from '../../kit/encryption-samples.ts';
import { KmsPlugin } from '../../kit/kms.ts';

const folder = mkdtempSync(join(tmpdir(), 'kms-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let sockets = 0;
const newSocket = (): string => {
  sockets += 1;
  return join(folder, `${sockets}.sock`);
};

const SECRETS = { group: '', resource: 'secrets' };
const KEY = { ...SECRETS, namespace: 'default', name: 'a' };
const PLAIN = { bytes: Buffer.from('{"kind":"Secret"}'), mediaType: JSON_MEDIA_TYPE };

/** What a server has of a plugin, with a clock of its own. */
function serverOf(socket: string, timeoutMs = 2000) {
  const clock = { ms: 1_000_000 };
  const recovered: number[] = [];
  const metrics = new EncryptionMetrics('server', () => clock.ms);
  const client = new GrpcKmsClient({ kind: 'kms', name: 'vault', socket, timeoutMs }, metrics);
  const provider = new KmsProvider({
    ...{ name: 'vault', client, metrics },
    now: () => clock.ms,
    onRecovery: () => recovered.push(clock.ms),
  });
  const rules = new ProviderRules(
    [{ resources: ['secrets'], providers: [{ kind: 'kms', name: 'vault', socket, timeoutMs }] }],
    () => provider,
  );
  return {
    clock,
    provider,
    recovered,
    encryption: new Encryption(rules, metrics),
    metrics: samplesOf(metrics),
    [Symbol.dispose]: () => provider.close(),
  };
}

const AT_ONCE = { well: 0, unwell: 0 };

test('the plugin is asked once for each of its keys, however much is written and read', async () => {
  const socket = newSocket();
  await using plugin = await KmsPlugin.start(socket, 'first');
  using writer = serverOf(socket);
  using reader = serverOf(socket);
  const written = [];
  for (let n = 0; n < 20; n += 1) written.push(await writer.encryption.encode(KEY, PLAIN));
  expect(written[0]?.mediaType).toBe('application/x-encrypted; provider=kms; plugin="vault"; key="first"');
  expect(new Set(written.map(({ bytes }) => bytes.toString('hex'))).size).toBe(20);
  for (const one of written) expect(writer.encryption.decode(KEY, one)).toEqual(PLAIN);
  const read = await Promise.all(written.map((one) => reader.encryption.decode(KEY, one)));
  expect(read).toEqual(written.map(() => PLAIN));
  expect(await plugin.calls()).toEqual({ Status: 1, Encrypt: 1, Decrypt: 1 });
});

test('what is moved to another object, or changed, is refused', async () => {
  const socket = newSocket();
  await using _plugin = await KmsPlugin.start(socket, 'first');
  using server = serverOf(socket);
  const encoded = await server.encryption.encode(KEY, PLAIN);
  expect(() => server.encryption.decode({ ...KEY, name: 'b' }, encoded)).toThrow('belong to another object');
  const changed = Buffer.from(encoded.bytes);
  changed.writeUInt8(changed.readUInt8(60) ^ 1, 60);
  expect(() => server.encryption.decode(KEY, { ...encoded, bytes: changed })).toThrow();
  expect(() => server.encryption.decode(KEY, { ...encoded, bytes: Buffer.from([1, 2]) })).toThrow();
});

test('a new key of the plugin writes from the next question on, and makes what was written before outdated', async () => {
  const socket = newSocket();
  await using plugin = await KmsPlugin.start(socket, 'first');
  using server = serverOf(socket);
  const before = await server.encryption.encode(KEY, PLAIN);
  expect(server.encryption.formOf(SECRETS, JSON_MEDIA_TYPE)).toBe(before.mediaType);
  await plugin.tell('key second');
  await server.provider.refresh();
  const after = await server.encryption.encode(KEY, PLAIN);
  expect(parseForm(after.mediaType).key).toBe('second');
  expect(server.encryption.formOf(SECRETS, JSON_MEDIA_TYPE)).toBe(after.mediaType);
  expect(server.encryption.decode(KEY, before)).toEqual(PLAIN);
});

test('without its plugin a server reads what it knows and writes for three minutes; then it says what is wrong, until the plugin is back', async () => {
  const socket = newSocket();
  const plugin = await KmsPlugin.start(socket, 'first');
  using server = serverOf(socket);
  const encoded = await server.encryption.encode(KEY, PLAIN);
  await plugin.kill();
  await expect(server.provider.assertWell(AT_ONCE)).rejects.toThrow('the KMS plugin vault does not status');
  expect(server.encryption.decode(KEY, encoded)).toEqual(PLAIN);
  expect(await server.encryption.encode(KEY, PLAIN)).toMatchObject({ mediaType: encoded.mediaType });
  server.clock.ms += 3 * 60_000;
  await expect(server.encryption.encode(KEY, PLAIN)).rejects.toThrow('the KMS plugin vault does not status');
  expect(server.encryption.decode(KEY, encoded)).toEqual(PLAIN);
  using other = serverOf(socket);
  await expect(other.encryption.decode(KEY, encoded)).rejects.toThrow(
    'the KMS plugin vault does not decrypt',
  );
  const sealer = createKeySealer(other.encryption);
  await expect(sealer.seal('authority', 'PEM')).rejects.toThrow('the KMS plugin vault');
  await using _again = await KmsPlugin.start(socket, 'first');
  await expect
    .poll(() => server.provider.assertWell(AT_ONCE).then(() => 'well', String), { timeout: 60_000 })
    .toBe('well');
  expect(server.recovered).toHaveLength(1);
  expect(await server.encryption.encode(KEY, PLAIN)).toMatchObject({ mediaType: encoded.mediaType });
});

test('a slow plugin is given up after its time, and not asked again by everybody who waits', async () => {
  const socket = newSocket();
  await using plugin = await KmsPlugin.start(socket, 'first');
  using writer = serverOf(socket);
  const encoded = await writer.encryption.encode(KEY, PLAIN);
  await plugin.tell('delay 60000');
  using reader = serverOf(socket, 200);
  const begunMs = performance.now();
  await expect(reader.encryption.decode(KEY, encoded)).rejects.toThrow(/vault does not decrypt.*DEADLINE/);
  await expect(reader.encryption.decode(KEY, encoded)).rejects.toThrow(/DEADLINE/);
  expect(performance.now() - begunMs).toBeLessThan(5000);
  expect((await plugin.calls()).Decrypt).toBe(1);
  await plugin.tell('delay 0');
  reader.clock.ms += 1000;
  expect(await reader.encryption.decode(KEY, encoded)).toEqual(PLAIN);
});

test('a plugin that says that it is not well is believed, and its word is in the health check', async () => {
  const socket = newSocket();
  await using plugin = await KmsPlugin.start(socket, 'first');
  using server = serverOf(socket);
  await server.provider.assertWell(AT_ONCE);
  await plugin.tell('unwell sealed');
  await server.provider.assertWell({ well: 20_000, unwell: 3000 });
  server.clock.ms += 20_000;
  const check = (): Promise<void> => server.provider.assertWell({ well: 20_000, unwell: 3000 });
  await expect(check()).rejects.toThrow(
    'kmsv2 Provider vault is not healthy, error: got unexpected healthz status: sealed',
  );
  await plugin.tell('well');
  await expect(check()).rejects.toThrow('sealed');
  server.clock.ms += 3000;
  await check();
});

test('keys of the cluster are sealed by the plugin too', async () => {
  const socket = newSocket();
  await using _plugin = await KmsPlugin.start(socket, 'first');
  using server = serverOf(socket);
  const sealer = createKeySealer(server.encryption);
  expect(sealer.isOutdated('PEM')).toBe(false);
  await server.provider.refresh();
  expect(sealer.isOutdated('PEM')).toBe(true);
  const stored = await sealer.seal('authority', 'PEM');
  expect(stored).toContain('plugin="vault"; key="first"');
  using other = serverOf(socket);
  expect(await createKeySealer(other.encryption).open('authority', stored)).toBe('PEM');
});

test('the metrics say how often which key was used, what calls to the plugin came to, and which of its keys are none', async () => {
  const hash = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`;
  const socket = newSocket();
  await using plugin = await KmsPlugin.start(socket, 'first');
  using writer = serverOf(socket);
  using reader = serverOf(socket);
  const encoded = await writer.encryption.encode(KEY, PLAIN);
  await writer.encryption.encode(KEY, PLAIN);
  await reader.encryption.decode(KEY, encoded);
  await reader.encryption.decode(KEY, encoded);
  const used = (direction: string) => ({
    transformation_type: direction,
    provider_name: 'vault',
    key_id_hash: hash('first'),
    apiserver_id_hash: hash('server'),
  });
  const { transformation_type: _, ...reported } = used('');
  const envelope = 'apiserver_envelope_encryption_';
  expect(writer.metrics(`${envelope}key_id_hash_total`)).toEqual([[used('to_storage'), 2]]);
  expect(writer.metrics(`${envelope}key_id_hash_last_timestamp_seconds`)).toEqual([
    [used('to_storage'), 1000],
  ]);
  expect(writer.metrics(`${envelope}key_id_hash_status_last_timestamp_seconds`)).toEqual([[reported, 1000]]);
  expect(writer.metrics('apiserver_storage_data_key_generation_duration_seconds_count')).toEqual([[{}, 1]]);
  expect(reader.metrics(`${envelope}key_id_hash_total`)).toEqual([[used('from_storage'), 2]]);
  expect(reader.metrics('apiserver_storage_envelope_transformation_cache_misses_total')).toEqual([[{}, 1]]);
  expect(reader.metrics(`${envelope}dek_source_cache_size`)).toEqual([[{ provider_name: 'vault' }, 1]]);
  expect(reader.metrics('apiserver_storage_transformation_operations_total')).toEqual([
    [
      {
        transformation_type: 'from_storage',
        transformer_prefix: 'k8s:enc:kms:v2:vault:',
        status: 'OK',
      },
      2,
    ],
  ]);
  await plugin.tell('key ');
  await writer.provider.refresh();
  expect(writer.metrics(`${envelope}invalid_key_id_from_status_total`)).toEqual([
    [{ provider_name: 'vault', error: 'empty' }, 1],
  ]);
  await plugin.kill();
  using late = serverOf(socket);
  await expect(late.encryption.decode(KEY, encoded)).rejects.toThrow('does not decrypt');
  const [[labels] = []] = late.metrics(`${envelope}kms_operations_latency_seconds_count`);
  expect(labels).toEqual({
    provider_name: 'vault',
    method_name: '/v2.KeyManagementService/Decrypt',
    grpc_status_code: 'Unavailable',
  });
  const [, failed] = late.metrics('apiserver_storage_transformation_operations_total');
  expect(failed).toMatchObject([{ status: 'Unavailable' }, 1]);
});

test('a server reads its own writes back without decrypting them, with other writes in between', async () => {
  const socket = newSocket();
  await using _plugin = await KmsPlugin.start(socket, 'first');
  using server = serverOf(socket);
  await server.provider.refresh();
  const codec = new StoredCodec([server.encryption]);
  const writes = Array.from({ length: 50 }, (_, n) => {
    const key = { ...KEY, name: `s${n}` };
    const encoded = codec.encode({ verb: 'create', key, json: PLAIN.bytes } as unknown as Write) as Write;
    return { key, encoded: encoded.encoded };
  });
  for (const one of writes)
    expect(codec.decode(one as unknown as StoredObject)).toMatchObject({ json: PLAIN.bytes });
  const read = server
    .metrics('apiserver_storage_transformation_operations_total')
    .filter(([labels]) => labels.transformation_type === 'from_storage');
  expect(read).toEqual([]);
});

test('a plugin that decrypts wrongly once makes nothing unreadable for longer than that', async () => {
  const socket = newSocket();
  await using _plugin = await KmsPlugin.start(socket, 'first');
  using writer = serverOf(socket);
  const written = [await writer.encryption.encode(KEY, PLAIN), await writer.encryption.encode(KEY, PLAIN)];
  const client = new GrpcKmsClient({ kind: 'kms', name: 'vault', socket, timeoutMs: 2000 });
  const wrong = [Buffer.alloc(32, 1), Buffer.alloc(0), Buffer.alloc(31)];
  let asked = 0;
  const clock = { ms: 1_000_000 };
  const provider = new KmsProvider({
    name: 'vault',
    now: () => clock.ms,
    client: {
      status: () => client.status(),
      encrypt: (plain) => client.encrypt(plain),
      decrypt: async (seed) => {
        asked += 1;
        return wrong.shift() ?? client.decrypt(seed);
      },
      close: () => client.close(),
    },
  });
  const config = { kind: 'kms', name: 'vault', socket, timeoutMs: 2000 } as const;
  const rules = new ProviderRules([{ resources: ['secrets'], providers: [config] }], () => provider);
  const reader = new Encryption(rules, new EncryptionMetrics());
  const read = async (one: (typeof written)[number]): Promise<unknown> => reader.decode(KEY, one);
  const [first, second] = written;
  if (first === undefined || second === undefined) throw new Error('nothing was written');
  await expect(read(first)).rejects.toThrow('cannot be decrypted');
  for (const length of [0, 31]) {
    await expect(read(first)).rejects.toThrow(`decrypts a seed into ${length} bytes`);
    clock.ms += 2000;
  }
  expect([await read(first), await read(second), await read(first)]).toEqual([PLAIN, PLAIN, PLAIN]);
  expect(asked).toBe(4);
  provider.close();
});

test('of what a plugin says about itself an error shows no more than a thousand letters', async () => {
  const status = { version: 'v2', healthz: 'x'.repeat(1_000_000), keyId: 'first' };
  const refuse = () => Promise.reject(new Error('it is not well'));
  const client = { status: async () => status, encrypt: refuse, decrypt: refuse, close: () => {} };
  const provider = new KmsProvider({ name: 'vault', client });
  const said = await provider.assertWell(AT_ONCE).catch((error: Error) => error.message);
  expect(said).toContain('got unexpected healthz status: xxx');
  expect(String(said).length).toBeLessThan(2000);
});
