import type { DeviceClass } from '../../api/types/resource/stored.ts';
import { equal } from '../../object/equality.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { isExtendedResource } from '../../object/resource-list.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { checked } from '../rules/checked.ts';
import {
  MAX_CONFIGURATIONS,
  validateConfiguration,
  validateDeviceSelectors,
} from './device-configuration.ts';
import { compilingSelectors, type SelectorList } from './device-selectors.ts';
import { hasAtMost } from './list-limits.ts';

export const deviceclasses = define<DeviceClass>({
  group: 'resource.k8s.io',
  resource: 'deviceclasses',
  kind: 'DeviceClass',
  namespaced: false,
  versions: [
    { version: 'v1', type: 'resource/v1.DeviceClass', since: 34 },
    { version: 'v1beta2', type: 'resource/v1beta2.DeviceClass', enabledByDefault: false, since: 33 },
    { version: 'v1beta1', type: 'resource/v1beta1.DeviceClass', enabledByDefault: false, since: 32 },
    {
      version: 'v1alpha3',
      type: 'resource/v1alpha3.DeviceClass',
      enabledByDefault: false,
      since: 32,
      until: 34,
    },
  ],
  storage: {
    group: 'resource.k8s.io',
    resource: 'deviceclasses',
    version: 'v1',
    type: 'resource/stored.DeviceClass',
  },
  table: {
    columns: [nameColumn(), column('Age')],
    cells: (deviceClass, now) => [deviceClass.metadata.name ?? '', age(deviceClass, now)],
  },
  strategy: {
    tracksGeneration: true,
    returnsDeletedObject: true,
    validate: checked(validate),
    validateInSteps: compilingSelectors(validate, newSelectors),
  },
});

function newSelectors(root: FieldPath, { spec }: DeviceClass, old?: DeviceClass): SelectorList[] {
  if (equal(spec?.selectors, old?.spec?.selectors)) return [];
  return [[root.field('spec').field('selectors'), spec?.selectors]];
}

function validate(root: FieldPath, { spec = {} }: DeviceClass, old?: DeviceClass): void {
  const at = root.field('spec');
  const { selectors = [], config = [], extendedResourceName } = spec;
  const before = old?.spec;
  validateDeviceSelectors(at.field('selectors'), selectors, equal(selectors, before?.selectors));
  if (hasAtMost(at.field('config'), MAX_CONFIGURATIONS, config))
    for (const [path, configuration] of at.field('config').each(config))
      validateConfiguration(path, configuration, equal(config, before?.config));
  if (extendedResourceName !== undefined && !isExtendedResource(extendedResourceName))
    at.field('extendedResourceName').invalid(extendedResourceName, 'must be a valid extended resource name');
}
