import { define } from '../define.ts';

export const subjectaccessreviews = define({
  group: 'authorization.k8s.io',
  resource: 'subjectaccessreviews',
  kind: 'SubjectAccessReview',
  namespaced: false,
  verbs: ['create'],
  versions: [{ version: 'v1', type: 'authorization/v1.SubjectAccessReview' }],
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: false,
  },
});
