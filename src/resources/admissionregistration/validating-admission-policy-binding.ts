import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import { part, text } from '../../object/parts.ts';
import { age, selectorText } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { has } from '../validation/fields.ts';
import { validatePolicyBinding } from './validate-binding.ts';
import { defaultMatchResources } from './validate-match.ts';

export const validatingadmissionpolicybindings = define({
  group: 'admissionregistration.k8s.io',
  resource: 'validatingadmissionpolicybindings',
  kind: 'ValidatingAdmissionPolicyBinding',
  namespaced: false,
  categories: ['api-extensions'],
  versions: [
    { version: 'v1', type: 'admissionregistration/v1.ValidatingAdmissionPolicyBinding' },
    {
      version: 'v1beta1',
      type: 'admissionregistration/v1beta1.ValidatingAdmissionPolicyBinding',
      enabledByDefault: false,
    },
    {
      version: 'v1alpha1',
      type: 'admissionregistration/v1alpha1.ValidatingAdmissionPolicyBinding',
      enabledByDefault: false,
      conversion: {
        toStorage: denyWithoutParameters,
        fromStorage: (binding) => toVersion(binding, 'v1alpha1'),
      },
    },
  ],
  table: {
    columns: [nameColumn(), column('PolicyName'), column('ParamRef'), column('Age')],
    cells: (binding, now) => [
      binding.metadata.name ?? '',
      text(part(binding, 'spec').policyName),
      toParamText(part(binding, 'spec', 'paramRef')),
      age(binding, now),
    ],
  },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: true,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: false,
    defaults: (binding) => defaultMatchResources(part(binding, 'spec', 'matchResources')),
    validate: validatePolicyBinding,
  },
});

// `namespace/name`, `*/name` where it is unknown whether the kind has namespaces, or what is selected.
function toParamText(ref: JsonObject): string {
  if (text(ref.name) !== '') return `${text(ref.namespace, '*')}/${text(ref.name)}`;
  return has(ref, 'selector') ? selectorText(part(ref, 'selector')) : '<unset>';
}

const toVersion = (binding: ApiObject, version: string): ApiObject => ({
  ...binding,
  apiVersion: `admissionregistration.k8s.io/${version}`,
});

/** v1alpha1 alone has an answer to parameters that are not found. */
function denyWithoutParameters(binding: ApiObject): ApiObject {
  const stored = toVersion(structuredClone(binding), 'v1');
  part(stored, 'spec', 'paramRef').parameterNotFoundAction ??= 'Deny';
  return stored;
}
