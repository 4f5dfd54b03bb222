import { define } from '../define.ts';

export const resourceclaims = define({
  group: 'resource.k8s.io',
  resource: 'resourceclaims',
  kind: 'ResourceClaim',
  namespaced: true,
  versions: [{ version: 'v1alpha3', type: 'resource/v1alpha3.ResourceClaim', enabledByDefault: false }],
  emptyStatus: {},
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    returnsDeletedObject: true,
  },
});
