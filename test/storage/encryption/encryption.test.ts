import { expect, test } from 'vitest';
import { Encryption, ProviderRules } from '../../../src/storage/encryption/encryption.ts';
import type { ProviderConfig } from '../../../src/storage/encryption/encryption-config.ts';
import { EncryptionMetrics } from '../../../src/storage/encryption/encryption-metrics.ts';
import { formatForm, parseForm } from '../../../src/storage/encryption/media-type.ts';
import { createKeySealer } from '../../../src/storage/key-sealer.ts';
import { JSON_MEDIA_TYPE } from '../../../src/storage/object-encoding.ts';
import type { EncodedBytes } from '../../../src/storage/revision-log.ts';
import { samplesOf } from '../../kit/encryption-samples.ts';

const JSON_BYTES: EncodedBytes = { bytes: Buffer.from('{"kind":"Secret"}'), mediaType: JSON_MEDIA_TYPE };
const SECRETS = { group: '', resource: 'secrets' };
const KEY = { ...SECRETS, namespace: 'default', name: 'a' };
const IDENTITY: ProviderConfig = { kind: 'identity' };

const keyed = (kind: 'aescbc' | 'aesgcm' | 'secretbox', ...names: readonly string[]): ProviderConfig => ({
  kind,
  keys: names.map((name) => ({ name, secret: Buffer.alloc(32, name) })),
});

const rulesOf = (rules: Readonly<Record<string, readonly ProviderConfig[]>>): ProviderRules =>
  new ProviderRules(
    Object.entries(rules).map(([resource, providers]) => ({ resources: [resource], providers })),
    () => {
      throw new Error('no plugin is expected');
    },
  );

const encryptionOf = (...providers: readonly ProviderConfig[]): Encryption =>
  new Encryption(rulesOf({ secrets: providers }));

test('the first provider writes and all read, in every later order', async () => {
  const all = [keyed('aescbc', 'one', 'two'), keyed('aesgcm', 'one'), keyed('secretbox', 'one'), IDENTITY];
  const written = await Promise.all(all.map((one) => encryptionOf(one).encode(KEY, JSON_BYTES)));
  expect(written.map(({ mediaType }) => mediaType)).toEqual([
    'application/x-encrypted; provider=aescbc; key="one"',
    'application/x-encrypted; provider=aesgcm; key="one"',
    'application/x-encrypted; provider=secretbox; key="one"',
    JSON_MEDIA_TYPE,
  ]);
  const reader = encryptionOf(...[...all].reverse());
  for (const encoded of written.slice(0, 3)) expect(await reader.decode(KEY, encoded)).toEqual(JSON_BYTES);
});

test('a value is read in its own row alone, and what is encrypted in another form comes back in it', async () => {
  const encryption = encryptionOf(keyed('aesgcm', 'one'));
  const yaml = { bytes: Buffer.from('kind: Secret'), mediaType: 'application/yaml' };
  const encoded = await encryption.encode(KEY, yaml);
  expect(parseForm(encoded.mediaType).of).toBe('application/yaml');
  expect(await encryption.decode(KEY, encoded)).toEqual(yaml);
  for (const other of [{ name: 'b' }, { namespace: 'other' }])
    expect(() => encryption.decode({ ...KEY, ...other }, encoded)).toThrow('belong to another object');
  // What it is, is sealed as well.
  const renamed = {
    ...encoded,
    mediaType: formatForm({ provider: 'aesgcm', key: 'one', of: JSON_MEDIA_TYPE }),
  };
  expect(() => encryption.decode(KEY, renamed)).toThrow('cannot be decrypted');
});

test('a key that is gone, or another one of its name, is named', async () => {
  const encoded = await encryptionOf(keyed('aescbc', 'one')).encode(KEY, JSON_BYTES);
  expect(() => encryptionOf(keyed('aescbc', 'two')).decode(KEY, encoded)).toThrow(
    'it is encrypted by the key "one" of aescbc, which is not configured for secrets',
  );
  const other: ProviderConfig = { kind: 'aescbc', keys: [{ name: 'one', secret: Buffer.alloc(32, 9) }] };
  expect(() => encryptionOf(other).decode(KEY, encoded)).toThrow('with the key "one" of aescbc');
});

test('several keys of one name are all tried', async () => {
  const encoded = await encryptionOf(keyed('secretbox', 'one')).encode(KEY, JSON_BYTES);
  const twice: ProviderConfig = {
    kind: 'secretbox',
    keys: [9, 'one'].map((fill) => ({ name: 'one', secret: Buffer.alloc(32, fill) })),
  };
  expect(await encryptionOf(twice).decode(KEY, encoded)).toEqual(JSON_BYTES);
});

test('the most particular rule counts: the resource, its group, everything', () => {
  const encryption = new Encryption(
    rulesOf({
      'widgets.example.com': [keyed('aesgcm', 'widgets')],
      '*.example.com': [keyed('aesgcm', 'group')],
      '*.': [keyed('aesgcm', 'core')],
      '*.*': [keyed('aesgcm', 'rest')],
    }),
  );
  const keyOf = (group: string, resource: string): string =>
    parseForm(encryption.formOf({ group, resource }, JSON_MEDIA_TYPE) ?? '').key;
  expect(keyOf('example.com', 'widgets')).toBe('widgets');
  expect(keyOf('example.com', 'gadgets')).toBe('group');
  expect(keyOf('', 'pods')).toBe('core');
  expect(keyOf('apps', 'deployments')).toBe('rest');
});

test('what is not named is stored as it is, and a resource that two rules name is written by the first and read by both', async () => {
  const encryption = new Encryption(
    new ProviderRules(
      [
        { resources: ['secrets'], providers: [keyed('aesgcm', 'one')] },
        { resources: ['secrets'], providers: [keyed('aescbc', 'two'), IDENTITY] },
      ],
      () => {
        throw new Error('no plugin is expected');
      },
    ),
  );
  const pod = { ...KEY, resource: 'pods' };
  expect(encryption.encode(pod, JSON_BYTES)).toBe(JSON_BYTES);
  expect(encryption.refuses(pod)).toBeUndefined();
  expect(encryption.refuses(SECRETS)).toBeUndefined();
  const encoded = await encryptionOf(keyed('aescbc', 'two')).encode(KEY, JSON_BYTES);
  expect(await encryption.decode(KEY, encoded)).toEqual(JSON_BYTES);
  expect((await encryption.encode(KEY, JSON_BYTES)).mediaType).toContain('"one"');
});

test('plain values are refused where identity is not among the providers', () => {
  expect(encryptionOf(keyed('aesgcm', 'one')).refuses(SECRETS)).toContain(
    'identity is not among the providers of secrets',
  );
  expect(encryptionOf(keyed('aesgcm', 'one'), IDENTITY).refuses(SECRETS)).toBeUndefined();
});

test('names of keys may have anything in them', () => {
  for (const key of ['a"; of="x', '\\', 'Schlüssel', '; provider=x']) {
    const form = { provider: 'aescbc', key, of: 'application/yaml' };
    expect(parseForm(formatForm(form))).toEqual(form);
  }
  expect(() => parseForm('application/x-encrypted; provider')).toThrow('malformed');
  expect(() => parseForm('application/x-encrypted; provider=aescbc')).toThrow('lacks');
});

test('keys of the cluster are sealed as Secrets are, under their names, and read as they are where they are plain', async () => {
  const sealer = createKeySealer(encryptionOf(keyed('aesgcm', 'one')));
  const stored = await sealer.seal('authority', 'PEM');
  expect(stored).toMatch(
    /^encrypted as application\/x-encrypted; provider=aesgcm; key="one"\n[A-Za-z0-9+/]+=*\n$/,
  );
  expect(await sealer.open('authority', stored)).toBe('PEM');
  expect(await sealer.open('authority', 'PEM')).toBe('PEM');
  await expect(sealer.open('service-account', stored)).rejects.toThrow(
    'the key service-account in the database cannot be read',
  );
  await expect(createKeySealer(undefined).open('authority', stored)).rejects.toThrow(
    '--encryption-provider-config',
  );
  expect([sealer.isOutdated(stored), sealer.isOutdated('PEM')]).toEqual([false, true]);
  const next = createKeySealer(encryptionOf(keyed('aesgcm', 'two', 'one')));
  expect(next.isOutdated(stored)).toBe(true);
  expect(await next.open('authority', stored)).toBe('PEM');
});

test('each transformation is counted by its provider and outcome, and takes time only if it succeeds', () => {
  const metrics = new EncryptionMetrics();
  const samples = samplesOf(metrics);
  const encryption = new Encryption(rulesOf({ secrets: [keyed('aescbc', 'one'), IDENTITY] }), metrics);
  const encoded = encryption.encode(KEY, JSON_BYTES) as EncodedBytes;
  encryption.decode(KEY, encoded);
  expect(() => encryption.decode({ ...KEY, name: 'b' }, encoded)).toThrow();
  const foreign = encryptionOf(keyed('aesgcm', 'other')).encode(KEY, JSON_BYTES) as EncodedBytes;
  expect(() => encryption.decode(KEY, foreign)).toThrow('not configured');
  const counted = (transformation_type: string, transformer_prefix: string, status: string) => [
    { transformation_type, transformer_prefix, status },
    1,
  ];
  const prefix = 'k8s:enc:aescbc:v1:';
  expect(samples('apiserver_storage_transformation_operations_total')).toEqual([
    counted('to_storage', prefix, 'OK'),
    counted('from_storage', prefix, 'OK'),
    counted('from_storage', prefix, 'unknown-non-grpc'),
    counted('from_storage', 'unknown', 'unknown-non-grpc'),
  ]);
  expect(samples('apiserver_storage_transformation_duration_seconds_count')).toEqual([
    [{ transformation_type: 'to_storage', transformer_prefix: prefix }, 1],
    [{ transformation_type: 'from_storage', transformer_prefix: prefix }, 1],
  ]);
});
