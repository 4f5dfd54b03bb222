import { define } from '../define.ts';

export const storageversionmigrations = define({
  group: 'storagemigration.k8s.io',
  resource: 'storageversionmigrations',
  kind: 'StorageVersionMigration',
  namespaced: false,
  versions: [
    {
      version: 'v1alpha1',
      type: 'storagemigration/v1alpha1.StorageVersionMigration',
      enabledByDefault: false,
    },
  ],
  emptyStatus: {},
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: false,
  },
});
