import type { ApiObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { equal } from '../../object/equality.ts';
import { invalidValue } from '../../object/field-errors.ts';
import { nextGeneration } from '../../object/generation.ts';
import { goList, shown } from '../../object/go-value.ts';
import { part, parts, text } from '../../object/parts.ts';
import type { Cell } from '../../registry/definition.ts';
import { age, NONE } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { strings } from '../validation/values.ts';
import { validateCsiDriverSpec } from './validate-csi-driver.ts';

export const csidrivers = define({
  group: 'storage.k8s.io',
  resource: 'csidrivers',
  kind: 'CSIDriver',
  namespaced: false,
  versions: [{ version: 'v1', type: 'storage/v1.CSIDriver' }],
  table: {
    columns: [
      nameColumn(),
      column('AttachRequired', 0, 'boolean'),
      column('PodInfoOnMount', 0, 'boolean'),
      column('StorageCapacity', 0, 'boolean'),
      column('TokenRequests'),
      column('RequiresRepublish', 0, 'boolean'),
      column('Modes'),
      column('Age'),
    ],
    cells,
  },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: false,
    returnsDeletedObject: true,
    defaults: (driver) => {
      const spec = part(driver, 'spec');
      if (strings(spec, 'volumeLifecycleModes').length === 0) spec.volumeLifecycleModes = ['Persistent'];
    },
    // Unlike other resources a new driver has no generation; the first change of its spec gives it one.
    prepareForUpdate: (driver, old) => {
      if (!equal(driver.spec, old.spec)) driver.metadata.generation = nextGeneration(old.metadata);
    },
    validate: (driver) => validateCsiDriverSpec(part(driver, 'spec'), 'spec'),
    validateUpdate,
  },
});

function cells(driver: ApiObject, now: number): readonly Cell[] {
  const spec = part(driver, 'spec');
  const requests = parts(spec, 'tokenRequests');
  return [
    driver.metadata.name ?? '',
    spec.attachRequired !== false,
    spec.podInfoOnMount === true,
    spec.storageCapacity === true,
    requests.length === 0 ? '<unset>' : requests.map(({ audience }) => text(audience)).join(','),
    spec.requiresRepublish === true,
    text(strings(spec, 'volumeLifecycleModes').join(','), NONE),
    age(driver, now),
  ];
}

function validateUpdate(driver: ApiObject, old: ApiObject): FieldError[] {
  const spec = part(driver, 'spec');
  const before = part(old, 'spec');
  // Kubernetes calls the first field so in errors.
  return [
    ...(spec.attachRequired === before.attachRequired
      ? []
      : [invalidValue('spec.attachedRequired', spec.attachRequired, 'field is immutable')]),
    ...(equal(spec.volumeLifecycleModes, before.volumeLifecycleModes)
      ? []
      : [
          invalidValue(
            'spec.volumeLifecycleModes',
            shown(goList('storage.VolumeLifecycleMode', spec.volumeLifecycleModes)),
            'field is immutable',
          ),
        ]),
  ];
}
