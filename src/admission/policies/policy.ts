import type {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ParamRef as WrittenParamRef,
  Validation as WrittenValidation,
} from '../../api/types/admissionregistration/v1.ts';
import type { LabelSelector } from '../../api/types/meta/v1.ts';
import { PolicyCompiler } from '../../cel/policies/compiler.ts';
import type { Compiled } from '../../cel/program.ts';
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
  /** Whether errors of the policy refuse the request. */
  readonly failsClosed: boolean;
  readonly paramKind: ParamKind | undefined;
  readonly criteria: MatchCriteria;
  readonly conditions: readonly { readonly name: string; readonly check: Compiled }[];
  readonly variables: ReadonlyMap<string, Compiled>;
  readonly validations: readonly Validation[];
  readonly annotations: readonly { readonly key: string; readonly value: Compiled }[];
}

export function readPolicy({ metadata, spec = {} }: ValidatingAdmissionPolicy): Policy {
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

export function readBinding({ metadata, spec = {} }: ValidatingAdmissionPolicyBinding): Binding {
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
