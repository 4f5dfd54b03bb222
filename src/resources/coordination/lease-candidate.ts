import { define } from '../define.ts';

export const leasecandidates = define({
  group: 'coordination.k8s.io',
  resource: 'leasecandidates',
  kind: 'LeaseCandidate',
  namespaced: true,
  versions: [{ version: 'v1alpha1', type: 'coordination/v1alpha1.LeaseCandidate', enabledByDefault: false }],
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: true,
    allowUnconditionalUpdate: false,
  },
});
