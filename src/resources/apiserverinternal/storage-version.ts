import { define } from '../define.ts';

export const storageversions = define({
  group: 'internal.apiserver.k8s.io',
  resource: 'storageversions',
  kind: 'StorageVersion',
  namespaced: false,
  versions: [
    { version: 'v1alpha1', type: 'apiserverinternal/v1alpha1.StorageVersion', enabledByDefault: false },
  ],
  emptyStatus: {},
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: false,
  },
});
