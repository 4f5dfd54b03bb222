import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { Compiled } from '../../cel/policies/compiled.ts';
import { PolicyCompiler } from '../../cel/policies/compiler.ts';
import { part, parts, text } from '../../object/parts.ts';
import { type MatchCriteria, readMatchCriteria } from '../matching/match-resources.ts';

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
  /** Whether a request is refused that the policy cannot judge. */
  readonly failsClosed: boolean;
  readonly paramKind: ParamKind | undefined;
  readonly criteria: MatchCriteria;
  readonly conditions: readonly { readonly name: string; readonly check: Compiled }[];
  readonly variables: ReadonlyMap<string, Compiled>;
  readonly validations: readonly Validation[];
  readonly annotations: readonly { readonly key: string; readonly value: Compiled }[];
}

export function readPolicy(policy: ApiObject): Policy {
  const spec = part(policy, 'spec');
  const paramKind = readParamKind(spec);
  const compiler = new PolicyCompiler(paramKind !== undefined);
  const variables = new Map(
    parts(spec, 'variables').map(({ name, expression }) => [
      text(name),
      compiler.variable(text(name), text(expression)),
    ]),
  );
  return {
    name: policy.metadata.name ?? '',
    failsClosed: text(spec.failurePolicy) !== 'Ignore',
    paramKind,
    criteria: readMatchCriteria(part(spec, 'matchConstraints')),
    conditions: parts(spec, 'matchConditions').map(({ name, expression }) => ({
      name: text(name),
      check: compiler.compile(text(expression), 'bool'),
    })),
    variables,
    validations: parts(spec, 'validations').map((validation) => readValidation(validation, compiler)),
    annotations: parts(spec, 'auditAnnotations').map(({ key, valueExpression }) => ({
      key: text(key),
      value: compiler.compile(text(valueExpression), 'string or null'),
    })),
  };
}

function readParamKind(spec: JsonObject): ParamKind | undefined {
  const { paramKind } = spec;
  if (paramKind === undefined || paramKind === null) return undefined;
  const { apiVersion, kind } = part(spec, 'paramKind');
  return { apiVersion: text(apiVersion), kind: text(kind) };
}

function readValidation(validation: JsonObject, compiler: PolicyCompiler): Validation {
  const messageExpression = text(validation.messageExpression);
  return {
    check: compiler.compile(text(validation.expression), 'bool'),
    messageExpression:
      messageExpression === ''
        ? undefined
        : compiler.compile(messageExpression, 'string', { authorizer: false }),
    message: text(validation.message),
    reason: text(validation.reason),
  };
}

/** What a binding does with a request that its policy does not accept. */
export type ValidationAction = 'Deny' | 'Warn' | 'Audit';

export interface ParamRef {
  readonly name: string;
  readonly namespace: string;
  readonly selector: JsonObject | undefined;
  readonly denyIfAbsent: boolean;
}

/** A ValidatingAdmissionPolicyBinding, read. */
export interface Binding {
  readonly name: string;
  readonly policyName: string;
  readonly paramRef: ParamRef | undefined;
  /** Undefined: whatever the policy matches. */
  readonly criteria: MatchCriteria | undefined;
  readonly actions: readonly ValidationAction[];
}

export function readBinding(binding: ApiObject): Binding {
  const spec = part(binding, 'spec');
  const { matchResources, validationActions } = spec;
  return {
    name: binding.metadata.name ?? '',
    policyName: text(spec.policyName),
    paramRef: readParamRef(spec),
    criteria:
      matchResources === undefined || matchResources === null
        ? undefined
        : readMatchCriteria(part(spec, 'matchResources')),
    actions: Array.isArray(validationActions) ? validationActions.filter(isAction) : [],
  };
}

const isAction = (value: unknown): value is ValidationAction =>
  value === 'Deny' || value === 'Warn' || value === 'Audit';

function readParamRef(spec: JsonObject): ParamRef | undefined {
  if (spec.paramRef === undefined || spec.paramRef === null) return undefined;
  const { name, namespace, selector, parameterNotFoundAction } = part(spec, 'paramRef');
  return {
    name: text(name),
    namespace: text(namespace),
    selector: selector === undefined || selector === null ? undefined : part(spec, 'paramRef', 'selector'),
    denyIfAbsent: text(parameterNotFoundAction) === 'Deny',
  };
}
