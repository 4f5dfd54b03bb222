import { expect, test } from 'vitest';
import { parseEncryptionConfig } from '../../../src/storage/encryption/encryption-config.ts';

const SECRET = Buffer.alloc(32, 1).toString('base64');
const KEYS = { keys: [{ name: 'one', secret: SECRET }] };
const KMS = { apiVersion: 'v2', name: 'vault', endpoint: 'unix:///run/kms.sock' };

interface Rule {
  readonly resources?: unknown;
  readonly providers?: unknown;
}

const textOf = (...resources: readonly Rule[]): string =>
  JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration', resources });

const withProviders = (...providers: readonly unknown[]): string =>
  textOf({ resources: ['secrets'], providers });
const withResources = (...resources: readonly string[]): string =>
  textOf({ resources, providers: [{ identity: {} }] });

test('every kind of provider is read, in YAML and in both dialects', () => {
  const yaml = `
apiVersion: apiserver.config.cluster.io/v1
kind: EncryptionConfiguration
resources:
- resources: [secrets, configmaps]
  providers:
  - aescbc: {keys: [{name: one, secret: ${SECRET}}]}
  - secretbox: {keys: [{name: two, secret: ${SECRET}}]}
  - kms: {apiVersion: v2, name: vault, endpoint: "unix:///run/kms.sock", timeout: 1s500ms}
  - identity: {}
- resources: ['*.*']
  providers:
  - aesgcm: {keys: [{name: three, secret: ${SECRET}}]}
`;
  const secret = Buffer.alloc(32, 1);
  expect(parseEncryptionConfig(yaml)).toEqual([
    {
      resources: ['secrets', 'configmaps'],
      providers: [
        { kind: 'aescbc', keys: [{ name: 'one', secret }] },
        { kind: 'secretbox', keys: [{ name: 'two', secret }] },
        { kind: 'kms', name: 'vault', socket: '/run/kms.sock', timeoutMs: 1500 },
        { kind: 'identity' },
      ],
    },
    { resources: ['*.*'], providers: [{ kind: 'aesgcm', keys: [{ name: 'three', secret }] }] },
  ]);
});

test('by default a KMS plugin has three seconds, and it may listen on an abstract socket', () => {
  const [rule] = parseEncryptionConfig(withProviders({ kms: { ...KMS, endpoint: 'unix:///@kms' } }));
  expect(rule?.providers).toEqual([{ kind: 'kms', name: 'vault', socket: '\0kms', timeoutMs: 3000 }]);
});

const P = 'resources[0].providers[0]';

test.each([
  ['', 'encryption configuration: the file is empty'],
  [textOf(), 'resources: Required value: at least one resources is required'],
  [
    textOf({ resources: [], providers: [] }),
    'resources[0].resources: Required value: at least one resources[0].resources is required',
  ],
  [
    textOf({ resources: ['secrets'] }),
    'resources[0].providers: Required value: at least one resources[0].providers is required',
  ],
  ['{"kind":"Pod"}', 'kind: Unsupported value: "Pod": supported values: "EncryptionConfiguration"'],
  [
    withProviders({}),
    'provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity',
  ],
  [
    withProviders({ aescbc: KEYS, identity: {} }),
    'more than one provider specified in a single element, should split into different list elements',
  ],
  [withProviders({ rot13: {} }), `${P}.rot13: unknown field`],
  [withProviders({ aescbc: {} }), `${P}.aescbc.keys: Required value: at least one keys is required`],
  [
    withProviders({ aesgcm: { keys: [{ secret: SECRET }] } }),
    `${P}.aesgcm.keys[0].name: Required value: name is a mandatory field for a key`,
  ],
  [
    withProviders({ aesgcm: { keys: [{ name: 'a' }] } }),
    `${P}.aesgcm.keys[0].secret: Required value: secret is a mandatory field for a key`,
  ],
  [
    withProviders({ aesgcm: { keys: [{ name: 'a', secret: 'not base64!' }] } }),
    `${P}.aesgcm.keys[0].secret: Invalid value: "REDACTED": secrets must be base64 encoded`,
  ],
  [
    withProviders({ aescbc: { keys: [{ name: 'a', secret: 'aGVsbG8=' }] } }),
    `${P}.aescbc.keys[0].secret: Invalid value: "REDACTED": secret is not of the expected length, got 5, expected one of [16 24 32]`,
  ],
  [
    withProviders({ secretbox: { keys: [{ name: 'a', secret: Buffer.alloc(16).toString('base64') }] } }),
    'got 16, expected one of [32]',
  ],
  [withProviders({ kms: { ...KMS, apiVersion: 'v1' } }), 'KMS v1 is deprecated and not served here'],
  [withProviders({ kms: { ...KMS, apiVersion: undefined } }), 'KMS v1 is deprecated and not served here'],
  [
    withProviders({ kms: { ...KMS, apiVersion: 'v3' } }),
    'unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are supported',
  ],
  [
    withProviders({ kms: { ...KMS, name: '' } }),
    `${P}.kms.name: Required value: name is a mandatory field for a provider`,
  ],
  [withProviders({ kms: { ...KMS, name: 'a:b' } }), `invalid KMS provider name a:b, must not contain ':'`],
  [withProviders({ kms: KMS }, { kms: KMS }), 'duplicate KMS provider name vault, names must be unique'],
  [withProviders({ kms: { ...KMS, timeout: '0s' } }), 'timeout should be a positive value'],
  [withProviders({ kms: { ...KMS, cachesize: 5 } }), 'cachesize is not supported in v2'],
  [withProviders({ kms: { ...KMS, endpoint: '' } }), 'endpoint is a mandatory field for a kms'],
  [
    withProviders({ kms: { ...KMS, endpoint: 'http://localhost' } }),
    'unsupported scheme "http" for KMS provider, only unix is supported',
  ],
  [withResources('secrets', 'secrets'), 'the same resource cannot be specified multiple times'],
  [
    withResources('secrets', '*.'),
    "using overlapping resources such as 'secrets' and '*.' in the same resource list",
  ],
  [withResources('widgets.example.com', '*.*'), 'using overlapping resources'],
  [
    withResources('Secrets'),
    'resources[0].resources[0]: Invalid value: "Secrets": resource name should not contain capital letters',
  ],
  [
    withResources('*'),
    "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources",
  ],
  [withResources('apiserveripinfo'), 'resources which do not have REST API/s cannot be encrypted'],
  [withResources('events.events.k8s.io'), "Use 'events' instead in the config file"],
  [
    withResources('ingresses.extensions'),
    "'extensions' group has been removed and cannot be used for encryption",
  ],
  [withResources('secrets.*'), 'encrypting the same resource across groups is not supported'],
  [
    textOf(
      { resources: ['*.apps'], providers: [{ identity: {} }] },
      { resources: ['deployments.apps'], providers: [{ identity: {} }] },
    ),
    'resource "deployments.apps" is masked by earlier rule "*.apps"',
  ],
  [
    textOf(
      { resources: ['*.*'], providers: [{ identity: {} }] },
      { resources: ['secrets'], providers: [{ identity: {} }] },
    ),
    'resource "secrets" is masked by earlier rule "*.*"',
  ],
])('%s is refused', (text, message) => {
  expect(() => parseEncryptionConfig(text)).toThrow(message);
});

test('a file with faults shows none of its keys', () => {
  const text = withProviders(
    { aescbc: { ...KEYS, extra: SECRET }, identity: {} },
    { secretbox: { keys: [{ name: 1, secret: `${SECRET}x` }] } },
  );
  expect(() => parseEncryptionConfig(text)).toThrow(
    expect.objectContaining({ message: expect.not.stringContaining(SECRET.slice(0, 12)) }),
  );
});
