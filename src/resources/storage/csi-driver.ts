import { define } from '../define.ts';

export const csidrivers = define({
  group: 'storage.k8s.io',
  resource: 'csidrivers',
  kind: 'CSIDriver',
  namespaced: false,
  versions: [{ version: 'v1', type: 'storage/v1.CSIDriver' }],
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: false,
    returnsDeletedObject: true,
  },
});
