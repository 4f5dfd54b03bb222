import { define } from '../define.ts';

export const podschedulingcontexts = define({
  group: 'resource.k8s.io',
  resource: 'podschedulingcontexts',
  kind: 'PodSchedulingContext',
  namespaced: true,
  versions: [
    { version: 'v1alpha3', type: 'resource/v1alpha3.PodSchedulingContext', enabledByDefault: false },
  ],
  emptyStatus: {},
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    returnsDeletedObject: true,
  },
});
