import { equal } from '../../object/equality.ts';
import { part } from '../../object/parts.ts';
import { containerCells, labelsText } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { defaultPodTemplate } from '../pod/pod-defaults.ts';
import { POD_RATCHETS } from '../pod/pod-ratchets.ts';
import { podTemplateWarnings } from '../pod/pod-warnings.ts';
import { validatePodTemplate } from '../pod/validation/pod-template.ts';

export const podtemplates = define({
  group: '',
  resource: 'podtemplates',
  kind: 'PodTemplate',
  namespaced: true,
  versions: [{ version: 'v1', type: 'core/v1.PodTemplate' }],
  table: {
    columns: [nameColumn(), column('Containers'), column('Images'), column('Pod Labels')],
    cells: (object) => {
      const template = part(object, 'template');
      const labels = labelsText(part(template, 'metadata', 'labels'));
      return [object.metadata.name ?? '', ...containerCells(part(template, 'spec')), labels];
    },
  },
  ratchets: POD_RATCHETS,
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: true,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    returnsDeletedObject: true,
    defaults: defaultPodTemplate,
    validate: (object) => validatePodTemplate(part(object, 'template'), 'template'),
    warnings: (object, old) =>
      old !== undefined && equal(object.template, old.template)
        ? []
        : podTemplateWarnings(part(object, 'template'), 'template'),
  },
});
