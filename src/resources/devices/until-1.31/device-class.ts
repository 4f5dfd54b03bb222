import type { DeviceClass } from '../../../api/types/resource/v1alpha3.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { age } from '../../cells.ts';
import { column, define, nameColumn } from '../../define.ts';
import { validateNodeSelector } from '../../pod/validation/placement.ts';
import { checked } from '../../rules/checked.ts';
import { mustHaveAtMost } from '../device-names.ts';
import { MAX_CONFIGURATIONS, validateConfiguration, validateDeviceSelectors } from './claim-spec.ts';

export const deviceclasses = define<DeviceClass>({
  group: 'resource.k8s.io',
  resource: 'deviceclasses',
  kind: 'DeviceClass',
  namespaced: false,
  versions: [
    { version: 'v1alpha3', type: 'resource/v1alpha3.DeviceClass', enabledByDefault: false, until: 32 },
  ],
  table: {
    columns: [nameColumn(), column('Age')],
    cells: (deviceClass, now) => [deviceClass.metadata.name ?? '', age(deviceClass, now)],
  },
  strategy: {
    tracksGeneration: true,
    returnsDeletedObject: true,
    validate: checked(validate),
  },
});

function validate(root: FieldPath, { spec = {} }: DeviceClass): void {
  const at = root.field('spec');
  const { selectors = [], config = [], suitableNodes } = spec;
  validateDeviceSelectors(at.field('selectors'), selectors);
  for (const [path, configuration] of at.field('config').each(config))
    validateConfiguration(path, configuration);
  mustHaveAtMost(at.field('config'), MAX_CONFIGURATIONS, config);
  // Kubernetes leaves the spec out of this path.
  if (suitableNodes !== undefined) validateNodeSelector(root.field('suitableNodes'), suitableNodes);
}
