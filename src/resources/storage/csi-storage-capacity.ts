import type { CSIStorageCapacity } from '../../api/types/storage/v1.ts';
import { FieldPath } from '../../object/field-path.ts';
import { define } from '../define.ts';
import { addNodeTermWarnings, deprecatedLabel } from '../pod/placement-warnings.ts';
import { checked, selectorRatchet } from '../rules/checked.ts';
import { mustBeLabelSelector } from '../rules/labels.ts';
import { mustBeName } from '../rules/name-rules.ts';
import { mustBeNonNegativeQuantity } from '../rules/numbers.ts';

export const csistoragecapacities = define<CSIStorageCapacity>({
  group: 'storage.k8s.io',
  resource: 'csistoragecapacities',
  kind: 'CSIStorageCapacity',
  namespaced: true,
  versions: [{ version: 'v1', type: 'storage/v1.CSIStorageCapacity' }],
  ratchets: [selectorRatchet('nodeTopology')],
  strategy: {
    allowUnconditionalUpdate: false,
    validate: checked(validate),
    warnings,
  },
});

function validate(
  at: FieldPath,
  { nodeTopology, storageClassName = '', capacity }: CSIStorageCapacity,
): void {
  mustBeLabelSelector(at.field('nodeTopology'), nodeTopology);
  mustBeName(at.field('storageClassName'), storageClassName, 'dns-subdomain');
  mustBeNonNegativeQuantity(at.field('capacity'), capacity);
}

function warnings({ nodeTopology = {} }: CSIStorageCapacity): string[] {
  const said: string[] = [];
  const at = FieldPath.root().field('nodeTopology');
  addNodeTermWarnings(said, at, nodeTopology);
  for (const label of Object.keys(nodeTopology.matchLabels ?? {})) {
    const why = deprecatedLabel(label);
    if (why !== undefined) said.push(`${at}.matchLabels.${label}: ${why}`);
  }
  return said;
}
