import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { eachInvalid, invalidValue, required, tooLong } from '../../object/field-errors.ts';
import { checkConfigMapKey } from '../../object/formats.ts';
import { part, text } from '../../object/parts.ts';
import { decodedBytes, MAX_DATA_BYTES } from './data-size.ts';
import { goJsonError } from './go-json-error.ts';

const ACCOUNT_ANNOTATION = 'kubernetes.io/service-account.name';

export function validateSecret(secret: ApiObject): FieldError[] {
  const data = part(secret, 'data');
  const errors = Object.keys(data).flatMap((key) => eachInvalid(`data[${key}]`, key, checkConfigMapKey(key)));
  const sizeBytes = Object.values(data).reduce<number>((sum, value) => sum + decodedBytes(value), 0);
  return [
    ...errors,
    ...(sizeBytes > MAX_DATA_BYTES ? [tooLong('data', MAX_DATA_BYTES)] : []),
    ...validateType(secret, data),
  ];
}

/** What each known type must hold. */
function validateType({ type, metadata }: ApiObject, data: JsonObject): FieldError[] {
  switch (type) {
    case 'kubernetes.io/service-account-token':
      return (metadata.annotations?.[ACCOUNT_ANNOTATION] ?? '') === ''
        ? [required(`metadata.annotations[${ACCOUNT_ANNOTATION}]`)]
        : [];
    case 'kubernetes.io/dockercfg':
      return validateJson(data, '.dockercfg');
    case 'kubernetes.io/dockerconfigjson':
      return validateJson(data, '.dockerconfigjson');
    case 'kubernetes.io/basic-auth':
      return ['username', 'password'].some((key) => has(data, key))
        ? []
        : requireKeys(data, ['username', 'password']);
    case 'kubernetes.io/ssh-auth':
      return text(data['ssh-privatekey']) === '' ? [required('data[ssh-privatekey]')] : [];
    case 'kubernetes.io/tls':
      return requireKeys(data, ['tls.crt', 'tls.key']);
    default:
      return [];
  }
}

const has = (data: JsonObject, key: string): boolean => data[key] !== undefined;

const requireKeys = (data: JsonObject, keys: readonly string[]): FieldError[] =>
  keys.filter((key) => !has(data, key)).map((key) => required(`data[${key}]`));

function validateJson(data: JsonObject, key: string): FieldError[] {
  const path = `data[${key}]`;
  if (!has(data, key)) return [required(path)];
  const json = Buffer.from(text(data[key]), 'base64').toString();
  const error = goJsonError(json, 'object', 'map[string]interface {}');
  return error === undefined ? [] : [invalidValue(path, '<secret contents redacted>', error)];
}
