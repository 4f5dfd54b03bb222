import { define } from '../define.ts';

export const endpointslices = define({
  group: 'discovery.k8s.io',
  resource: 'endpointslices',
  kind: 'EndpointSlice',
  namespaced: true,
  versions: [{ version: 'v1', type: 'discovery/v1.EndpointSlice' }],
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: true,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
  },
});
