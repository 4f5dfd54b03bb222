import type { MutatingAdmissionPolicyBinding } from '../../api/types/admissionregistration/v1.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { define } from '../define.ts';
import { checked } from '../rules/checked.ts';
import { mustBeNamed } from '../rules/name-rules.ts';
import { mustNotMatchDeletions, validateMatchResources } from './match-criteria.ts';
import { bindingTable, validateParamRef } from './params.ts';
import { reservesStaticNames } from './reserved-names.ts';

export const mutatingadmissionpolicybindings = define<MutatingAdmissionPolicyBinding>({
  group: 'admissionregistration.k8s.io',
  resource: 'mutatingadmissionpolicybindings',
  kind: 'MutatingAdmissionPolicyBinding',
  namespaced: false,
  exemptFrom: ['webhooks', 'policies'],
  categories: ['api-extensions'],
  versions: [
    { version: 'v1', type: 'admissionregistration/v1.MutatingAdmissionPolicyBinding', since: 36 },
    {
      version: 'v1beta1',
      type: 'admissionregistration/v1beta1.MutatingAdmissionPolicyBinding',
      enabledByDefault: false,
      since: 34,
    },
    {
      version: 'v1alpha1',
      type: 'admissionregistration/v1alpha1.MutatingAdmissionPolicyBinding',
      enabledByDefault: false,
      since: 32,
    },
  ],
  storedVersion: 'v1alpha1',
  table: bindingTable,
  strategy: {
    finalizersNeedDomains: false,
    tracksGeneration: true,
    ...reservesStaticNames,
    allowUnconditionalUpdate: false,
    validate: checked(validate),
  },
});

/** A binding puts a policy in force, with its scope and parameters. */
function validate(root: FieldPath, { spec = {} }: MutatingAdmissionPolicyBinding): void {
  const at = root.field('spec');
  const { policyName = '', paramRef, matchResources } = spec;
  mustBeNamed(at.field('policyName'), policyName, 'dns-subdomain');
  if (paramRef !== undefined) validateParamRef(at.field('paramRef'), paramRef);
  validateMatchResources(at.field('matchResources'), matchResources ?? {});
  mustNotMatchDeletions(at.field('matchResources'), matchResources);
}
