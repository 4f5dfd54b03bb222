import { part, text } from '../../object/parts.ts';
import { column, define } from '../define.ts';
import { validateMigration, validateMigrationStatus, validateMigrationUpdate } from './validate-migration.ts';

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
  statusResets: [['spec'], ['metadata']],
  validateStatus: validateMigrationStatus,
  table: {
    columns: [column('Name'), column('Resource')],
    cells: (migration) => {
      const { resource, version, group } = part(migration, 'spec', 'resource');
      return [migration.metadata.name ?? '', `${text(resource)}.${text(version)}.${text(group)}`];
    },
  },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: false,
    validate: validateMigration,
    validateUpdate: validateMigrationUpdate,
  },
});
