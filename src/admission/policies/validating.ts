import { POLICIES, POLICY_BINDINGS } from '../../api/known-resources.ts';
import type {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  Validation as WrittenValidation,
} from '../../api/types/admissionregistration/v1.ts';
import type { PolicyCompiler } from '../../cel/policies/compiler.ts';
import type { Compiled } from '../../cel/program.ts';
import { type Binding, type Policy, type PolicyKind, readBinding, readPolicy } from './read-policy.ts';

export interface Validation {
  readonly check: Compiled;
  readonly messageExpression: Compiled | undefined;
  readonly message: string;
  /** '' for none. */
  readonly reason: string;
}

/** A ValidatingAdmissionPolicy, read and compiled. */
export interface ValidatingPolicy extends Policy {
  readonly validations: readonly Validation[];
  readonly annotations: readonly { readonly key: string; readonly value: Compiled }[];
}

function readValidatingPolicy({ metadata, spec = {} }: ValidatingAdmissionPolicy): ValidatingPolicy {
  const { policy, compiler } = readPolicy(metadata.name ?? '', spec);
  return {
    ...policy,
    validations: (spec.validations ?? []).map((validation) => readValidation(validation, compiler)),
    annotations: (spec.auditAnnotations ?? []).map(({ key = '', valueExpression = '' }) => ({
      key,
      value: compiler.compile(valueExpression, 'string or null'),
    })),
  };
}

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

/** A ValidatingAdmissionPolicyBinding, read. */
export interface ValidatingBinding extends Binding {
  readonly actions: readonly ValidationAction[];
}

const isAction = (value: string): value is ValidationAction =>
  value === 'Deny' || value === 'Warn' || value === 'Audit';

export const VALIDATING: PolicyKind<
  ValidatingPolicy,
  ValidatingBinding,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding
> = {
  policies: POLICIES,
  bindings: POLICY_BINDINGS,
  readPolicy: readValidatingPolicy,
  readBinding: ({ metadata, spec = {} }) => ({
    ...readBinding(metadata.name ?? '', spec),
    actions: (spec.validationActions ?? []).filter(isAction),
  }),
};
