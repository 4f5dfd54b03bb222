import { part, parts, text } from '../../object/parts.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { has } from '../validation/fields.ts';
import { POLICY_RATCHETS } from './ratchets.ts';
import { defaultMatchResources } from './validate-match.ts';
import { validatePolicy, validatePolicyStatus } from './validate-policy.ts';

export const validatingadmissionpolicies = define({
  group: 'admissionregistration.k8s.io',
  resource: 'validatingadmissionpolicies',
  kind: 'ValidatingAdmissionPolicy',
  namespaced: false,
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
  validateStatus: validatePolicyStatus,
  table: {
    columns: [nameColumn(), column('Validations', 0, 'integer'), column('ParamKind'), column('Age')],
    cells: (policy, now) => {
      const spec = part(policy, 'spec');
      const { apiVersion, kind } = part(spec, 'paramKind');
      return [
        policy.metadata.name ?? '',
        parts(spec, 'validations').length,
        has(spec, 'paramKind') ? `${text(apiVersion)}/${text(kind)}` : '<unset>',
        age(policy, now),
      ];
    },
  },
  ratchets: POLICY_RATCHETS,
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: true,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: false,
    defaults: (policy) => {
      const spec = part(policy, 'spec');
      spec.failurePolicy ??= 'Fail';
      defaultMatchResources(part(spec, 'matchConstraints'));
    },
    validate: validatePolicy,
  },
});
