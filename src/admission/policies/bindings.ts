import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import { CelAuthorizer } from '../../cel/libraries/authorizer-checks.ts';
import type { Bindings } from '../../cel/policies/compiler.ts';
import { reviewedRequest } from '../../cel/policies/request.ts';
import { toCel } from '../../cel/program.ts';
import { fromLabelSelector, matchesLabels } from '../../object/selectors.ts';
import type { AdmissionAttributes } from '../admission.ts';
import { namespaceOf, type ResourceVersion } from '../match-resources.ts';
import { type MatchedForm, requestOf, toMatchedForm } from '../request-form.ts';
import type { ParamKind, ParamRef } from './read-policy.ts';
import type { Rights } from './rights.ts';

/** The form in which a policy that matched a resource sees the objects of a request. */
export type FormOf = (attributes: AdmissionAttributes, matched: ResourceVersion) => MatchedForm;

/**
 * The variables of expressions about a matched request; each object is converted once (Kubernetes: admission/plugin/cel,
 * CreateAdmissionRequest).
 */
export class RequestBindings {
  readonly #attributes: AdmissionAttributes;
  readonly #rights: Rights;
  readonly #made = new Map<string, Promise<Bindings>>();

  constructor(attributes: AdmissionAttributes, rights: Rights) {
    this.#attributes = attributes;
    this.#rights = rights;
  }

  /** @throws StatusError */
  async for(
    form: MatchedForm,
    namespace: ApiObject | undefined,
    params: ApiObject | null,
  ): Promise<Bindings> {
    const { definition, version } = form.served;
    const key = `${definition.group}/${version.version}/${definition.resource}`;
    const made = this.#made.get(key) ?? this.#make(form, namespace);
    this.#made.set(key, made);
    return { ...(await made), params: params === null ? null : toCel(params) };
  }

  async #make(form: MatchedForm, namespace: ApiObject | undefined): Promise<Bindings> {
    const attributes = this.#attributes;
    const { object, old, definition, subresource, name } = attributes;
    const { group, resource } = definition;
    const about = { group, resource, subresource, namespace: namespaceOf(attributes), name };
    return {
      object: toCel(await toMatchedForm(attributes, form, object)),
      oldObject: toCel(await toMatchedForm(attributes, form, old)),
      request: reviewedRequest(requestOf(attributes, form)),
      namespaceObject: namespace === undefined ? null : toCel(visibleOf(namespace)),
      authorizer: new CelAuthorizer(this.#rights.ask, {}, about),
    };
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
