import { age, containerCells, count, part } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { defaultPodTemplate } from '../pod/pod-defaults.ts';
import { scaleOf } from '../scale.ts';

export const statefulsets = define({
  group: 'apps',
  resource: 'statefulsets',
  kind: 'StatefulSet',
  namespaced: true,
  shortNames: ['sts'],
  categories: ['all'],
  versions: [{ version: 'v1', type: 'apps/v1.StatefulSet' }],
  emptyStatus: { replicas: 0, availableReplicas: 0 },
  subresources: [scaleOf()],
  table: {
    columns: [nameColumn(), column('Ready'), column('Age'), column('Containers', 1), column('Images', 1)],
    cells: (set, now) => {
      const spec = part(set, 'spec');
      return [
        set.metadata.name ?? '',
        `${count(part(set, 'status').readyReplicas)}/${count(spec.replicas)}`,
        age(set, now),
        ...containerCells(part(spec, 'template', 'spec')),
      ];
    },
  },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: true,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    defaults: (object) => {
      const spec = part(object, 'spec');
      defaultPodTemplate(spec);
      const update = part(spec, 'updateStrategy');
      update.type ??= 'RollingUpdate';
      if (update.type === 'RollingUpdate')
        update.rollingUpdate = { partition: 0, ...part(update, 'rollingUpdate') };
    },
  },
});
