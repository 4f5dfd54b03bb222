import type {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicySpec,
} from '../../api/types/admissionregistration/v1.ts';
import { PolicyCompiler } from '../../cel/policies/compiler.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { checked } from '../rules/checked.ts';
import { mustBeConditions } from '../rules/condition-rules.ts';
import { mustBeOneOf } from '../rules/name-rules.ts';
import {
  newExpressions,
  validateAuditAnnotations,
  validateValidation,
  validateVariables,
} from './expressions.ts';
import {
  conditionsRatchet,
  FAILURE_POLICIES,
  mustBeFewExpressions,
  validateMatchConditions,
  validateMatchConstraints,
} from './match-criteria.ts';
import { paramKindText, validateParamKind } from './params.ts';
import { reservesStaticNames } from './reserved-names.ts';

export const validatingadmissionpolicies = define<ValidatingAdmissionPolicy>({
  group: 'admissionregistration.k8s.io',
  resource: 'validatingadmissionpolicies',
  kind: 'ValidatingAdmissionPolicy',
  namespaced: false,
  exemptFrom: ['webhooks', 'policies'],
  categories: ['api-extensions'],
  versions: [
    { version: 'v1', type: 'admissionregistration/v1.ValidatingAdmissionPolicy' },
    {
      version: 'v1beta1',
      type: 'admissionregistration/v1beta1.ValidatingAdmissionPolicy',
      enabledByDefault: false,
      until: 34,
    },
    {
      version: 'v1alpha1',
      type: 'admissionregistration/v1alpha1.ValidatingAdmissionPolicy',
      enabledByDefault: false,
      until: 32,
    },
  ],
  emptyStatus: {},
  statusResets: [['spec'], ['metadata']],
  validateStatus: checked(validateStatus),
  table: {
    columns: [nameColumn(), column('Validations', 0, 'integer'), column('ParamKind'), column('Age')],
    cells: (policy, now) => {
      const { validations = [], paramKind } = policy.spec ?? {};
      return [policy.metadata.name ?? '', validations.length, paramKindText(paramKind), age(policy, now)];
    },
  },
  ratchets: [
    conditionsRatchet<ValidatingAdmissionPolicy>(/^spec\.matchConditions/, ({ spec = {} }) => [spec]),
  ],
  strategy: {
    finalizersNeedDomains: false,
    tracksGeneration: true,
    ...reservesStaticNames,
    allowUnconditionalUpdate: false,
    validate: checked(validate),
  },
});

function validate(
  root: FieldPath,
  { metadata, spec = {} }: ValidatingAdmissionPolicy,
  old?: ValidatingAdmissionPolicy,
): void {
  const at = root.field('spec');
  const { paramKind, failurePolicy, matchConditions = [], variables } = spec;
  const hasParams = paramKind !== undefined;
  const limit = newExpressions(root.isOn, old?.spec);
  const compiler = new PolicyCompiler(hasParams, limit);
  mustBeOneOf(at.field('failurePolicy'), failurePolicy, FAILURE_POLICIES);
  if (hasParams) validateParamKind(at.field('paramKind'), paramKind);
  validateMatchConstraints(at.field('matchConstraints'), spec.matchConstraints);
  // Conditions run before variables exist.
  validateMatchConditions(at.field('matchConditions'), matchConditions, new PolicyCompiler(hasParams, limit));
  if (validateVariables(at.field('variables'), variables, compiler))
    validateChecks(at, spec, { policyName: metadata.name ?? '', compiler });
}

function validateChecks(
  at: FieldPath,
  { validations = [], auditAnnotations = [] }: ValidatingAdmissionPolicySpec,
  policy: { readonly policyName: string; readonly compiler: PolicyCompiler },
): void {
  if (validations.length === 0 && auditAnnotations.length === 0) {
    const why = 'validations or auditAnnotations must contain at least one item';
    at.field('validations').required(why);
    at.field('auditAnnotations').required(why);
    return;
  }
  // A validation has two expressions.
  if (!mustBeFewExpressions(at.field('validations'), 2 * validations.length + auditAnnotations.length))
    return;
  for (const [path, validation] of at.field('validations').each(validations))
    validateValidation(path, validation, policy.compiler);
  validateAuditAnnotations(at.field('auditAnnotations'), auditAnnotations, policy);
}

function validateStatus(root: FieldPath, { status = {} }: ValidatingAdmissionPolicy): void {
  const at = root.field('status');
  const warnings = at.field('typeChecking').field('expressionWarnings');
  for (const [path, warning] of warnings.each(status.typeChecking?.expressionWarnings))
    for (const name of ['warning', 'fieldRef'] as const)
      if ((warning[name] ?? '').trim() === '') path.field(name).required();
  mustBeConditions(at.field('conditions'), status.conditions);
}
