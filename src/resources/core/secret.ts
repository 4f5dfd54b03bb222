import type { Secret } from '../../api/types/core/v1.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { checked, checkedUpdate } from '../rules/checked.ts';
import { mustNotChange } from '../rules/immutable.ts';
import { goJsonError } from './go-json-error.ts';
import { checkKeyPair } from './key-pair.ts';
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

/** What each known type must hold. */
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
