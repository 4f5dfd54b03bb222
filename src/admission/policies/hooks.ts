import type {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '../../api/types/admissionregistration/v1.ts';
import type { ResourceDefinition } from '../../registry/definition.ts';
import type { AdmissionAttributes } from '../admission.ts';
import type { ClusterObjects, FollowedObjects } from '../cluster-objects.ts';
import type { RequestMatcher } from '../matching/match-resources.ts';
import { POLICIES, POLICY_BINDINGS } from '../resources.ts';
import { type Binding, type Policy, readBinding, readPolicy } from './policy.ts';

/** A policy in force with its bindings. A policy without bindings is not in force. */
export interface Hook {
  readonly policy: Policy;
  readonly bindings: readonly Binding[];
}

const NONE: readonly Hook[] = [];

/** The policies in force. A policy is compiled for the first request after it was written, and kept until it changes. */
export class Hooks {
  readonly #policies: FollowedObjects<ValidatingAdmissionPolicy>;
  readonly #bindings: FollowedObjects<ValidatingAdmissionPolicyBinding>;
  readonly #matcher: RequestMatcher;
  readonly #read = new WeakMap<ValidatingAdmissionPolicy, Policy>();
  #seen = -1;
  #all: readonly Hook[] = NONE;
  #candidates = new WeakMap<ResourceDefinition, Map<string, readonly Hook[]>>();

  constructor(objects: ClusterObjects, matcher: RequestMatcher) {
    this.#policies = objects.follow(POLICIES);
    this.#bindings = objects.follow(POLICY_BINDINGS);
    this.#matcher = matcher;
  }

  /** The policies whose rules can match requests of this kind, by name. */
  for(attributes: AdmissionAttributes): readonly Hook[] {
    const changes = this.#policies.changes + this.#bindings.changes;
    if (changes !== this.#seen) this.#renew(changes);
    return this.#all.length === 0 ? NONE : this.#candidatesFor(attributes);
  }

  /** Forgets which resources have equivalents. */
  forget(): void {
    this.#candidates = new WeakMap();
  }

  #candidatesFor(attributes: AdmissionAttributes): readonly Hook[] {
    const { definition, operation, version, subresource } = attributes;
    let known = this.#candidates.get(definition);
    if (known === undefined) {
      known = new Map();
      this.#candidates.set(definition, known);
    }
    const key = `${operation}/${version}/${subresource}`;
    let hooks = known.get(key);
    if (hooks === undefined) {
      hooks = this.#all.filter(({ policy }) => this.#matcher.mayMatch(policy.criteria, attributes));
      known.set(key, hooks);
    }
    return hooks;
  }

  #renew(changes: number): void {
    this.#seen = changes;
    this.forget();
    const bindings = this.#bindings.in('').map(readBinding).sort(byName);
    this.#all = this.#policies
      .in('')
      .map((object) => ({
        object,
        bindings: bindings.filter(({ policyName }) => policyName === object.metadata.name),
      }))
      .filter(({ bindings: bound }) => bound.length > 0)
      .map(({ object, bindings: bound }) => ({ policy: this.#compiled(object), bindings: bound }))
      .sort((a, b) => byName(a.policy, b.policy));
  }

  #compiled(object: ValidatingAdmissionPolicy): Policy {
    const known = this.#read.get(object) ?? readPolicy(object);
    this.#read.set(object, known);
    return known;
  }
}

const byName = (a: { readonly name: string }, b: { readonly name: string }): number =>
  a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
