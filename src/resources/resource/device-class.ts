import type { ApiObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { problemsOf } from '../../object/field-path.ts';
import { part, parts } from '../../object/parts.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { validateNodeSelector } from '../pod/validation/node-selector.ts';
import { has } from '../validation/fields.ts';
import { MAX_CONFIGURATIONS, validateConfiguration } from './validate-configuration.ts';
import { validateSize } from './validate-names.ts';
import { validateSelectors } from './validate-requests.ts';

export const deviceclasses = define({
  group: 'resource.k8s.io',
  resource: 'deviceclasses',
  kind: 'DeviceClass',
  namespaced: false,
  versions: [{ version: 'v1alpha3', type: 'resource/v1alpha3.DeviceClass', enabledByDefault: false }],
  table: {
    columns: [nameColumn(), column('Age')],
    cells: (deviceClass, now) => [deviceClass.metadata.name ?? '', age(deviceClass, now)],
  },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: true,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    returnsDeletedObject: true,
    validate: validateDeviceClass,
  },
});

function validateDeviceClass(deviceClass: ApiObject): FieldError[] {
  const spec = part(deviceClass, 'spec');
  const configurations = parts(spec, 'config');
  return [
    ...validateSelectors(parts(spec, 'selectors'), 'spec.selectors'),
    ...configurations.flatMap((one, at) => validateConfiguration(one, `spec.config[${at}]`)),
    ...validateSize(configurations, MAX_CONFIGURATIONS, 'spec.config'),
    ...(has(spec, 'suitableNodes')
      ? problemsOf((at) => validateNodeSelector(at, part(spec, 'suitableNodes')), 'suitableNodes')
      : []),
  ];
}
