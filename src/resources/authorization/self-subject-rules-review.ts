import { define } from '../define.ts';

export const selfsubjectrulesreviews = define({
  group: 'authorization.k8s.io',
  resource: 'selfsubjectrulesreviews',
  kind: 'SelfSubjectRulesReview',
  namespaced: false,
  verbs: ['create'],
  versions: [{ version: 'v1', type: 'authorization/v1.SelfSubjectRulesReview' }],
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: false,
  },
});
