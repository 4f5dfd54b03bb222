import type { AdmissionMetrics } from '../admission/admission-metrics.ts';
import type { ClusterObjects } from '../admission/cluster-objects.ts';
import type { EquivalentsOf, ResourceVersion } from '../admission/match-resources.ts';
import type { FindParams, FormOf } from '../admission/policies/bindings.ts';
import type { PolicyParts } from '../admission/policies/invocations.ts';
import type { RightsOracle } from '../admission/policies/rights.ts';
import { kindOf } from '../admission/request-form.ts';
import type { Gates } from '../api/feature-gates.ts';
import type { ApiObject } from '../api/object-meta.ts';
import type { AuthorizationAttributes, Authorizer } from '../authz/authorizer.ts';
import { readSelectors } from '../authz/review-selectors.ts';
import type { Question } from '../cel/libraries/authorizer-checks.ts';
import { toSeen } from '../registry/conversion.ts';
import { storeOf } from '../registry/custom.ts';
import type { Registry, ServedResource } from '../registry/registry.ts';
import type { ResourceDefinition } from '../registry/resource-definition.ts';
import type { UserInfo } from '../request/api-request.ts';
import { ObjectReader } from '../storage/object-reader.ts';
import type { Store } from '../storage/store.ts';

/** The parts of the server that policies use. */
export function policyParts(parts: {
  readonly objects: ClusterObjects;
  readonly store: Store;
  readonly registry: Registry;
  readonly authorizer: Authorizer;
  readonly admissionMetrics: AdmissionMetrics;
  readonly isFeatureOn: Gates;
  isServing(): boolean;
}): PolicyParts {
  const { objects, store, registry, authorizer, admissionMetrics, isFeatureOn } = parts;
  return {
    ...{ objects, admissionMetrics },
    isServing: () => parts.isServing(),
    findParams: paramsIn(store, registry),
    equivalentsOf: equivalentsIn(registry),
    formOf: formsIn(registry),
    rights: rightsBy(authorizer, isFeatureOn('AuthorizeWithSelectors')),
    onResources: (changed) => {
      registry.onChange(changed);
    },
  };
}

/** `selects`: whether questions may be about some objects of a resource; otherwise they are about all. */
export const rightsBy = (authorizer: Authorizer, selects: boolean): RightsOracle => ({
  decide: async (user, question) => {
    const asked =
      question.kind === 'path'
        ? { user, verb: question.verb, target: undefined, path: question.path }
        : toAttributes(user, question, selects);
    const { decision, reason, error } = await authorizer.authorize(asked);
    return { allowed: decision === 'allow', reason, ...(error === undefined ? {} : { error }) };
  },
});

function toAttributes(
  user: UserInfo,
  question: Extract<Question, { kind: 'resource' }>,
  selects: boolean,
): AuthorizationAttributes {
  const { verb, group, resource, subresource, namespace, name } = question;
  const target = { group, version: '*', resource, subresource, namespace, name, subpath: '' };
  const selectors = selects ? readSelectors(question) : undefined;
  return { user, verb, target, path: '', ...(selectors === undefined ? {} : { selectors }) };
}

/** The served versions of a resource, and the names that other groups have for the same stored objects. */
function equivalentsIn(registry: Registry): EquivalentsOf {
  let known = new WeakMap<ResourceDefinition, readonly ResourceVersion[]>();
  registry.onChange(() => {
    known = new WeakMap();
  });
  return ({ definition }) => {
    const found = known.get(definition) ?? equivalents(registry, definition);
    known.set(definition, found);
    return found;
  };
}

function equivalents(registry: Registry, { storage }: ResourceDefinition): ResourceVersion[] {
  return registry.groups().flatMap(({ group, versions }) =>
    versions.flatMap((version) =>
      registry
        .resources(group, version)
        .filter(
          ({ definition }) =>
            definition.storage.group === storage.group && definition.storage.resource === storage.resource,
        )
        .map(({ definition: { resource, kind } }) => ({ group, version, resource, kind })),
    ),
  );
}

/** A request goes on with its own resource when what a policy matched is no longer served. */
const formsIn =
  (registry: Registry): FormOf =>
  ({ definition, version, subresource }, matched) => {
    const served =
      registry.find(matched.group, matched.version, matched.resource) ?? ownOf(definition, version);
    return { served, kind: kindOf(served, subresource) };
  };

const ownOf = (definition: ResourceDefinition, version: string): ServedResource => ({
  definition,
  version: definition.versions.find((one) => one.version === version) ?? {
    ...{ version, type: definition.storage.type, enabledByDefault: true },
  },
});

const paramsIn =
  (store: Store, registry: Registry): FindParams =>
  ({ apiVersion, kind }) => {
    const slash = apiVersion.indexOf('/');
    const group = slash < 0 ? '' : apiVersion.slice(0, slash);
    const served = registry
      .resources(group, apiVersion.slice(slash + 1))
      .find(({ definition }) => definition.kind === kind);
    if (served === undefined) return undefined;
    const { definition } = served;
    const objects = new ObjectReader(storeOf(definition, store));
    const inVersion = (object: ApiObject): ApiObject => toSeen(object, served);
    return {
      namespaced: definition.namespaced,
      get: async (namespace, name) => {
        const object = await objects.get(definition.storage, { namespace, name }, 'cached');
        return object && inVersion(object);
      },
      list: async (namespace) => {
        const scope = namespace === '' ? {} : { namespace };
        return (await objects.list(definition.storage, scope, 'cached')).map(inVersion);
      },
    };
  };
