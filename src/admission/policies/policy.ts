import type {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ParamRef as WrittenParamRef,
  Validation as WrittenValidation,
} from '../../api/types/admissionregistration/v1.ts';
import type { LabelSelector } from '../../api/types/meta/v1.ts';
import { PolicyCompiler } from '../../cel/policies/compiler.ts';
import type { Compiled } from '../../cel/program.ts';
import type { ResourceDefinition } from '../../registry/definition.ts';
import type { AdmissionAttributes } from '../admission.ts';
import type { ClusterObjects, FollowedObjects } from '../cluster-objects.ts';
import { type MatchCriteria, type RequestMatcher, readMatchCriteria } from '../match-resources.ts';
import { POLICIES, POLICY_BINDINGS } from '../resources.ts';

export interface ParamKind {
  readonly apiVersion: string;
  readonly kind: string;
}

export interface Validation {
  readonly check: Compiled;
  readonly messageExpression: Compiled | undefined;
  readonly message: string;
  /** '' for none. */
  readonly reason: string;
}

/** A ValidatingAdmissionPolicy, read and compiled. */
export interface Policy {
  readonly name: string;
  /** Whether errors of the policy refuse the request. */
  readonly failsClosed: boolean;
  readonly paramKind: ParamKind | undefined;
  readonly criteria: MatchCriteria;
  readonly conditions: readonly { readonly name: string; readonly check: Compiled }[];
  readonly variables: ReadonlyMap<string, Compiled>;
  readonly validations: readonly Validation[];
  readonly annotations: readonly { readonly key: string; readonly value: Compiled }[];
}

function readPolicy({ metadata, spec = {} }: ValidatingAdmissionPolicy): Policy {
  const paramKind = spec.paramKind && readParamKind(spec.paramKind);
  const compiler = new PolicyCompiler(paramKind !== undefined);
  const variables = new Map(
    (spec.variables ?? []).map(({ name = '', expression = '' }) => [
      name,
      compiler.variable(name, expression),
    ]),
  );
  return {
    name: metadata.name ?? '',
    failsClosed: spec.failurePolicy !== 'Ignore',
    paramKind,
    criteria: readMatchCriteria(spec.matchConstraints ?? {}),
    conditions: (spec.matchConditions ?? []).map(({ name = '', expression = '' }) => ({
      name,
      check: compiler.compile(expression, 'bool'),
    })),
    variables,
    validations: (spec.validations ?? []).map((validation) => readValidation(validation, compiler)),
    annotations: (spec.auditAnnotations ?? []).map(({ key = '', valueExpression = '' }) => ({
      key,
      value: compiler.compile(valueExpression, 'string or null'),
    })),
  };
}

const readParamKind = ({ apiVersion = '', kind = '' }: Partial<ParamKind>): ParamKind => ({
  apiVersion,
  kind,
});

function readValidation(
  { expression = '', messageExpression = '', message = '', reason = '' }: WrittenValidation,
  compiler: PolicyCompiler,
): Validation {
  return {
    check: compiler.compile(expression, 'bool'),
    messageExpression:
      messageExpression === ''
        ? undefined
        : compiler.compile(messageExpression, 'string', { authorizer: false }),
    message,
    reason,
  };
}

/** The reaction of a binding to a request that its policy does not accept. */
type ValidationAction = 'Deny' | 'Warn' | 'Audit';

export interface ParamRef {
  readonly name: string;
  readonly namespace: string;
  readonly selector: LabelSelector | undefined;
  readonly denyIfAbsent: boolean;
}

/** A ValidatingAdmissionPolicyBinding, read. */
export interface Binding {
  readonly name: string;
  readonly policyName: string;
  readonly paramRef: ParamRef | undefined;
  /** Undefined: everything that the policy matches. */
  readonly criteria: MatchCriteria | undefined;
  readonly actions: readonly ValidationAction[];
}

function readBinding({ metadata, spec = {} }: ValidatingAdmissionPolicyBinding): Binding {
  const { policyName = '', paramRef, matchResources, validationActions = [] } = spec;
  return {
    name: metadata.name ?? '',
    policyName,
    paramRef: paramRef && readParamRef(paramRef),
    criteria: matchResources && readMatchCriteria(matchResources),
    actions: validationActions.filter(isAction),
  };
}

const isAction = (value: string): value is ValidationAction =>
  value === 'Deny' || value === 'Warn' || value === 'Audit';

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
