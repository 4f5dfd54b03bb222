import { define } from '../define.ts';

export const selfsubjectaccessreviews = define({
  group: 'authorization.k8s.io',
  resource: 'selfsubjectaccessreviews',
  kind: 'SelfSubjectAccessReview',
  namespaced: false,
  verbs: ['create'],
  versions: [{ version: 'v1', type: 'authorization/v1.SelfSubjectAccessReview' }],
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: false,
  },
});
