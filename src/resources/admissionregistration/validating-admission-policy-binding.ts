import type { ValidatingAdmissionPolicyBinding } from '../../api/types/admissionregistration/v1.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { goList } from '../../object/go-value.ts';
import { define } from '../define.ts';
import { checked } from '../rules/checked.ts';
import { mustBeNamed, mustBeOneOf } from '../rules/name-rules.ts';
import { validateMatchResources } from './match-criteria.ts';
import { bindingTable, validateParamRef } from './params.ts';
import { reservesStaticNames } from './reserved-names.ts';

export const validatingadmissionpolicybindings = define<ValidatingAdmissionPolicyBinding>({
  group: 'admissionregistration.k8s.io',
  resource: 'validatingadmissionpolicybindings',
  kind: 'ValidatingAdmissionPolicyBinding',
  namespaced: false,
  exemptFrom: ['webhooks', 'policies'],
  categories: ['api-extensions'],
  versions: [
    { version: 'v1', type: 'admissionregistration/v1.ValidatingAdmissionPolicyBinding' },
    {
      version: 'v1beta1',
      type: 'admissionregistration/v1beta1.ValidatingAdmissionPolicyBinding',
      enabledByDefault: false,
      until: 34,
    },
    {
      version: 'v1alpha1',
      type: 'admissionregistration/v1alpha1.ValidatingAdmissionPolicyBinding',
      enabledByDefault: false,
      until: 32,
    },
  ],
  table: bindingTable,
  strategy: {
    finalizersNeedDomains: false,
    tracksGeneration: true,
    ...reservesStaticNames,
    allowUnconditionalUpdate: false,
    validate: checked(validate),
  },
});

/** A binding puts a policy in force, with its scope, parameters and actions. */
function validate(root: FieldPath, { spec = {} }: ValidatingAdmissionPolicyBinding): void {
  const at = root.field('spec');
  const { policyName = '', paramRef, matchResources = {}, validationActions = [] } = spec;
  mustBeNamed(at.field('policyName'), policyName, 'dns-subdomain');
  if (paramRef !== undefined) validateParamRef(at.field('paramRef'), paramRef);
  validateMatchResources(at.field('matchResources'), matchResources);
  validateActions(at.field('validationActions'), validationActions);
}

const ACTIONS = ['Audit', 'Deny', 'Warn'];

function validateActions(at: FieldPath, actions: readonly string[]): void {
  if (actions.length === 0) at.required('at least one validation action is required');
  const seen = new Set<string>();
  for (const [path, action] of at.each(actions)) {
    mustBeOneOf(path, action, ACTIONS);
    if (seen.has(action)) path.duplicate(action);
    seen.add(action);
  }
  if (seen.has('Deny') && seen.has('Warn'))
    at.invalid(
      goList('admissionregistration.ValidationAction', actions),
      'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
    );
}
