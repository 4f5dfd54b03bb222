import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import { CelAuthorizer } from '../../cel/libraries/authorizer-checks.ts';
import type { Bindings } from '../../cel/policies/compiler.ts';
import { requestValue } from '../../cel/policies/request.ts';
import { toCel } from '../../cel/program.ts';
import { fromLabelSelector, matchesLabels } from '../../object/selectors.ts';
import type { AdmissionAttributes, AdmissionOperation } from '../admission.ts';
import { namespaceOf, type ResourceVersion, requestedOf } from '../match-resources.ts';
import type { ParamKind, ParamRef } from './read-policy.ts';
import type { Rights } from './rights.ts';

/** Converts an object of a request to another version of its resource. @throws StatusError */
export type ConvertTo = (object: ApiObject, resource: ResourceVersion) => ApiObject | Promise<ApiObject>;

const OPTIONS: Readonly<Record<AdmissionOperation, string>> = {
  CREATE: 'CreateOptions',
  UPDATE: 'UpdateOptions',
  DELETE: 'DeleteOptions',
  CONNECT: '',
};

/** The variables of expressions about a matched request; each object is converted once. */
export class RequestBindings {
  readonly #attributes: AdmissionAttributes;
  readonly #convert: ConvertTo;
  readonly #rights: Rights;
  readonly #made = new Map<string, Promise<Bindings>>();

  constructor(attributes: AdmissionAttributes, convert: ConvertTo, rights: Rights) {
    this.#attributes = attributes;
    this.#convert = convert;
    this.#rights = rights;
  }

  /** @throws StatusError */
  async for(
    matched: ResourceVersion,
    namespace: ApiObject | undefined,
    params: ApiObject | null,
  ): Promise<Bindings> {
    const key = `${matched.group}/${matched.version}/${matched.resource}`;
    const made = this.#made.get(key) ?? this.#make(matched, namespace);
    this.#made.set(key, made);
    return { ...(await made), params: params === null ? null : toCel(params) };
  }

  async #make(matched: ResourceVersion, namespace: ApiObject | undefined): Promise<Bindings> {
    const attributes = this.#attributes;
    const { object, old, definition, subresource, name } = attributes;
    const { group, resource } = definition;
    const about = { group, resource, subresource, namespace: namespaceOf(attributes), name };
    return {
      object: await this.#view(object, matched),
      oldObject: await this.#view(old, matched),
      request: this.#request(matched),
      namespaceObject: namespace === undefined ? null : toCel(visibleOf(namespace)),
      authorizer: new CelAuthorizer(this.#rights.ask, {}, about),
    };
  }

  async #view(object: ApiObject | undefined, matched: ResourceVersion): Promise<unknown> {
    if (object === undefined) return null;
    // Bodies of actions have kinds of their own.
    const own = object.kind === undefined || object.kind === this.#attributes.definition.kind;
    return toCel(own ? await this.#convert(object, matched) : object);
  }

  #request(matched: ResourceVersion): unknown {
    const attributes = this.#attributes;
    const { subresource, name, operation, user, dryRun } = attributes;
    const requested = requestedOf(attributes);
    const kind = OPTIONS[operation];
    const options: JsonObject | null =
      kind === '' ? null : { kind, apiVersion: 'meta.k8s.io/v1', ...(dryRun ? { dryRun: ['All'] } : {}) };
    return requestValue({
      ...{ matched, requested, subresource, name, operation, dryRun, options },
      namespace: namespaceOf(attributes),
      user,
    });
  }
}

/** The namespace without its owners and managed fields. */
function visibleOf({
  spec = {},
  status = {},
  metadata: { managedFields, ownerReferences, ...metadata },
}: ApiObject): JsonObject {
  return { metadata: metadata as JsonObject, spec, status };
}

/** The objects of one kind, in the requested version. */
export interface ParamSource {
  readonly namespaced: boolean;
  get(namespace: string, name: string): Promise<ApiObject | undefined>;
  list(namespace: string): Promise<readonly ApiObject[]>;
}

/** Undefined: there is no such kind. */
export type FindParams = (kind: ParamKind) => ParamSource | undefined;

/** An error in a policy or binding, not in the request; failurePolicy decides. */
export class ConfigurationError extends Error {}

/**
 * The parameters that a binding refers to. A policy runs once with each of them, and without any if the binding names none
 * (Kubernetes: admission/plugin/policy/generic, CollectParams).
 * @throws ConfigurationError
 */
export async function collectParams(
  source: ParamSource | undefined,
  ref: ParamRef | undefined,
  requestNamespace: string,
): Promise<readonly (ApiObject | null)[]> {
  if (source === undefined || ref === undefined) return [null];
  const found = await select(source, ref, paramNamespace(source, ref, requestNamespace));
  if (found.length === 0 && ref.denyIfAbsent)
    throw new ConfigurationError('no params found for policy binding with `Deny` parameterNotFoundAction');
  return found;
}

function paramNamespace({ namespaced }: ParamSource, ref: ParamRef, requestNamespace: string): string {
  if (!namespaced) {
    if (ref.namespace === '') return '';
    throw new ConfigurationError('paramRef.namespace must not be provided for a cluster-scoped `paramKind`');
  }
  const namespace = ref.namespace === '' ? requestNamespace : ref.namespace;
  if (namespace !== '') return namespace;
  throw new ConfigurationError(
    'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
  );
}

async function select(source: ParamSource, ref: ParamRef, namespace: string): Promise<readonly ApiObject[]> {
  if (ref.name !== '') {
    const param = await source.get(namespace, ref.name);
    return param === undefined ? [] : [param];
  }
  if (ref.selector === undefined) throw new ConfigurationError('one of name or selector must be provided');
  const requirements = fromLabelSelector(ref.selector);
  const all = await source.list(namespace);
  return all.filter(({ metadata }) => matchesLabels(requirements, metadata.labels ?? {}));
}
