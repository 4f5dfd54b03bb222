import type { ResourceClaimTemplate } from '../../api/types/resource/stored.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { checked } from '../rules/checked.ts';
import { validateClaimMeta } from './claim-rules.ts';
import { selectorsOf, setClaimDefaults, validateClaimSpec } from './device-claim-spec.ts';
import { compilingSelectors } from './device-selectors.ts';
import { templateV1alpha3, templateV1beta1 } from './v1beta1.ts';

export const resourceclaimtemplates = define<ResourceClaimTemplate>({
  group: 'resource.k8s.io',
  resource: 'resourceclaimtemplates',
  kind: 'ResourceClaimTemplate',
  namespaced: true,
  versions: [
    { version: 'v1', type: 'resource/v1.ResourceClaimTemplate', since: 34 },
    {
      version: 'v1beta2',
      type: 'resource/v1beta2.ResourceClaimTemplate',
      enabledByDefault: false,
      since: 33,
    },
    {
      version: 'v1beta1',
      type: 'resource/v1beta1.ResourceClaimTemplate',
      enabledByDefault: false,
      conversion: templateV1beta1,
      since: 32,
    },
    {
      version: 'v1alpha3',
      type: 'resource/v1alpha3.ResourceClaimTemplate',
      enabledByDefault: false,
      conversion: templateV1alpha3,
      since: 32,
      until: 34,
    },
  ],
  storage: {
    group: 'resource.k8s.io',
    resource: 'resourceclaimtemplates',
    version: 'v1',
    type: 'resource/stored.ResourceClaimTemplate',
  },
  table: {
    columns: [nameColumn(), column('Age')],
    cells: (template, now) => [template.metadata.name ?? '', age(template, now)],
  },
  strategy: {
    returnsDeletedObject: true,
    defaults: ({ spec = {} }) => setClaimDefaults(spec.spec ?? {}),
    validate: checked(validate),
    validateInSteps: compilingSelectors(validate, (root, { spec }, old) =>
      old === undefined ? selectorsOf(root.field('spec').field('spec'), spec?.spec ?? {}) : [],
    ),
  },
});

/** The spec cannot change: only a new one is judged. */
function validate(root: FieldPath, { spec = {} }: ResourceClaimTemplate, old?: ResourceClaimTemplate): void {
  if (old !== undefined) return;
  const at = root.field('spec');
  validateClaimMeta(at.field('metadata'), spec.metadata ?? {});
  validateClaimSpec(at.field('spec'), spec.spec ?? {});
}
