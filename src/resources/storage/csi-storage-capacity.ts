import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { equal } from '../../object/equality.ts';
import { invalidValue } from '../../object/field-errors.ts';
import { FieldPath } from '../../object/field-path.ts';
import { part, text } from '../../object/parts.ts';
import { define } from '../define.ts';
import { addNodeTermWarnings, deprecatedLabel } from '../pod/placement-warnings.ts';
import { validateLabelSelector } from '../validation/label-selector.ts';
import { validateNonNegativeQuantity } from '../validation/quantity-values.ts';
import { selectorRatchet } from '../validation/ratchet.ts';
import { validateName } from '../validation/values.ts';

export const csistoragecapacities = define({
  group: 'storage.k8s.io',
  resource: 'csistoragecapacities',
  kind: 'CSIStorageCapacity',
  namespaced: true,
  versions: [{ version: 'v1', type: 'storage/v1.CSIStorageCapacity' }],
  ratchets: [selectorRatchet('nodeTopology')],
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: false,
    validate,
    validateUpdate: (object, old) =>
      ['nodeTopology', 'storageClassName']
        .filter((field) => !equal(object[field], old[field]))
        .map((field) => invalidValue(field, object[field], 'field is immutable')),
    warnings: (object) => topologyWarnings(part(object, 'nodeTopology'), 'nodeTopology'),
  },
});

function topologyWarnings(topology: JsonObject, path: string): string[] {
  const said: string[] = [];
  addNodeTermWarnings(said, FieldPath.root().field(path), topology);
  for (const label of Object.keys(part(topology, 'matchLabels'))) {
    const why = deprecatedLabel(label);
    if (why !== undefined) said.push(`${path}.matchLabels.${label}: ${why}`);
  }
  return said;
}

function validate(object: ApiObject): FieldError[] {
  return [
    ...validateLabelSelector(part(object, 'nodeTopology'), 'nodeTopology'),
    ...validateName('storageClassName', text(object.storageClassName), 'dns-subdomain'),
    ...validateNonNegativeQuantity(object.capacity, 'capacity'),
  ];
}
