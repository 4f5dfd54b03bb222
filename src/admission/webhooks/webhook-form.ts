import type { TypeLibrary } from '../../api/idl/types.ts';
import { toApiVersion } from '../../api/names.ts';
import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import { badRequest } from '../../api/status.ts';
import { decodeObject } from '../../codec/decode.ts';
import { isObject } from '../../object/merge-patch.ts';
import { toSeen, toStorage } from '../../registry/conversion.ts';
import type { AdmissionAttributes } from '../admission.ts';
import type { Candidate } from './hook-list.ts';

/**
 * The form in which a webhook gets an object: in the version that its rule matched, or as the kind of a subresource. Plugins work
 * on the stored form of the whole object; these functions convert between the two.
 */
export function toWebhookForm(
  { definition, subresource, operation }: AdmissionAttributes,
  { served }: Pick<Candidate, 'served'>,
  object: ApiObject | undefined,
): JsonObject | null {
  if (object === undefined) return null;
  if (operation === 'CONNECT') {
    // The options of a connection are no object and have no metadata.
    const { metadata: _, ...options } = object;
    return options;
  }
  const found = definition.subresources.find(({ name }) => name === subresource);
  // The body of an action is no form of the resource.
  if (found?.access === 'action') return object;
  const isView = found?.access === 'view' && found.type !== definition.storage.type;
  return isView ? found.read(object) : toSeen(object, served);
}

/**
 * A patched object in the stored form. Through a view, only the fields of the view change.
 * @throws DecodeError when a field has a value of the wrong type
 */
export function fromWebhookForm(
  attributes: AdmissionAttributes & { readonly object: ApiObject },
  { served, kind }: Pick<Candidate, 'served' | 'kind'>,
  patched: { readonly value: JsonObject; readonly types: TypeLibrary },
): ApiObject {
  const { definition, subresource, operation, object } = attributes;
  const decode = (type: string): ApiObject => {
    const { object: decoded } = decodeObject(patched.value, patched.types.message(type));
    return typed(decoded, kind.kind, toApiVersion(kind));
  };
  const found = definition.subresources.find(({ name }) => name === subresource);
  if (operation === 'CONNECT') return decode(found?.access === 'connect' ? found.options : '');
  if (found?.access === 'action') return decode(found.type);
  if (found?.access === 'view') {
    const own = found.type === definition.storage.type;
    return found.write(own ? toStorage(decode(served.version.type), served) : decode(found.type), object);
  }
  const stored = toStorage(decode(served.version.type), served);
  definition.strategy.defaults?.(stored);
  return stored;
}

/** A patch cannot make an object another kind of object. */
function typed(
  { kind: _, apiVersion: __, metadata, ...rest }: JsonObject,
  kind: string,
  apiVersion: string,
): ApiObject {
  return { kind, apiVersion, metadata: isObject(metadata) ? metadata : {}, ...rest };
}

/**
 * A patch must not move an object to another namespace.
 * @throws StatusError 400
 */
export function keepNamespace(
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
