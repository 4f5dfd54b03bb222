import { define } from '../define.ts';

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
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: true,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: false,
  },
});
