import type { TypeLibrary } from '../api/idl/types.ts';
import { type GroupVersionKind, toApiVersion } from '../api/names.ts';
import type { ApiObject, JsonObject } from '../api/object-meta.ts';
import type { MessageSchema } from '../api/schema.ts';
import { badRequest, internalError, StatusError } from '../api/status.ts';
import { decodeObject } from '../codec/decode.ts';
import { equal } from '../object/equality.ts';
import { isObject } from '../object/json-values.ts';
import { parseOwners } from '../object/managed-fields/owners.ts';
import { withoutWritten } from '../object/written-number.ts';
import { toNamed, toStorage } from '../registry/conversion.ts';
import { messageOf } from '../registry/custom.ts';
import type { ServedResource } from '../registry/registry.ts';
import { type ResourceDefinition, readForChange } from '../registry/resource-definition.ts';
import type { AdmissionAttributes } from './admission.ts';
import { namespaceOf } from './match-resources.ts';

/** The resource as which a webhook or a policy gets an object: the written one, or another of its versions and groups. */
export interface MatchedForm {
  readonly served: ServedResource;
  readonly kind: GroupVersionKind;
}

/**
 * The form in which a webhook or a policy gets an object: in the version that its rule matched, or as the kind of a subresource.
 * Plugins work on the stored form of the whole object, and of a custom resource on the form of the request; these functions
 * convert between the two.
 * @throws StatusError 500 when a conversion webhook fails
 */
export async function toMatchedForm(
  { definition, subresource, operation }: AdmissionAttributes,
  { served }: Pick<MatchedForm, 'served'>,
  object: ApiObject | undefined,
): Promise<JsonObject | null> {
  if (object === undefined) return null;
  if (operation === 'CONNECT') {
    // The options of a connection have no metadata.
    const { metadata: _, ...options } = object;
    return options;
  }
  const found = definition.subresources.find(({ name }) => name === subresource);
  // The body of an action is no form of the resource.
  if (found?.access === 'action') return object;
  const isView = found?.access === 'view' && found.type !== definition.storage.type;
  return isView ? readForChange(found, object) : converted(toNamed(object, served));
}

/** A failed conversion is a 500, because it is not the client's mistake. @throws StatusError 500 */
async function converted(object: ApiObject | Promise<ApiObject>): Promise<ApiObject> {
  try {
    return await object;
  } catch (error) {
    throw error instanceof StatusError && error.status.code === 500
      ? internalError(error.message, error)
      : error;
  }
}

/** A patched object in the form of a webhook or a policy. */
interface Patched {
  readonly value: JsonObject;
  readonly types: TypeLibrary;
  /** Gets the paths of fields that the type lacks. They are dropped. */
  readonly onUnknown?: (paths: readonly string[]) => void;
}

/**
 * A patched object in the form that plugins work on. Through a view, only the fields of the view change.
 * @throws DecodeError when a field has a value of the wrong type
 * @throws StatusError 500 when a conversion webhook fails
 */
export async function fromMatchedForm(
  attributes: AdmissionAttributes & { readonly object: ApiObject },
  { served, kind }: MatchedForm,
  patched: Patched,
): Promise<ApiObject> {
  const { definition, subresource, operation, object } = attributes;
  const decode = (type: string): ApiObject => {
    const { object: decoded, unknown } = decodeObject(patched.value, patched.types.message(type));
    if (unknown.length > 0) patched.onUnknown?.(unknown);
    withoutWritten(decoded);
    return typed(decoded, kind.kind, toApiVersion(kind));
  };
  const whole = (): Promise<ApiObject> => {
    const { custom } = served.definition;
    if (custom === undefined) return Promise.resolve(toStorage(decode(served.version.type), served));
    const { object: read } = custom.decode(withoutWritten(patched.value), {});
    const own = typed(read, kind.kind, toApiVersion(kind));
    return converted(definition.custom?.from(own) ?? own);
  };
  const found = definition.subresources.find(({ name }) => name === subresource);
  if (operation === 'CONNECT') return decode(found?.access === 'connect' ? found.options : '');
  if (found?.access === 'action') return decode(found.type);
  if (found?.access === 'view') {
    const isWhole = found.type === definition.storage.type;
    return found.write(isWhole ? await whole() : decode(found.type), object);
  }
  const stored = await whole();
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

/** The type of that form. */
export function schemaOfForm(
  { definition, subresource, operation }: AdmissionAttributes,
  { served }: Pick<MatchedForm, 'served'>,
  types: TypeLibrary,
): MessageSchema {
  const found = definition.subresources.find(({ name }) => name === subresource);
  if (operation === 'CONNECT') return types.message(found?.access === 'connect' ? found.options : '');
  if (found?.access === 'action') return types.message(found.type);
  if (found?.access === 'view' && found.type !== definition.storage.type) return types.message(found.type);
  return messageOf(served.definition, served.version.type, types);
}

/** Subresources may have a kind of their own. */
export function kindOf(
  {
    definition,
    version,
  }: { readonly definition: ResourceDefinition; readonly version: { readonly version: string } },
  subresource: string,
): GroupVersionKind {
  const found = definition.subresources.find(({ name }) => name === subresource);
  if (found === undefined || (found.access === 'view' && found.type === definition.storage.type))
    return { group: definition.group, version: version.version, kind: definition.kind };
  return found.served;
}

/** The request as webhooks and policies get it, without the objects (Kubernetes: admission.k8s.io, AdmissionRequest). */
export function requestOf(attributes: AdmissionAttributes, { served, kind }: MatchedForm): JsonObject {
  const { definition, version, subresource, name, operation, user, dryRun } = attributes;
  const namespace = namespaceOf(attributes);
  const extra = Object.entries(user.extra).map(([key, values]) => [key, [...values]]);
  return {
    kind: { ...kind },
    resource: resourceOf(served.definition, served.version.version),
    ...(subresource === '' ? {} : { subResource: subresource }),
    requestKind: { ...kindOf({ definition, version: { version } }, subresource) },
    requestResource: resourceOf(definition, version),
    ...(subresource === '' ? {} : { requestSubResource: subresource }),
    ...(name === '' ? {} : { name }),
    ...(namespace === '' ? {} : { namespace }),
    operation,
    userInfo: {
      ...(user.username === '' ? {} : { username: user.username }),
      ...(user.uid === '' ? {} : { uid: user.uid }),
      ...(user.groups.length === 0 ? {} : { groups: [...user.groups] }),
      ...(extra.length === 0 ? {} : { extra: Object.fromEntries(extra) }),
    },
    dryRun,
    options: attributes.options?.() ?? null,
  };
}

const resourceOf = (
  { group, resource }: { readonly group: string; readonly resource: string },
  version: string,
): JsonObject => ({ group, version, resource });

/** Gives an object another content: the writer and later plugins refer to it. */
export function replaceContent(object: ApiObject, next: ApiObject): void {
  for (const field of Object.keys(object)) if (!(field in next)) delete object[field];
  Object.assign(object, next);
}

/** Restores managedFields that a webhook or a policy made unreadable (endpoints/handlers/fieldmanager/admission.go). */
export function keepReadableOwners(
  { object, warn }: AdmissionAttributes,
  before: ApiObject['metadata']['managedFields'],
): void {
  const after = object?.metadata.managedFields;
  if (object === undefined || after === before || equal(after, before)) return;
  if (parseOwners(after, 'request') !== undefined) return;
  if (before === undefined) delete object.metadata.managedFields;
  else object.metadata.managedFields = before;
  warn(
    '.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: an entry cannot be read',
  );
}
