import { define } from '../define.ts';

export const localsubjectaccessreviews = define({
  group: 'authorization.k8s.io',
  resource: 'localsubjectaccessreviews',
  kind: 'LocalSubjectAccessReview',
  namespaced: true,
  verbs: ['create'],
  versions: [{ version: 'v1', type: 'authorization/v1.LocalSubjectAccessReview' }],
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: false,
  },
});
