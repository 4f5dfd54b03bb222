import type { ApiObject } from '../../api/object-meta.ts';
import { invalidValue } from '../../object/field-errors.ts';
import { part, text } from '../../object/parts.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { validateImmutableData } from './immutable-data.ts';
import { checkKeyPair } from './key-pair.ts';
import { validateSecret } from './validate-secret.ts';

/** Secrets: text given as stringData is kept as data. */
export const secrets = define({
  group: '',
  resource: 'secrets',
  kind: 'Secret',
  namespaced: true,
  versions: [{ version: 'v1', type: 'core/v1.Secret' }],
  table: {
    columns: [nameColumn(), column('Type'), column('Data'), column('Age')],
    cells: (secret, now) => [
      secret.metadata.name ?? '',
      text(secret.type),
      Object.keys(part(secret, 'data')).length,
      age(secret, now),
    ],
  },
  fields: {
    paths: {
      type: ['type'],
    },
  },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    defaults: (secret) => {
      const given = part(secret, 'stringData');
      for (const [key, value] of Object.entries(given)) {
        secret.data = { ...part(secret, 'data'), [key]: Buffer.from(text(value)).toString('base64') };
      }
      delete secret.stringData;
    },
    validate: validateSecret,
    validateUpdate: (object, old) => [
      ...validateImmutableData(object, old, ['data']),
      ...(object.type === old.type ? [] : [invalidValue('type', object.type, 'field is immutable')]),
    ],
    warnings: (secret) => (secret.type === 'kubernetes.io/tls' ? checkKeyPair(...keyPair(secret)) : []),
  },
});

function keyPair(secret: ApiObject): [Buffer, Buffer] {
  const data = part(secret, 'data');
  return [Buffer.from(text(data['tls.crt']), 'base64'), Buffer.from(text(data['tls.key']), 'base64')];
}
