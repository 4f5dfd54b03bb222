import type { JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { invalidValue, required } from '../../object/field-errors.ts';
import { text } from '../../object/parts.ts';

/** What volumes of pods and persistent volumes say of disks over the network in the same words. */

export function validateFlocker(source: JsonObject, path: string): FieldError[] {
  const name = text(source.datasetName);
  const uuid = text(source.datasetUUID);
  const errors: FieldError[] = [];
  if (name === '' && uuid === '')
    errors.push(required(path, 'one of datasetName and datasetUUID is required'));
  if (name !== '' && uuid !== '') {
    const why = 'datasetName and datasetUUID can not be specified simultaneously';
    errors.push(invalidValue(path, 'resource', why));
  }
  if (name.includes('/')) errors.push(invalidValue(`${path}.datasetName`, name, "must not contain '/'"));
  return errors;
}

const MAX_TENANT_CHARS = 64;
const HOST_PORT = /^(\[[^[\]]*\]|[^:[\]]*):[^:]*$/;

export function validateQuobyteRegistry(source: JsonObject, path: string): FieldError[] {
  const registry = text(source.registry);
  const pairs = 'must be a host:port pair or multiple pairs separated by commas';
  if (registry === '') return [required(`${path}.registry`, pairs)];
  if (text(source.tenant).length > MAX_TENANT_CHARS) {
    const why = `must be a UUID and may not exceed a length of ${MAX_TENANT_CHARS} characters`;
    return [required(`${path}.tenant`, why)];
  }
  return registry
    .split(',')
    .filter((pair) => !HOST_PORT.test(pair))
    .map(() => invalidValue(`${path}.registry`, registry, pairs));
}
