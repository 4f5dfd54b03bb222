import { define } from '../define.ts';

export const apiservices = define({
  group: 'apiregistration.k8s.io',
  resource: 'apiservices',
  kind: 'APIService',
  namespaced: false,
  categories: ['api-extensions'],
  versions: [{ version: 'v1', type: 'apiregistration/v1.APIService' }],
  emptyStatus: {},
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: false,
  },
});
