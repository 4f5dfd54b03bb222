import { define } from '../define.ts';

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
    },
  ],
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: true,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: false,
  },
});
