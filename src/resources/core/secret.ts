import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { Secret } from '../../api/types/core/v1.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { type PemBlock, pemBlocks, toPem } from '../../x509/pem.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { checked, checkedUpdate } from '../rules/checked.ts';
import { mustNotChange } from '../rules/immutable.ts';
import { goJsonError } from './go-json-error.ts';
import { decodedBytes, MAX_DATA_BYTES, mustBeDataKey, mustKeepData } from './keyed-data.ts';

export const secrets = define<Secret>({
  group: '',
  resource: 'secrets',
  quotaName: 'secrets',
  kind: 'Secret',
  namespaced: true,
  versions: [{ version: 'v1', type: 'core/v1.Secret' }],
  table: {
    columns: [nameColumn(), column('Type'), column('Data'), column('Age')],
    cells: (secret, now) => [
      secret.metadata.name ?? '',
      secret.type ?? '',
      Object.keys(secret.data ?? {}).length,
      age(secret, now),
    ],
  },
  fields: {
    paths: {
      type: ['type'],
    },
  },
  strategy: {
    defaults: keepTextAsData,
    validate: checked(validate),
    validateUpdate: checkedUpdate((at, secret, old) => {
      mustKeepData(at, secret, old);
      mustNotChange(at.field('type'), secret.type, old.type);
    }),
    warnings: ({ type, data = {} }) =>
      type === 'kubernetes.io/tls' ? checkKeyPair(decoded(data['tls.crt']), decoded(data['tls.key'])) : [],
  },
});

/** Text given as stringData is stored as data, over data of the same key. */
function keepTextAsData(secret: Secret): void {
  const texts = Object.entries(secret.stringData ?? {});
  if (texts.length > 0)
    secret.data = {
      ...secret.data,
      ...Object.fromEntries(texts.map(([key, text]) => [key, Buffer.from(text).toString('base64')])),
    };
  delete secret.stringData;
}

const decoded = (base64 = ''): Buffer => Buffer.from(base64, 'base64');

function validate(at: FieldPath, secret: Secret): void {
  const path = at.field('data');
  let sizeBytes = 0;
  for (const [key, value] of Object.entries(secret.data ?? {})) {
    mustBeDataKey(path, key);
    sizeBytes += decodedBytes(value);
  }
  if (sizeBytes > MAX_DATA_BYTES) path.tooLong(MAX_DATA_BYTES);
  validateType(at, secret);
}

const ACCOUNT_ANNOTATION = 'kubernetes.io/service-account.name';

/** The keys that a secret of each known type must hold. */
function validateType(root: FieldPath, { type, metadata: { annotations }, data = {} }: Secret): void {
  const at = root.field('data');
  switch (type) {
    case 'kubernetes.io/service-account-token':
      if ((annotations?.[ACCOUNT_ANNOTATION] ?? '') === '')
        root.field('metadata').field('annotations').item(ACCOUNT_ANNOTATION).required();
      return;
    case 'kubernetes.io/dockercfg':
      mustBeJson(at.item('.dockercfg'), data['.dockercfg']);
      return;
    case 'kubernetes.io/dockerconfigjson':
      mustBeJson(at.item('.dockerconfigjson'), data['.dockerconfigjson']);
      return;
    case 'kubernetes.io/basic-auth':
      if (data.username === undefined && data.password === undefined) {
        at.item('username').required();
        at.item('password').required();
      }
      return;
    case 'kubernetes.io/ssh-auth':
      if ((data['ssh-privatekey'] ?? '') === '') at.item('ssh-privatekey').required();
      return;
    case 'kubernetes.io/tls':
      for (const key of ['tls.crt', 'tls.key']) if (data[key] === undefined) at.item(key).required();
      return;
  }
}

function mustBeJson(at: FieldPath, base64: string | undefined): void {
  if (base64 === undefined) {
    at.required();
    return;
  }
  const error = goJsonError(decoded(base64).toString(), 'object', 'map[string]interface {}');
  if (error !== undefined) at.invalid('<secret contents redacted>', error);
}

/** Why a certificate and a key, both in PEM, do not belong together; empty when they do. The texts are those of crypto/tls. */
function checkKeyPair(certificate: Buffer, key: Buffer): string[] {
  const chain = blocksOf(certificate);
  const leaf = chain.find(({ type }) => type === 'CERTIFICATE');
  if (leaf === undefined) return [`tls: failed to find ${whyNoCertificate(chain)}`];
  const keys = blocksOf(key);
  const own = keys.find(({ type }) => type === 'PRIVATE KEY' || type.endsWith(' PRIVATE KEY'));
  if (own === undefined) return [`tls: ${whyNoKey(keys)}`];
  const parsed = orUndefined(() => new X509Certificate(leaf.der));
  if (parsed === undefined) return ['x509: malformed certificate'];
  const secret = orUndefined(() => createPrivateKey(toPem(own.type, own.der)));
  if (secret === undefined) return ['tls: failed to parse private key'];
  return parsed.checkPrivateKey(secret) ? [] : ['tls: private key does not match public key'];
}

const blocksOf = (pem: Buffer): PemBlock[] => [...pemBlocks(pem.toString('latin1'))];

const listTypes = (blocks: readonly PemBlock[]): string => `[${blocks.map(({ type }) => type).join(' ')}]`;

function whyNoCertificate(skipped: readonly PemBlock[]): string {
  const [first] = skipped;
  if (first === undefined) return 'any PEM data in certificate input';
  return skipped.length === 1 && first.type.endsWith('PRIVATE KEY')
    ? 'certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched'
    : `"CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: ${listTypes(skipped)}`;
}

function whyNoKey(skipped: readonly PemBlock[]): string {
  const [first] = skipped;
  if (first === undefined) return 'failed to find any PEM data in key input';
  return skipped.length === 1 && first.type === 'CERTIFICATE'
    ? 'found a certificate rather than a key in the PEM for the private key'
    : `failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: ${listTypes(skipped)}`;
}

function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
