import { define } from '../define.ts';

export const resourceslices = define({
  group: 'resource.k8s.io',
  resource: 'resourceslices',
  kind: 'ResourceSlice',
  namespaced: false,
  versions: [{ version: 'v1alpha3', type: 'resource/v1alpha3.ResourceSlice', enabledByDefault: false }],
  fields: {
    paths: {
      'spec.nodeName': ['spec.nodeName'],
      'spec.driver': ['spec.driver'],
    },
  },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: true,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    returnsDeletedObject: true,
  },
});
