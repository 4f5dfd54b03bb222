import type { ResourceOf } from '../../api/names.ts';
import type { ApiObject } from '../../api/object-meta.ts';
import type {
  MatchCondition,
  MatchResources,
  Variable,
  ParamRef as WrittenParamRef,
} from '../../api/types/admissionregistration/v1.ts';
import type { LabelSelector } from '../../api/types/meta/v1.ts';
import { PolicyCompiler } from '../../cel/policies/compiler.ts';
import type { Compiled } from '../../cel/program.ts';
import type { ResourceDefinition } from '../../registry/resource-definition.ts';
import type { AdmissionAttributes } from '../admission.ts';
import type { ClusterObjects, FollowedObjects } from '../cluster-objects.ts';
import type { StaticObjects } from '../manifests/manifest-folder.ts';
import type { Condition } from '../match-conditions.ts';
import { type MatchCriteria, type RequestMatcher, readMatchCriteria } from '../match-resources.ts';

export interface ParamKind {
  readonly apiVersion: string;
  readonly kind: string;
}

/** A policy, read and compiled: the parts that validating and mutating ones have in common. */
export interface Policy {
  readonly name: string;
  /** Whether errors of the policy refuse the request. */
  readonly failsClosed: boolean;
  readonly paramKind: ParamKind | undefined;
  readonly criteria: MatchCriteria;
  readonly conditions: readonly Condition[];
  readonly variables: ReadonlyMap<string, Compiled>;
}

interface WrittenPolicy {
  readonly failurePolicy?: string;
  readonly paramKind?: Partial<ParamKind>;
  readonly matchConstraints?: MatchResources;
  readonly matchConditions?: readonly MatchCondition[];
  readonly variables?: readonly Variable[];
}

/** `compiler` compiles the rest of the policy: it knows the variables then. */
export function readPolicy(name: string, spec: WrittenPolicy): { policy: Policy; compiler: PolicyCompiler } {
  const paramKind = spec.paramKind && readParamKind(spec.paramKind);
  const compiler = new PolicyCompiler(paramKind !== undefined);
  const variables = new Map(
    (spec.variables ?? []).map(({ name = '', expression = '' }) => [
      name,
      compiler.variable(name, expression),
    ]),
  );
  const policy = {
    name,
    failsClosed: spec.failurePolicy !== 'Ignore',
    paramKind,
    criteria: readMatchCriteria(spec.matchConstraints ?? {}),
    conditions: (spec.matchConditions ?? []).map(({ name = '', expression = '' }) => ({
      name,
      check: compiler.compile(expression, 'bool'),
    })),
    variables,
  };
  return { policy, compiler };
}

const readParamKind = ({ apiVersion = '', kind = '' }: Partial<ParamKind>): ParamKind => ({
  apiVersion,
  kind,
});

export interface ParamRef {
  readonly name: string;
  readonly namespace: string;
  readonly selector: LabelSelector | undefined;
  readonly denyIfAbsent: boolean;
}

/** A binding, read. */
export interface Binding {
  readonly name: string;
  readonly policyName: string;
  readonly paramRef: ParamRef | undefined;
  /** Undefined: everything that the policy matches. */
  readonly criteria: MatchCriteria | undefined;
}

interface WrittenBinding {
  readonly policyName?: string;
  readonly paramRef?: WrittenParamRef;
  readonly matchResources?: MatchResources;
}

export const readBinding = (
  name: string,
  { policyName = '', paramRef, matchResources }: WrittenBinding,
): Binding => ({
  name,
  policyName,
  paramRef: paramRef && readParamRef(paramRef),
  criteria: matchResources && readMatchCriteria(matchResources),
});

const readParamRef = ({
  name = '',
  namespace = '',
  selector,
  parameterNotFoundAction,
}: WrittenParamRef): ParamRef => ({
  name,
  namespace,
  selector,
  denyIfAbsent: parameterNotFoundAction === 'Deny',
});

const NONE: readonly never[] = [];

/** A policy in force with its bindings. A policy without bindings is not in force. */
export interface Hook<P extends Policy, B extends Binding> {
  readonly policy: P;
  readonly bindings: readonly B[];
}

/** The resources of one kind of policies, and how their objects are read. */
export interface PolicyKind<
  P extends Policy,
  B extends Binding,
  PolicyObject extends ApiObject,
  BindingObject extends ApiObject,
> {
  readonly policies: ResourceOf<PolicyObject>;
  readonly bindings: ResourceOf<BindingObject>;
  readPolicy(object: PolicyObject): P;
  readBinding(object: BindingObject): B;
}

/** Where policies come from: the API, and files. */
interface HookSource<
  P extends Policy,
  B extends Binding,
  PolicyObject extends ApiObject,
  BindingObject extends ApiObject,
> {
  readonly kind: PolicyKind<P, B, PolicyObject, BindingObject>;
  readonly manifests: StaticObjects | undefined;
}

/**
 * The policies in force, those of files before those of the API. A policy is compiled for the first request after it was written,
 * and kept until it changes.
 */
export class Hooks<
  P extends Policy,
  B extends Binding,
  PolicyObject extends ApiObject,
  BindingObject extends ApiObject,
> {
  readonly #kind: PolicyKind<P, B, PolicyObject, BindingObject>;
  readonly #policies: FollowedObjects<PolicyObject>;
  readonly #bindings: FollowedObjects<BindingObject>;
  readonly #matcher: RequestMatcher;
  readonly #static: StaticObjects | undefined;
  readonly #read = new WeakMap<PolicyObject, P>();
  #seen = -1;
  #ofFiles: readonly Hook<P, B>[] = [];
  #all: readonly Hook<P, B>[] = [];
  #candidates = new WeakMap<ResourceDefinition, Map<string, readonly Hook<P, B>[]>>();

  constructor(
    objects: ClusterObjects,
    matcher: RequestMatcher,
    { kind, manifests }: HookSource<P, B, PolicyObject, BindingObject>,
  ) {
    this.#kind = kind;
    this.#static = manifests;
    this.#policies = objects.follow(kind.policies);
    this.#bindings = objects.follow(kind.bindings);
    this.#matcher = matcher;
  }

  /**
   * The policies whose rules can match requests of this kind, by name. Objects that configure admission are judged by policies of
   * files alone, and reviews by none.
   */
  for(attributes: AdmissionAttributes): readonly Hook<P, B>[] {
    const { changes: ofFiles = 0 } = this.#static ?? {};
    const changes = this.#policies.changes + this.#bindings.changes + ofFiles;
    if (changes !== this.#seen) this.#renew(changes);
    return this.#all.length === 0 ? NONE : this.#candidatesFor(attributes);
  }

  #inForceFor({ exemptFrom = [], isReview }: ResourceDefinition): readonly Hook<P, B>[] {
    if (!exemptFrom.includes('policies')) return this.#all;
    return isReview === true ? NONE : this.#ofFiles;
  }

  /** Forgets which resources have equivalents. */
  forget(): void {
    this.#candidates = new WeakMap();
  }

  #candidatesFor(attributes: AdmissionAttributes): readonly Hook<P, B>[] {
    const { definition, operation, version, subresource } = attributes;
    let known = this.#candidates.get(definition);
    if (known === undefined) {
      known = new Map();
      this.#candidates.set(definition, known);
    }
    const key = `${operation}/${version}/${subresource}`;
    let hooks = known.get(key);
    if (hooks === undefined) {
      hooks = this.#inForceFor(definition).filter(({ policy }) =>
        this.#matcher.mayMatch(policy.criteria, attributes),
      );
      known.set(key, hooks);
    }
    return hooks;
  }

  #renew(changes: number): void {
    this.#seen = changes;
    this.forget();
    const { policies, bindings } = this.#kind;
    if (this.#static !== undefined)
      this.#ofFiles = this.#bound(this.#static.in(policies), this.#static.in(bindings));
    this.#all = [...this.#ofFiles, ...this.#bound(this.#policies.in(''), this.#bindings.in(''))];
  }

  /** By name. */
  #bound(policies: readonly PolicyObject[], written: readonly BindingObject[]): Hook<P, B>[] {
    const bindings = written.map((object) => this.#kind.readBinding(object)).sort(byName);
    return policies
      .map((object) => ({
        object,
        bindings: bindings.filter(({ policyName }) => policyName === object.metadata.name),
      }))
      .filter(({ bindings: bound }) => bound.length > 0)
      .map(({ object, bindings: bound }) => ({ policy: this.#compiled(object), bindings: bound }))
      .sort((a, b) => byName(a.policy, b.policy));
  }

  #compiled(object: PolicyObject): P {
    const known = this.#read.get(object) ?? this.#kind.readPolicy(object);
    this.#read.set(object, known);
    return known;
  }
}

const byName = (a: { readonly name: string }, b: { readonly name: string }): number =>
  a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
