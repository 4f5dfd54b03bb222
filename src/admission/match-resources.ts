import { canonicalGroup } from '../api/dialect.ts';
import { NAMESPACES } from '../api/known-resources.ts';
import { notFound } from '../api/status.ts';
import type { MatchResources, NamedRuleWithOperations } from '../api/types/admissionregistration/v1.ts';
import type { Namespace } from '../api/types/core/v1.ts';
import type { LabelSelector } from '../api/types/meta/v1.ts';
import { fromLabelSelector, type LabelRequirement, matchesLabels } from '../object/selectors.ts';
import type { AdmissionAttributes, AdmissionOperation } from './admission.ts';
import type { ClusterObjects, FollowedObjects } from './cluster-objects.ts';
import type { ForeseenObjects } from './foreseen.ts';

/** A resource in one of its versions, with the kind of its objects. */
export interface ResourceVersion {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
}

/** Other names under which a resource is served, in this or another group or version. */
export type EquivalentsOf = (attributes: AdmissionAttributes) => readonly ResourceVersion[];

/** MatchResources of a policy or of its binding, read once. */
export interface MatchCriteria {
  readonly rules: readonly ResourceRule[];
  readonly excluded: readonly ResourceRule[];
  readonly namespaceSelector: Selector;
  readonly objectSelector: Selector;
  /** Whether rules match a resource by any of its names. */
  readonly equivalent: boolean;
}

export const readMatchCriteria = (match: MatchResources): MatchCriteria => ({
  rules: readRules(match.resourceRules),
  excluded: readRules(match.excludeResourceRules),
  namespaceSelector: readSelector(match.namespaceSelector),
  objectSelector: readSelector(match.objectSelector),
  equivalent: match.matchPolicy === 'Equivalent',
});

const requestedOf = ({ definition, version }: AdmissionAttributes): ResourceVersion => ({
  group: definition.group,
  version,
  resource: definition.resource,
  kind: definition.kind,
});

/** Matches requests with criteria, and finds the resource as which they match (Kubernetes: admission/plugin/policy/matching). */
export class RequestMatcher {
  readonly #namespaces: Namespaces;
  readonly #equivalentsOf: EquivalentsOf;

  constructor(namespaces: Namespaces, equivalentsOf: EquivalentsOf) {
    this.#namespaces = namespaces;
    this.#equivalentsOf = equivalentsOf;
  }

  /** The resource of the rule that matches; undefined: none does. @throws StatusError 404 of the namespace */
  match(
    criteria: MatchCriteria,
    attributes: AdmissionAttributes,
  ): ResourceVersion | undefined | Promise<ResourceVersion | undefined> {
    // Rules first: most requests fail them, and they need no lookup.
    const matched = this.matchRules(criteria, attributes);
    if (matched === undefined || !objectSelected(criteria.objectSelector, attributes)) return undefined;
    const selected = this.#namespaces.selected(criteria.namespaceSelector, attributes);
    if (typeof selected === 'boolean') return selected ? matched : undefined;
    return selected.then((yes) => (yes ? matched : undefined));
  }

  /** Whether requests of the kind can match at all, with any object and name. */
  mayMatch({ rules, equivalent }: MatchCriteria, attributes: AdmissionAttributes): boolean {
    const resources = [requestedOf(attributes), ...(equivalent ? this.#equivalentsOf(attributes) : [])];
    return (
      rules.length === 0 ||
      rules.some((rule) => resources.some((one) => ruleMatches(rule, subjectOf(attributes, one))))
    );
  }

  /** Matches by rules alone. Without rules, everything that is not excluded matches. */
  matchRules(criteria: MatchCriteria, attributes: AdmissionAttributes): ResourceVersion | undefined {
    const { rules, excluded, equivalent } = criteria;
    if (this.#find(excluded, equivalent, attributes) !== undefined) return undefined;
    return rules.length === 0 ? requestedOf(attributes) : this.#find(rules, equivalent, attributes);
  }

  #find(
    rules: readonly ResourceRule[],
    equivalent: boolean,
    attributes: AdmissionAttributes,
  ): ResourceVersion | undefined {
    if (rules.length === 0) return undefined;
    const requested = requestedOf(attributes);
    const matches = (resource: ResourceVersion, rule: ResourceRule): boolean =>
      ruleMatches(rule, subjectOf(attributes, resource)) && nameMatches(rule, attributes.name);
    if (rules.some((rule) => matches(requested, rule))) return requested;
    if (!equivalent) return undefined;
    const others = this.#equivalentsOf(attributes);
    for (const rule of rules) {
      const found = others.find((resource) => matches(resource, rule));
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

const subjectOf = (
  { operation, subresource, definition }: AdmissionAttributes,
  { group, version, resource }: ResourceVersion,
): RuleSubject => ({
  ...{ operation, subresource, group, version, resource },
  namespaced: definition.namespaced,
});

export type Selector = readonly LabelRequirement[];

/** An absent selector selects everything, as an empty one does. */
export const readSelector = (selector: LabelSelector = {}): Selector => fromLabelSelector(selector);

const isNamespace = ({ definition }: AdmissionAttributes): boolean =>
  definition.resource === 'namespaces' && definition.group === '';

/** The namespace a request is in; a request about a namespace is in that one (Kubernetes: admission attributes of namespaces). */
export const namespaceOf = (attributes: AdmissionAttributes): string =>
  isNamespace(attributes) ? attributes.name : attributes.namespace;

/** The namespaces, for selectors and expressions. */
export class Namespaces {
  readonly #objects: ClusterObjects;
  readonly #followed: FollowedObjects<Namespace>;

  constructor(objects: ClusterObjects) {
    this.#objects = objects;
    this.#followed = objects.follow(NAMESPACES);
  }

  /** Asks the store for a namespace that is not in the cache yet. @throws StatusError 404 */
  async get(name: string, foreseen?: ForeseenObjects): Promise<Namespace> {
    const namespace =
      this.#followed.get('', name) ??
      (await this.#objects.find(NAMESPACES, '', name)) ??
      foreseen?.find(NAMESPACES, '', name);
    if (namespace === undefined) throw notFound(NAMESPACES, name);
    return namespace;
  }

  /**
   * A namespace that is being written is selected by its new labels; an object without a namespace is always selected
   * (Kubernetes: admission/plugin/webhook/predicates/namespace). @throws StatusError 404
   */
  selected(selector: Selector, attributes: AdmissionAttributes): boolean | Promise<boolean> {
    const name = namespaceOf(attributes);
    if (selector.length === 0 || (name === '' && !isNamespace(attributes))) return true;
    const { object, operation, subresource, foreseen } = attributes;
    const written = operation === 'CREATE' || operation === 'UPDATE';
    if (isNamespace(attributes) && subresource === '' && written)
      return matchesLabels(selector, object?.metadata.labels ?? {});
    const known = this.#followed.get('', name);
    if (known !== undefined) return matchesLabels(selector, known.metadata.labels ?? {});
    return this.get(name, foreseen).then(({ metadata }) => matchesLabels(selector, metadata.labels ?? {}));
  }
}

/** Either the old or the new object must match (Kubernetes: admission/plugin/webhook/predicates/object). */
export const objectSelected = (selector: Selector, { object, old }: AdmissionAttributes): boolean =>
  selector.length === 0 ||
  [object, old].some((one) => one !== undefined && matchesLabels(selector, one.metadata.labels ?? {}));

/** The facts about a request that the rules of webhooks and policies match. */
interface RuleSubject {
  readonly operation: AdmissionOperation;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  /** Whether the object is in a namespace; a namespace itself is not. */
  readonly namespaced: boolean;
}

/** RuleWithOperations, and resourceNames, which only policies have. */
export interface ResourceRule {
  readonly operations: readonly string[];
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly resources: readonly string[];
  readonly scope: string;
  /** Empty: any name. */
  readonly resourceNames: readonly string[];
}

export const readRules = (rules: readonly NamedRuleWithOperations[] = []): ResourceRule[] =>
  rules.map(({ operations = [], apiGroups = [], apiVersions = [], resources = [], ...rule }) => ({
    operations,
    apiGroups: apiGroups.map((group) => canonicalGroup(group).group),
    apiVersions,
    resources,
    scope: rule.scope || '*',
    resourceNames: rule.resourceNames ?? [],
  }));

/** Matches everything but the names (Kubernetes: admission/plugin/webhook/predicates/rules). */
export function ruleMatches(rule: ResourceRule, subject: RuleSubject): boolean {
  return (
    inScope(rule.scope, subject) &&
    includes(rule.operations, subject.operation) &&
    includes(rule.apiGroups, subject.group) &&
    includes(rule.apiVersions, subject.version) &&
    rule.resources.some((resource) => resourceMatches(resource, subject))
  );
}

const nameMatches = ({ resourceNames }: ResourceRule, name: string): boolean =>
  resourceNames.length === 0 || resourceNames.includes(name);

const includes = (values: readonly string[], value: string): boolean =>
  values.includes('*') || values.includes(value);

function inScope(scope: string, { namespaced }: RuleSubject): boolean {
  if (scope === '*') return true;
  return scope === (namespaced ? 'Namespaced' : 'Cluster');
}

/** `pods`, `pods/log`, `pods/*`, a star for either part, and a star alone for all without their subresources. */
function resourceMatches(pattern: string, subject: RuleSubject): boolean {
  const slash = pattern.indexOf('/');
  const resource = slash < 0 ? pattern : pattern.slice(0, slash);
  const subresource = slash < 0 ? '' : pattern.slice(slash + 1);
  return (
    (resource === '*' || resource === subject.resource) &&
    (subresource === '*' || subresource === subject.subresource)
  );
}
