import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import type { ScopedResourceSelectorRequirement } from '../../api/types/core/v1.ts';
import { asObject, checkFields, checkOneOf, throwProblems } from '../../object/config-fields.ts';
import { required } from '../../object/field-errors.ts';
import { objectsOf, text } from '../../object/parts.ts';
import { type ScopeSelector, toScopeSelectors } from './quota.ts';

/** A resource that needs a quota, with the names or scopes of usage that do. */
export interface LimitedResource {
  readonly group: string;
  readonly resource: string;
  /** Names of usage that contain one of these. */
  readonly matchContains: readonly string[];
  readonly matchScopes: readonly ScopeSelector[];
}

const API_VERSIONS = ['k8s.io', 'cluster.io'].flatMap((domain) => [
  `apiserver.config.${domain}/v1`,
  `resourcequota.admission.${domain}/v1beta1`,
  `resourcequota.admission.${domain}/v1alpha1`,
]);

/**
 *   apiVersion: apiserver.config.k8s.io/v1
 *   kind: ResourceQuotaConfiguration
 *   limitedResources:
 *   - resource: pods
 *     matchScopes: [{scopeName: PriorityClass, operator: In, values: [cluster-services]}]
 *
 * @throws Error with all problems
 */
export function readQuotaConfig(config: JsonValue | undefined): LimitedResource[] {
  if (config === undefined) return [];
  const file = asObject(config);
  const problems: FieldError[] = [];
  checkOneOf(file.apiVersion, API_VERSIONS, 'apiVersion', problems);
  checkOneOf(file.kind, ['ResourceQuotaConfiguration', 'Configuration'], 'kind', problems);
  checkFields(file, ['apiVersion', 'kind', 'limitedResources'], '', problems);
  const limited = objectsOf(file.limitedResources).map((one, at) => readLimited(one, at, problems));
  throwProblems('ResourceQuota configuration', problems);
  return limited;
}

function readLimited(one: JsonObject, at: number, problems: FieldError[]): LimitedResource {
  const path = `limitedResources[${at}]`;
  checkFields(one, ['apiGroup', 'resource', 'matchContains', 'matchScopes'], path, problems);
  const resource = text(one.resource);
  if (resource === '') problems.push(required(`${path}.resource`));
  const contains = Array.isArray(one.matchContains) ? one.matchContains : [];
  return {
    group: text(one.apiGroup),
    resource,
    matchContains: contains.map((part) => text(part)),
    matchScopes: toScopeSelectors(objectsOf(one.matchScopes).map(readScope)),
  };
}

const readScope = ({ scopeName, operator, values }: JsonObject): ScopedResourceSelectorRequirement => ({
  scopeName: text(scopeName),
  operator: text(operator),
  values: Array.isArray(values) ? values.map((value) => text(value)) : [],
});
