import type { ResourceClaimTemplate } from '../../../api/types/resource/v1alpha3.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { age } from '../../cells.ts';
import { column, define, nameColumn } from '../../define.ts';
import { checked } from '../../rules/checked.ts';
import { validateClaimMeta } from '../claim-rules.ts';
import { setClaimDefaults, validateClaimSpec } from './claim-spec.ts';

export const resourceclaimtemplates = define<ResourceClaimTemplate>({
  group: 'resource.k8s.io',
  resource: 'resourceclaimtemplates',
  kind: 'ResourceClaimTemplate',
  namespaced: true,
  versions: [
    {
      version: 'v1alpha3',
      type: 'resource/v1alpha3.ResourceClaimTemplate',
      enabledByDefault: false,
      until: 32,
    },
  ],
  table: {
    columns: [nameColumn(), column('Age')],
    cells: (template, now) => [template.metadata.name ?? '', age(template, now)],
  },
  strategy: {
    returnsDeletedObject: true,
    defaults: ({ spec = {} }) => setClaimDefaults(spec.spec ?? {}),
    validate: checked(validate),
  },
});

function validate(root: FieldPath, { spec = {} }: ResourceClaimTemplate): void {
  const at = root.field('spec');
  validateClaimMeta(at.field('metadata'), spec.metadata ?? {});
  validateClaimSpec(at.field('spec'), spec.spec ?? {});
}
