import type {
  ParamKind,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicySpec,
} from '../../api/types/admissionregistration/v1.ts';
import { PolicyCompiler } from '../../cel/policies/compiler.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { checkName } from '../../object/formats.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { checked } from '../rules/checked.ts';
import { mustBeConditions } from '../rules/conditions.ts';
import { mustBeNameInOneError, mustBeOneOf } from '../rules/names.ts';
import { validateAuditAnnotations, validateValidation, validateVariable } from './expressions.ts';
import {
  conditionsRatchet,
  FAILURE_POLICIES,
  mustBeFewExpressions,
  validateMatchConditions,
  validateMatchResources,
} from './match.ts';

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
    },
    {
      version: 'v1alpha1',
      type: 'admissionregistration/v1alpha1.ValidatingAdmissionPolicy',
      enabledByDefault: false,
    },
  ],
  emptyStatus: {},
  statusResets: [['spec'], ['metadata']],
  validateStatus: checked(validateStatus),
  table: {
    columns: [nameColumn(), column('Validations', 0, 'integer'), column('ParamKind'), column('Age')],
    cells: (policy, now) => {
      const { validations = [], paramKind } = policy.spec ?? {};
      return [
        policy.metadata.name ?? '',
        validations.length,
        paramKind === undefined ? '<unset>' : `${paramKind.apiVersion ?? ''}/${paramKind.kind ?? ''}`,
        age(policy, now),
      ];
    },
  },
  ratchets: [
    conditionsRatchet<ValidatingAdmissionPolicy>(/^spec\.matchConditions/, ({ spec = {} }) => [spec]),
  ],
  strategy: {
    tracksGeneration: true,
    allowUnconditionalUpdate: false,
    validate: checked(validate),
  },
});

/** Each is compiled with all before it as its types: 250 take 50 ms, 2,000 take 600. Kubernetes has no limit. */
const MAX_VARIABLES = 250;

function validate(root: FieldPath, { metadata, spec = {} }: ValidatingAdmissionPolicy): void {
  const at = root.field('spec');
  const { paramKind, failurePolicy, matchConditions = [], variables } = spec;
  const hasParams = paramKind !== undefined;
  const compiler = new PolicyCompiler(hasParams);
  mustBeOneOf(at.field('failurePolicy'), failurePolicy, FAILURE_POLICIES);
  if (hasParams) validateParamKind(at.field('paramKind'), paramKind);
  validateConstraints(at.field('matchConstraints'), spec);
  // Conditions run before variables exist.
  validateMatchConditions(at.field('matchConditions'), matchConditions, new PolicyCompiler(hasParams));
  if (variables !== undefined && variables.length > MAX_VARIABLES) {
    at.field('variables').tooMany(variables.length, MAX_VARIABLES);
    return;
  }
  for (const [path, variable] of at.field('variables').each(variables))
    validateVariable(path, variable, compiler);
  validateChecks(at, spec, { policyName: metadata.name ?? '', compiler });
}

function validateParamKind(at: FieldPath, { apiVersion = '', kind = '' }: ParamKind): void {
  validateApiVersion(at.field('apiVersion'), apiVersion);
  if (kind === '') at.field('kind').required();
  else validateKind(at.field('kind'), kind);
}

/** `v1` or `apps/v1`. */
function validateApiVersion(at: FieldPath, apiVersion: string): void {
  const pieces = apiVersion.split('/');
  if (apiVersion === '') {
    at.required();
    return;
  }
  if (pieces.length > 2) {
    at.invalid(apiVersion, `unexpected GroupVersion string: ${apiVersion}`);
    return;
  }
  const [group, version] = pieces.length === 2 ? pieces : ['', apiVersion];
  if (group) mustBeNameInOneError(at, group, 'dns-subdomain');
  if (version) mustBeNameInOneError(at, version, 'dns-1035-label');
  else at.invalid(apiVersion, 'version must be specified');
}

function validateKind(at: FieldPath, kind: string): void {
  const problems = checkName(kind.toLowerCase(), 'dns-1035-label');
  if (problems.length > 0)
    at.invalid(kind, `may have mixed case, but should otherwise match: ${problems.join(',')}`);
}

function validateConstraints(at: FieldPath, { matchConstraints }: ValidatingAdmissionPolicySpec): void {
  if (matchConstraints === undefined) {
    at.required();
    return;
  }
  const { resourceRules = [] } = matchConstraints;
  validateMatchResources(at, matchConstraints);
  if (resourceRules.length === 0) at.field('resourceRules').required();
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
