import { define } from '../define.ts';

export const csinodes = define({
  group: 'storage.k8s.io',
  resource: 'csinodes',
  kind: 'CSINode',
  namespaced: false,
  versions: [{ version: 'v1', type: 'storage/v1.CSINode' }],
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: false,
    returnsDeletedObject: true,
  },
});
