import type { MutatingAdmissionPolicy } from '../../api/types/admissionregistration/v1.ts';
import { PolicyCompiler } from '../../cel/policies/compiler.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { checked } from '../rules/checked.ts';
import { mustBeOneOf } from '../rules/name-rules.ts';
import { newExpressions, validateMutation, validateVariables } from './expressions.ts';
import {
  conditionsRatchet,
  FAILURE_POLICIES,
  mustBeFewExpressions,
  mustNotMatchDeletions,
  validateMatchConditions,
  validateMatchConstraints,
} from './match-criteria.ts';
import { paramKindText, validateParamKind } from './params.ts';
import { reservesStaticNames } from './reserved-names.ts';

export const mutatingadmissionpolicies = define<MutatingAdmissionPolicy>({
  group: 'admissionregistration.k8s.io',
  resource: 'mutatingadmissionpolicies',
  kind: 'MutatingAdmissionPolicy',
  namespaced: false,
  exemptFrom: ['webhooks', 'policies'],
  categories: ['api-extensions'],
  versions: [
    { version: 'v1', type: 'admissionregistration/v1.MutatingAdmissionPolicy', since: 36 },
    {
      version: 'v1beta1',
      type: 'admissionregistration/v1beta1.MutatingAdmissionPolicy',
      enabledByDefault: false,
      since: 34,
    },
    {
      version: 'v1alpha1',
      type: 'admissionregistration/v1alpha1.MutatingAdmissionPolicy',
      enabledByDefault: false,
      since: 32,
    },
  ],
  storedVersion: 'v1alpha1',
  table: {
    columns: [nameColumn(), column('Mutations', 0, 'integer'), column('ParamKind'), column('Age')],
    cells: (policy, now) => [
      policy.metadata.name ?? '',
      (policy.spec?.mutations ?? []).length,
      paramKindText(policy.spec?.paramKind),
      age(policy, now),
    ],
  },
  ratchets: [conditionsRatchet<MutatingAdmissionPolicy>(/^spec\.matchConditions/, ({ spec = {} }) => [spec])],
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
  { spec = {} }: MutatingAdmissionPolicy,
  old?: MutatingAdmissionPolicy,
): void {
  const at = root.field('spec');
  const { paramKind, failurePolicy, matchConstraints, matchConditions = [], mutations = [] } = spec;
  const hasParams = paramKind !== undefined;
  const limit = newExpressions(root.isOn, old?.spec);
  const compiler = new PolicyCompiler(hasParams, limit);
  mustBeOneOf(at.field('failurePolicy'), failurePolicy, FAILURE_POLICIES);
  if (hasParams) validateParamKind(at.field('paramKind'), paramKind);
  validateMatchConstraints(at.field('matchConstraints'), matchConstraints);
  mustNotMatchDeletions(at.field('matchConstraints'), matchConstraints);
  validateMatchConditions(at.field('matchConditions'), matchConditions, new PolicyCompiler(hasParams, limit));
  const compiles = validateVariables(at.field('variables'), spec.variables, compiler);
  if (mutations.length === 0) at.field('mutations').required('mutations must contain at least one item');
  if (compiles && mustBeFewExpressions(at.field('mutations'), mutations.length))
    for (const [path, mutation] of at.field('mutations').each(mutations))
      validateMutation(path, mutation, compiler);
  if (!spec.reinvocationPolicy) at.field('reinvocationPolicy').required();
}
