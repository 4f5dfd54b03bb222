import { define } from '../define.ts';

export const resourceclaimtemplates = define({
  group: 'resource.k8s.io',
  resource: 'resourceclaimtemplates',
  kind: 'ResourceClaimTemplate',
  namespaced: true,
  versions: [
    { version: 'v1alpha3', type: 'resource/v1alpha3.ResourceClaimTemplate', enabledByDefault: false },
  ],
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    returnsDeletedObject: true,
  },
});
