import { define } from '../define.ts';

export const tokenreviews = define({
  group: 'authentication.k8s.io',
  resource: 'tokenreviews',
  kind: 'TokenReview',
  namespaced: false,
  verbs: ['create'],
  versions: [{ version: 'v1', type: 'authentication/v1.TokenReview' }],
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: false,
  },
});
