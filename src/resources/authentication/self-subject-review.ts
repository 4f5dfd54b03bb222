import { define } from '../define.ts';

export const selfsubjectreviews = define({
  group: 'authentication.k8s.io',
  resource: 'selfsubjectreviews',
  kind: 'SelfSubjectReview',
  namespaced: false,
  verbs: ['create'],
  versions: [
    { version: 'v1', type: 'authentication/v1.SelfSubjectReview' },
    { version: 'v1beta1', type: 'authentication/v1beta1.SelfSubjectReview', enabledByDefault: false },
    { version: 'v1alpha1', type: 'authentication/v1alpha1.SelfSubjectReview', enabledByDefault: false },
  ],
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: false,
  },
});
