import type { PodTemplate } from '../../api/types/core/v1.ts';
import { equal } from '../../object/equality.ts';
import { containerCells, labelsText } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { defaultPodTemplate } from '../pod/defaults.ts';
import { POD_RATCHETS, validatePodTemplate } from '../pod/validation/pod.ts';
import { podTemplateWarnings } from '../pod/warnings.ts';
import { checked } from '../rules/checked.ts';

export const podtemplates = define<PodTemplate>({
  group: '',
  resource: 'podtemplates',
  kind: 'PodTemplate',
  namespaced: true,
  versions: [{ version: 'v1', type: 'core/v1.PodTemplate' }],
  table: {
    columns: [nameColumn(), column('Containers'), column('Images'), column('Pod Labels')],
    cells: ({ metadata, template = {} }) => [
      metadata.name ?? '',
      ...containerCells(template.spec ?? {}),
      labelsText(template.metadata?.labels ?? {}),
    ],
  },
  podTemplate: { path: 'template.spec', read: ({ template }) => template },
  ratchets: POD_RATCHETS,
  strategy: {
    tracksGeneration: true,
    returnsDeletedObject: true,
    defaults: defaultPodTemplate,
    validate: checked((at, { template = {} }) => validatePodTemplate(at.field('template'), template)),
    warnings: ({ template = {} }, old, isOn) =>
      old !== undefined && equal(template, old.template)
        ? []
        : podTemplateWarnings(template, 'template', isOn),
  },
});
