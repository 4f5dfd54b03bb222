import { define } from '../define.ts';

export const csistoragecapacities = define({
  group: 'storage.k8s.io',
  resource: 'csistoragecapacities',
  kind: 'CSIStorageCapacity',
  namespaced: true,
  versions: [{ version: 'v1', type: 'storage/v1.CSIStorageCapacity' }],
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: false,
  },
});
