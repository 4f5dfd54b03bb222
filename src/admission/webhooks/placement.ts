import type { ApiObject } from '../../api/object-meta.ts';
import { badRequest } from '../../api/status.ts';
import type { AdmissionAttributes } from '../admission.ts';

/**
 * A patch does not move an object to another namespace.
 * @throws StatusError 400
 */
export function placedAsBefore(
  { definition, namespace, operation }: AdmissionAttributes,
  object: ApiObject,
): void {
  if (operation === 'CONNECT') return;
  const given = object.metadata.namespace ?? '';
  const wanted = definition.namespaced ? namespace : '';
  if (given !== '' && given !== wanted)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  if (wanted !== '') object.metadata.namespace = wanted;
}
