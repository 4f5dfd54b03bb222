import { defineReview } from '../review.ts';

export const selfsubjectreviews = defineReview({
  group: 'authentication.k8s.io',
  resource: 'selfsubjectreviews',
  kind: 'SelfSubjectReview',
  namespaced: false,
  versions: [
    { version: 'v1', type: 'authentication/v1.SelfSubjectReview' },
    { version: 'v1beta1', type: 'authentication/v1beta1.SelfSubjectReview', enabledByDefault: false },
    { version: 'v1alpha1', type: 'authentication/v1alpha1.SelfSubjectReview', enabledByDefault: false },
  ],
});

export const tokenreviews = defineReview({
  group: 'authentication.k8s.io',
  resource: 'tokenreviews',
  kind: 'TokenReview',
  namespaced: false,
  versions: [{ version: 'v1', type: 'authentication/v1.TokenReview' }],
});
